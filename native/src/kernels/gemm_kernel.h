// The one matrix kernel. Every output element is a single chain of fused multiply-adds over k in ascending order,
// whatever the tile, the edge or the blocking: blocks of k continue the chain from memory. So a result never depends
// on how many rows were computed together, on their position, or on the number of threads.
#pragma once
#include "../kernels.h"
#include "pack_kernel.h"
#include "row_kernel.h"
#include "tile_kernel.h"

namespace trinity {
namespace TRINITY_ISA {

constexpr int KC = KC_MAX;

// Blocks of k of about the same length.
struct Blocks {
  int k, count, length;
  explicit Blocks(int k) : k(k), count(k > KC ? (k + KC - 1) / KC : 1), length(((k + count - 1) / count + 7) / 8 * 8) {}
};

// Scratch: m rounded up to GR times KC floats for A, then B_GROUP panels of KC*NR for B.
static void gemm_block(const GemmBlock& g) {
  if (g.m == 1) return row_block(g);
  const Tiles tiles(g.m);
  const Blocks blocks(g.k);
  float* pa = g.scratch;
  float* pb = g.scratch + static_cast<ptrdiff_t>(tiles.count) * GR * KC;
  // Columns of B that are packed together: many where rows are read in long runs, a pair where panels are only widened.
  const int group = g.half ? 2 : B_GROUP;
  const bool packing = g.half || (g.b_ks != NR && g.m > GR);
  const bool columns = g.a_rs == 1, plain = PAIR == 2 && !columns && g.a_ks == 1;
  for (int k0 = 0; k0 < g.k || k0 == 0; k0 += blocks.length) {
    const int kc = g.k - k0 < blocks.length ? g.k - k0 : blocks.length;
    const bool accumulate = g.accumulate || k0 > 0;
    const float* a = g.a + k0 * g.a_ks;
    if (columns) pack_columns(a, g.a_ks, tiles, kc, pa);
    for (int p = 0, wide; p < g.panels; p += wide) {
      wide = PAIR == 2 && p + 2 <= g.panels ? 2 : 1;
      const float* b = g.b + p * g.b_ps + k0 * g.b_ks;
      const uint16_t* half = g.half ? g.half + p * g.b_ps + k0 * NR : nullptr;
      if (packing) {
        const int at = p % group, left = g.panels - p, count = left < group ? left : group;
        if (at == 0 && g.half) widen(half, g.b_ps, count, kc, g.brain, pb);
        if (at == 0 && !g.half) pack_b(b, g.b_ps, g.b_ks, count, kc, pb);
        b = pb + static_cast<ptrdiff_t>(at) * kc * NR;
      }
      const ptrdiff_t ldb = packing ? NR : g.b_ks, ps = packing ? static_cast<ptrdiff_t>(kc) * NR : g.b_ps;
      // The next panels come from far away: every call fetches its share of them.
      const bool far = (g.half || !packing) && g.b_ks == NR && p + 2 * wide <= g.panels;
      const ptrdiff_t gap = g.half ? g.b_ps / 2 : g.b_ps, line = g.half ? NR / 2 : NR;
      const ptrdiff_t share = far ? (line + tiles.count - 1) / tiles.count : 0;
      const float* ahead = !far ? b : g.half ? reinterpret_cast<const float*>(half + wide * g.b_ps) : b + wide * ps;
      for (int t = 0; t < tiles.count; t++) {
        const int m = tiles.first(t), r = tiles.size(t);
        float* panel = pa + static_cast<ptrdiff_t>(t) * GR * kc;
        // Rows are packed just before their first use: they are in the nearest cache then.
        if (p == 0 && !columns && !plain) pack_rows<GR>(a + m * g.a_rs, g.a_rs, g.a_ks, r, kc, panel);
        float* c = g.c + m * g.c_rs + p * g.c_ps;
        for (int i = r; i < r + GR && m + i < g.m; i++)
          for (int v = 0; v < wide * NV; v++)
            __builtin_prefetch(c + i * g.c_rs + v / NV * g.c_ps + v % NV * VL, 1);
        if (PAIR == 1)
          micros.at[r](kc, panel, GR, b, ldb, c, g.c_rs, accumulate, ahead, share);
        else if (plain)
          plain_wides[wide - 1].at[r](kc, a + m * g.a_rs, g.a_rs, b, ldb, ps, c, g.c_rs, g.c_ps, accumulate, ahead, share, gap);
        else
          packed_wides[wide - 1].at[r](kc, panel, 1, b, ldb, ps, c, g.c_rs, g.c_ps, accumulate, ahead, share, gap);
        ahead += share * kc;
      }
    }
  }
}

// The transpose of an NR x NR block.
TRINITY_INLINE void transpose_block(const float* src, float* dst) {
  for (int j = 0; j < NR; j += 4)
    for (int i = 0; i < NR; i += 4) {
      const float* s = src + j * NR + i;
      float* d = dst + i * NR + j;
      const v4 a = *reinterpret_cast<const v4*>(s), b = *reinterpret_cast<const v4*>(s + NR);
      const v4 c = *reinterpret_cast<const v4*>(s + 2 * NR), e = *reinterpret_cast<const v4*>(s + 3 * NR);
      const v4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), ce = __builtin_shufflevector(c, e, 0, 4, 1, 5);
      const v4 fg = __builtin_shufflevector(a, b, 2, 6, 3, 7), hi = __builtin_shufflevector(c, e, 2, 6, 3, 7);
      *reinterpret_cast<v4*>(d) = __builtin_shufflevector(ab, ce, 0, 1, 4, 5);
      *reinterpret_cast<v4*>(d + NR) = __builtin_shufflevector(ab, ce, 2, 3, 6, 7);
      *reinterpret_cast<v4*>(d + 2 * NR) = __builtin_shufflevector(fg, hi, 0, 1, 4, 5);
      *reinterpret_cast<v4*>(d + 3 * NR) = __builtin_shufflevector(fg, hi, 2, 3, 6, 7);
    }
}

// A panel matrix W (np x k, panels of NR rows) into panels of its transpose: out panel q holds rows q*NR.. of Wᵀ.
// Panels [q0, q1) of the result, contraction rows [n0, n0 + count) of W; columns past k are zero.
static void transpose_panels(const float* w, int64_t k, int64_t n0, int64_t count, int64_t q0, int64_t q1, float* out) {
  for (int64_t q = q0; q < q1; q++) {
    float* dst = out + q * count * NR;
    const int64_t col = q * NR;
    const int width = static_cast<int>(k - col < NR ? k - col : NR);
    for (int64_t p = 0; p < count; p += NR) {
      const float* src = w + (n0 + p) * k + col * NR;
      if (width == NR) {
        transpose_block(src, dst + p * NR);
        continue;
      }
      for (int i = 0; i < NR; i++)
        for (int j = 0; j < NR; j++) dst[(p + i) * NR + j] = j < width ? src[j * NR + i] : 0.0f;
    }
  }
}

// Independent chains that never leave the registers: the arithmetic ceiling of one core. Returns operations done.
static double fma_peak(int64_t rounds, float* sink) {
  vf acc[12];
  for (int i = 0; i < 12; i++) acc[i] = splat(1.0f + i);
  const vf a = splat(sink[0]), b = splat(sink[1]);
  for (int64_t n = 0; n < rounds; n++) {
#pragma GCC unroll 12
    for (int i = 0; i < 12; i++) acc[i] = acc[i] * a + b;
  }
  vf total = acc[0];
  for (int i = 1; i < 12; i++) total += acc[i];
  sink[2] = sum(total);
  return 2.0 * 12 * VL * static_cast<double>(rounds);
}

}  // namespace TRINITY_ISA
}  // namespace trinity
