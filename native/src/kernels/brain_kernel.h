// Products of numbers rounded to bfloat16, summed in 32 bits. Two neighbors of k lie in one word, the first in its lower half;
// a sum takes the second one's product first, each product exact and each sum rounded to nearest, as vdpbf16ps does. So plain
// code and that instruction have the same bits (but for products below 2^-126, which the instruction takes for 0), whatever
// the tile. Compiled once more for machines that have the instruction (brain.cpp).
#pragma once
#include "../kernels.h"
#include "simd.h"
#if defined(__AVX512BF16__)
#include <immintrin.h>
#endif

namespace trinity {
namespace TRINITY_ISA {

typedef uint32_t vu __attribute__((vector_size(VL * 4)));
typedef uint32_t vuu __attribute__((vector_size(VL * 4), aligned(4), may_alias));

// Rounds to nearest, even where two are as near; what is not a number stays none.
TRINITY_INLINE uint32_t brain_bits(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16, quiet = bits >> 16 | 0x40;
  return (bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded;
}

TRINITY_INLINE vf add_pairs(vf acc, vu a, vu b) {
#if defined(__AVX512BF16__)
  return (vf)_mm512_dpbf16_ps((__m512)acc, (__m512bh)a, (__m512bh)b);
#else
  acc += (vf)(a & 0xffff0000u) * (vf)(b & 0xffff0000u);
  acc += (vf)(a << 16) * (vf)(b << 16);
  return acc;
#endif
}

// C[R x P panels] (+)= A[R x pairs] · B; row r of A at a + r*ars. Fetches `ahead` on the way, `stride` words with each pair.
template <int R, int P>
static void brain_tile(int pairs, const uint32_t* a, ptrdiff_t ars, const uint32_t* b, ptrdiff_t ps, float* c, ptrdiff_t ldc,
                       ptrdiff_t cs, bool accumulate, const uint32_t* ahead, ptrdiff_t stride) {
  vf acc[R][P][NV];
#pragma GCC unroll 8
  for (int r = 0; r < R; r++)
#pragma GCC unroll 4
    for (int p = 0; p < P; p++)
#pragma GCC unroll 4
      for (int v = 0; v < NV; v++) acc[r][p][v] = accumulate ? load(c + r * ldc + p * cs + v * VL) : vf{};
  for (int k = 0; k < pairs; k++, b += NR, ahead += stride) {
    vu bv[P][NV];
#pragma GCC unroll 4
    for (int p = 0; p < P; p++)
#pragma GCC unroll 4
      for (int v = 0; v < NV; v++) bv[p][v] = *reinterpret_cast<const vuu*>(b + p * ps + v * VL);
#pragma GCC unroll 8
    for (int r = 0; r < R; r++) {
      const vu av = a[r * ars + k] + vu{};
#pragma GCC unroll 4
      for (int p = 0; p < P; p++)
#pragma GCC unroll 4
        for (int v = 0; v < NV; v++) acc[r][p][v] = add_pairs(acc[r][p][v], av, bv[p][v]);
    }
#pragma GCC unroll 4
    for (int p = 0; p < P; p++) __builtin_prefetch(ahead + p * ps, 0, R == 1 ? 3 : 2);
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; r++)
#pragma GCC unroll 4
    for (int p = 0; p < P; p++)
#pragma GCC unroll 4
      for (int v = 0; v < NV; v++) store(c + r * ldc + p * cs + v * VL, acc[r][p][v]);
}

using BrainFn = void (*)(int, const uint32_t*, ptrdiff_t, const uint32_t*, ptrdiff_t, float*, ptrdiff_t, ptrdiff_t, bool,
                         const uint32_t*, ptrdiff_t);
struct BrainTiles {
  BrainFn at[7];
};
template <int P>
constexpr BrainTiles brain_tiles() {
  return {{nullptr, brain_tile<1, P>, brain_tile<2, P>, brain_tile<3, P>, brain_tile<4, P>, brain_tile<5, P>, brain_tile<6, P>}};
}
static constexpr BrainTiles one_panel = brain_tiles<1>();
#if defined(__AVX512F__)
constexpr int BRAIN_PANELS = 2;
static constexpr BrainTiles some_panels = brain_tiles<2>();
#else
constexpr int BRAIN_PANELS = 1;
static constexpr BrainTiles some_panels = one_panel;
#endif
constexpr int BRAIN_ROWS = 6;

static void pair_rows(const BrainBlock& g, int k0, int kc, int pairs) {
  for (int i = 0; i < g.m; i++) {
    const float* x = g.a + i * g.a_rs + k0;
    uint32_t* out = g.scratch + static_cast<ptrdiff_t>(i) * pairs;
    for (int k = 0; k < kc / 2; k++) out[k] = brain_bits(x[2 * k]) | brain_bits(x[2 * k + 1]) << 16;
    if (kc & 1) out[pairs - 1] = brain_bits(x[kc - 1]);
  }
}

static void brain_block(const BrainBlock& g) {
  for (int k0 = 0; k0 < g.k || k0 == 0; k0 += BRAIN_K) {
    const int kc = g.k - k0 < BRAIN_K ? g.k - k0 : BRAIN_K, pairs = (kc + 1) / 2;
    pair_rows(g, k0, kc, pairs);
    const bool accumulate = g.accumulate || k0 > 0;
    const uint32_t* b = g.b + static_cast<ptrdiff_t>(k0 / 2) * NR;
    const int tiles = (g.m + BRAIN_ROWS - 1) / BRAIN_ROWS;
    for (int p = 0, wide; p < g.panels; p += wide, b += wide * g.b_ps) {
      if (g.m == 1 && p + 4 <= g.panels) {  // bound by reading: four panels side by side
        wide = 4;
        brain_tile<1, 4>(pairs, g.scratch, 0, b, g.b_ps, g.c + p * g.c_ps, 0, g.c_ps, accumulate, b + BRAIN_AHEAD, NR);
        continue;
      }
      wide = p + BRAIN_PANELS <= g.panels ? BRAIN_PANELS : 1;
      const BrainTiles& tile = wide > 1 ? some_panels : one_panel;
      // The next panels come from far away: every call fetches its share of them.
      const ptrdiff_t share = p + 2 * wide <= g.panels ? (NR + tiles - 1) / tiles : 0;
      const uint32_t* ahead = share ? b + wide * g.b_ps : b;
      for (int t = 0; t < tiles; t++, ahead += share * pairs) {
        // Rows are dealt evenly.
        const int m = g.m * t / tiles, r = g.m * (t + 1) / tiles - m;
        tile.at[r](pairs, g.scratch + static_cast<ptrdiff_t>(m) * pairs, pairs, b, g.b_ps, g.c + m * g.c_rs + p * g.c_ps, g.c_rs,
                   g.c_ps, accumulate, ahead, share);
      }
    }
  }
}

#if !defined(__AVX512BF16__)
// A panel, [k][NR], as pairs: [pad(k)/2][NR] words.
static void pair_panel(const float* w, int64_t k, uint32_t* out) {
  for (int64_t i = 0; i < k; i += 2, w += 2 * NR, out += NR)
    for (int j = 0; j < NR; j++) out[j] = brain_bits(w[j]) | (i + 1 < k ? brain_bits(w[NR + j]) << 16 : 0);
}
#endif

}  // namespace TRINITY_ISA
}  // namespace trinity
