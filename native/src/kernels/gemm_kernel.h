// The one matrix kernel. Every output element is a single chain of fused multiply-adds over k in ascending order,
// whatever the tile, the edge or the blocking: blocks of k continue the chain from memory. So a result never depends
// on how many rows were computed together, on their position, or on the number of threads.
#pragma once
#include "../kernels.h"
#include "row_kernel.h"
#include "simd.h"

namespace trinity {
namespace TRINITY_ISA {

constexpr int KC = KC_MAX;

// C[R x NR] (+)= A[R x kc] · B[kc x NR]; A element (r, k) at a[k*as + r], B row k at b + k*ldb. On the way it fetches
// `ahead`, `stride` floats further with each k: what the next calls will read is in the cache when they start.
template <int R>
static void micro(int kc, const float* a, ptrdiff_t as, const float* b, ptrdiff_t ldb, float* c, ptrdiff_t ldc,
                  bool accumulate, const float* ahead, ptrdiff_t stride) {
  vf acc[R][NV];
#pragma GCC unroll 16
  for (int r = 0; r < R; r++)
#pragma GCC unroll 4
    for (int v = 0; v < NV; v++) acc[r][v] = accumulate ? load(c + r * ldc + v * VL) : vf{};
  for (int k = 0; k < kc; k++) {
    vf bv[NV];
#pragma GCC unroll 4
    for (int v = 0; v < NV; v++) bv[v] = load(b + v * VL);
#pragma GCC unroll 16
    for (int r = 0; r < R; r++) {
      const vf av = splat(a[r]);
#pragma GCC unroll 4
      for (int v = 0; v < NV; v++) acc[r][v] += av * bv[v];
    }
    __builtin_prefetch(ahead, 0, 2);
    ahead += stride;
    a += as;
    b += ldb;
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; r++)
#pragma GCC unroll 4
    for (int v = 0; v < NV; v++) store(c + r * ldc + v * VL, acc[r][v]);
}

using MicroFn = void (*)(int, const float*, ptrdiff_t, const float*, ptrdiff_t, float*, ptrdiff_t, bool, const float*,
                         ptrdiff_t);

// By number of rows. A constant, not an object with a constructor: code of an instruction set that the machine lacks
// must not run when the library is loaded.
template <int R>
constexpr MicroFn micro_for() {
  return R <= MR ? micro<(R <= MR ? R : 1)> : nullptr;
}
struct Micros {
  MicroFn at[17];
};
static constexpr Micros micros = {{nullptr, micro_for<1>(), micro_for<2>(), micro_for<3>(), micro_for<4>(), micro_for<5>(),
                                   micro_for<6>(), micro_for<7>(), micro_for<8>(), micro_for<9>(), micro_for<10>(),
                                   micro_for<11>(), micro_for<12>(), micro_for<13>(), micro_for<14>(), micro_for<15>(),
                                   micro_for<16>()}};
static_assert(MR <= 16, "the table has an entry for every number of rows");

// Four rows by four columns at a time, so that a row-major matrix is packed with whole loads and stores.
typedef float v4 __attribute__((vector_size(16), aligned(4), may_alias));
TRINITY_INLINE void pack_four(const float* src, ptrdiff_t rs, int kc, float* out) {
  int k = 0;
  for (; k + 4 <= kc; k += 4) {
    const v4 a = *reinterpret_cast<const v4*>(src + k), b = *reinterpret_cast<const v4*>(src + rs + k);
    const v4 c = *reinterpret_cast<const v4*>(src + 2 * rs + k), d = *reinterpret_cast<const v4*>(src + 3 * rs + k);
    const v4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const v4 ef = __builtin_shufflevector(a, b, 2, 6, 3, 7), gh = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    *reinterpret_cast<v4*>(out + k * MR) = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    *reinterpret_cast<v4*>(out + (k + 1) * MR) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    *reinterpret_cast<v4*>(out + (k + 2) * MR) = __builtin_shufflevector(ef, gh, 0, 1, 4, 5);
    *reinterpret_cast<v4*>(out + (k + 3) * MR) = __builtin_shufflevector(ef, gh, 2, 3, 6, 7);
  }
  for (; k < kc; k++)
    for (int r = 0; r < 4; r++) out[k * MR + r] = src[r * rs + k];
}

// Packing goes eight k at a time: the panels lie a large power of two apart, and a write to each of them for every
// single k would throw their lines out of the cache.
constexpr int K_RUN = 8;

// A matrix whose columns are contiguous (a transposed one): each is read in one run and dealt to the panels.
static void pack_columns(const float* a, ptrdiff_t ks, int rows, int kc, float* out) {
  for (int k0 = 0; k0 < kc; k0 += K_RUN) {
    const int k1 = kc - k0 < K_RUN ? kc : k0 + K_RUN;
    for (int m = 0; m < rows; m += MR) {
      float* dst = out + static_cast<ptrdiff_t>(m) * kc;
      const int n = rows - m < MR ? rows - m : MR;
      for (int k = k0; k < k1; k++) {
        const float* from = a + k * ks + m;
        float* to = dst + k * MR;
        if (n == MR) {
#pragma GCC unroll 4
          for (int r = 0; r + 4 <= MR; r += 4) *reinterpret_cast<v4*>(to + r) = *reinterpret_cast<const v4*>(from + r);
#pragma GCC unroll 4
          for (int r = MR / 4 * 4; r < MR; r++) to[r] = from[r];
        } else {
          for (int r = 0; r < n; r++) to[r] = from[r];
        }
      }
    }
  }
}

// rows x kc of A into panels [k][MR]; the tail of the last panel is left as it is (never read by micro<R>).
static void pack_a(const float* a, ptrdiff_t rs, ptrdiff_t ks, int rows, int kc, float* out) {
  if (rs == 1) return pack_columns(a, ks, rows, kc, out);
  for (int m = 0; m < rows; m += MR, out += static_cast<ptrdiff_t>(kc) * MR) {
    const int n = rows - m < MR ? rows - m : MR;
    const float* src = a + m * rs;
    int r = 0;
    for (; ks == 1 && r + 4 <= n; r += 4) pack_four(src + r * rs, rs, kc, out + r);
    for (; r < n; r++)
      for (int k = 0; k < kc; k++) out[k * MR + r] = src[r * rs + k * ks];
  }
}

// Some panels of a row-major B at once: its rows are read in long runs.
static void pack_b(const float* b, ptrdiff_t ps, ptrdiff_t ks, int panels, int kc, float* out) {
  for (int k0 = 0; k0 < kc; k0 += K_RUN) {
    const int k1 = kc - k0 < K_RUN ? kc : k0 + K_RUN;
    for (int p = 0; p < panels; p++)
      for (int k = k0; k < k1; k++)
        for (int v = 0; v < NV; v++)
          store(out + (static_cast<ptrdiff_t>(p) * kc + k) * NR + v * VL, load(b + p * ps + k * ks + v * VL));
  }
}

// Scratch: m rounded up to MR times KC floats for A, then B_GROUP panels of KC*NR for B.
static void gemm_block(const GemmBlock& g) {
  if (g.m == 1) return row_block(g);
  const int padded = (g.m + MR - 1) / MR * MR;
  float* pa = g.scratch;
  float* pb = g.scratch + static_cast<ptrdiff_t>(padded) * KC;
  const bool packing = g.b_ks != NR && g.m > MR;
  for (int k0 = 0; k0 < g.k || k0 == 0; k0 += KC) {
    const int kc = g.k - k0 < KC ? g.k - k0 : KC;
    const bool accumulate = g.accumulate || k0 > 0;
    pack_a(g.a + k0 * g.a_ks, g.a_rs, g.a_ks, g.m, kc, pa);
    for (int p = 0; p < g.panels; p++) {
      const float* b = g.b + p * g.b_ps + k0 * g.b_ks;
      if (packing) {
        const int at = p % B_GROUP, left = g.panels - p;
        if (at == 0) pack_b(b, g.b_ps, g.b_ks, left < B_GROUP ? left : B_GROUP, kc, pb);
        b = pb + static_cast<ptrdiff_t>(at) * kc * NR;
      }
      const ptrdiff_t ldb = packing ? NR : g.b_ks;
      // The next panel comes from far away: every call fetches its share of it.
      const bool far = !packing && g.b_ks == NR && p + 1 < g.panels;
      const ptrdiff_t share = far ? (NR * MR + g.m - 1) / g.m : 0;
      const float* ahead = far ? b + g.b_ps : pa;
      for (int m = 0; m < g.m; m += MR) {
        const int r = g.m - m < MR ? g.m - m : MR;
        float* c = g.c + m * g.c_rs + p * g.c_ps;
        for (int i = 0; i < MR && m + MR + i < g.m; i++)
          for (int v = 0; v < NV; v++) __builtin_prefetch(c + (MR + i) * g.c_rs + v * VL, 1);
        micros.at[r](kc, pa + static_cast<ptrdiff_t>(m) * kc, MR, b, ldb, c, g.c_rs, accumulate, ahead, share);
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
