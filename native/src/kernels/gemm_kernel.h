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

// Rows of a matrix that will be packed next. Every call of a tile fetches a piece of one, as long as its own k: line by
// line, so that the reading is hidden behind the arithmetic.
struct Ahead {
  const float* row = nullptr;
  ptrdiff_t ld = 0;
  int rows = 0, width = 0, at = 0;
  const float* take(int step) {
    if (rows == 0) return nullptr;
    const float* piece = row + at;
    at += step;
    if (at >= width) at = 0, rows--, row += ld;
    return piece;
  }
};

// Scratch, where packed: m rounded up to GR times KC_PACKING floats for A, then B_GROUP panels of KC_PACKING*NR for B.
static void gemm_block(const GemmBlock& g) {
  if (g.m == 1 && !g.tiles && !g.turned) return row_block(g);
  const Tiles all(g.tiles ? g.tile_rows : g.m);
  const int tile0 = g.tiles ? g.first_tile : 0, row0 = all.first(tile0), count = (g.tiles ? g.last_tile : all.count) - tile0;
  const bool columns = !g.tiles && g.a_rs == 1, plain = PAIR == 2 && !g.tiles && !columns && g.a_ks == 1;
  // Columns of B that are packed together: many where rows are read in long runs, a pair where panels are only widened.
  const int group = g.half ? 2 : B_GROUP;
  const bool rows_of_b = !g.half && !g.turned && g.b_ks != NR && g.m > GR;
  const bool packing = g.half || g.turned || rows_of_b;
  const int length = block_length(g.k, plain && !packing ? KC_MAX : KC_PACKING);
  float* pa = g.scratch;
  float* pb = g.scratch + (g.tiles || plain ? 0 : static_cast<ptrdiff_t>(count) * GR * KC_PACKING);
  Ahead next_a, next_b;
  for (int k0 = 0; k0 < g.k || k0 == 0; k0 += length) {
    const int kc = g.k - k0 < length ? g.k - k0 : length;
    const bool accumulate = g.accumulate || k0 > 0;
    const float* a = g.a + k0 * g.a_ks;
    const float* tiles = g.tiles ? g.tiles + (static_cast<ptrdiff_t>(k0) * all.count + static_cast<ptrdiff_t>(tile0) * kc) * GR
                                 : pa;
    const int after = g.k - k0 - kc < length ? g.k - k0 - kc : length;  // k of the next block
    if (columns) {
      pack_tiles(a, g.a_ks, g.m, 0, count, kc, pa);
      next_a = {a + kc * g.a_ks, g.a_ks, after, g.m, 0};
    }
    for (int p = 0, wide; p < g.panels; p += wide) {
      wide = PAIR == 2 && p + 2 <= g.panels ? 2 : 1;
      const float* b = g.b + p * g.b_ps + k0 * g.b_ks;
      const uint16_t* half = g.half ? g.half + p * g.b_ps + k0 * NR : nullptr;
      if (packing) {
        const int at = p % group, left = g.panels - p, some = left < group ? left : group;
        if (at == 0 && g.half) widen(half, g.b_ps, some, kc, g.brain, pb);
        if (at == 0 && g.turned) transpose_panels(g.turned, g.turned_k, k0, kc, g.first_panel + p, g.first_panel + p + some, pb);
        if (at == 0 && rows_of_b) {
          pack_b(b, g.b_ps, g.b_ks, some, kc, pb);
          const bool more = p + some < g.panels;
          next_b = {more ? b + some * g.b_ps : g.b + (k0 + kc) * g.b_ks, g.b_ks, more ? kc : after, some * NR, 0};
        }
        b = pb + static_cast<ptrdiff_t>(at) * kc * NR;
      }
      const ptrdiff_t ldb = packing ? NR : g.b_ks, ps = packing ? static_cast<ptrdiff_t>(kc) * NR : g.b_ps;
      // The next panels come from far away: every call fetches its share of them.
      const bool far = (g.half || !packing) && g.b_ks == NR && p + 2 * wide <= g.panels;
      const ptrdiff_t line = g.half ? NR / 2 : NR;
      const ptrdiff_t share = rows_of_b ? 1 : far ? (line + count - 1) / count : 0;
      ptrdiff_t gap = g.half ? g.b_ps / 2 : g.b_ps;
      const float* ahead = !far ? b : g.half ? reinterpret_cast<const float*>(half + wide * g.b_ps) : b + wide * ps;
      for (int t = 0; t < count; t++) {
        const int m = all.first(tile0 + t) - row0, r = all.size(tile0 + t);
        const float* panel = tiles + static_cast<ptrdiff_t>(t) * GR * kc;
        // Rows are packed just before their first use: they are in the nearest cache then.
        if (p == 0 && !columns && !plain && !g.tiles)
          pack_rows<GR>(a + m * g.a_rs, g.a_rs, g.a_ks, r, kc, pa + static_cast<ptrdiff_t>(t) * GR * kc);
        float* c = g.c + m * g.c_rs + p * g.c_ps;
        for (int i = r; i < r + GR && m + i < g.m; i++)
          for (int v = 0; v < wide * NV; v++)
            __builtin_prefetch(c + i * g.c_rs + v / NV * g.c_ps + v % NV * VL, 1);
        if (rows_of_b) {
          const float *one = next_b.take(kc), *two = next_a.take(kc);
          ahead = one ? one : two ? two : b;
          gap = one && two ? two - one : 0;
        }
        if (PAIR == 1)
          micros.at[r](kc, panel, GR, b, ldb, c, g.c_rs, accumulate, ahead, share);
        else if (plain)
          plain_wides[wide - 1].at[r](kc, a + m * g.a_rs, g.a_rs, b, ldb, ps, c, g.c_rs, g.c_ps, accumulate, ahead, share, gap);
        else
          packed_wides[wide - 1].at[r](kc, panel, 1, b, ldb, ps, c, g.c_rs, g.c_ps, accumulate, ahead, share, gap);
        if (far) ahead += share * kc;
      }
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
