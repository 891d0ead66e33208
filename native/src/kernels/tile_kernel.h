// Tiles of a matrix product: what stays in registers. Every output element is a single chain of fused multiply-adds over k
// in ascending order.
#pragma once
#include "simd.h"

namespace trinity {
namespace TRINITY_ISA {

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

// The same for R rows by P panels that lie `ps` (in C: `cs`, in `ahead`: `gap`) apart, from A packed in tiles or as it lies: then element
// (r, k) is at a[r*ars + k]. Six rows are few enough to be read where they are, whatever their distance.
template <int R, int P, bool PACKED>
static void micro_wide(int kc, const float* a, ptrdiff_t ars, const float* b, ptrdiff_t ldb, ptrdiff_t ps, float* c,
                       ptrdiff_t ldc, ptrdiff_t cs, bool accumulate, const float* ahead, ptrdiff_t stride,
                       ptrdiff_t gap) {
  vf acc[R][P][NV];
#pragma GCC unroll 16
  for (int r = 0; r < R; r++)
#pragma GCC unroll 2
    for (int p = 0; p < P; p++)
#pragma GCC unroll 4
      for (int v = 0; v < NV; v++) acc[r][p][v] = accumulate ? load(c + r * ldc + p * cs + v * VL) : vf{};
  for (int k = 0; k < kc; k++) {
    vf bv[P][NV];
#pragma GCC unroll 2
    for (int p = 0; p < P; p++)
#pragma GCC unroll 4
      for (int v = 0; v < NV; v++) bv[p][v] = load(b + p * ps + v * VL);
#pragma GCC unroll 16
    for (int r = 0; r < R; r++) {
      const vf av = splat(a[PACKED ? r : r * ars]);
#pragma GCC unroll 2
      for (int p = 0; p < P; p++)
#pragma GCC unroll 4
        for (int v = 0; v < NV; v++) acc[r][p][v] += av * bv[p][v];
    }
#pragma GCC unroll 2
    for (int p = 0; p < P; p++) __builtin_prefetch(ahead + p * gap, 0, 2);
    ahead += stride;
    a += PACKED ? GR : 1;
    b += ldb;
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; r++)
#pragma GCC unroll 2
    for (int p = 0; p < P; p++)
#pragma GCC unroll 4
      for (int v = 0; v < NV; v++) store(c + r * ldc + p * cs + v * VL, acc[r][p][v]);
}
using WideFn = void (*)(int, const float*, ptrdiff_t, const float*, ptrdiff_t, ptrdiff_t, float*, ptrdiff_t, ptrdiff_t, bool,
                        const float*, ptrdiff_t, ptrdiff_t);
struct Wides {
  WideFn at[7];
};
#if defined(__AVX512F__)
static_assert(GR == 6, "the table has an entry for every number of rows");
template <int P, bool PACKED>
constexpr Wides wides() {
  return {{nullptr, micro_wide<1, P, PACKED>, micro_wide<2, P, PACKED>, micro_wide<3, P, PACKED>, micro_wide<4, P, PACKED>,
           micro_wide<5, P, PACKED>, micro_wide<6, P, PACKED>}};
}
#else
template <int P, bool PACKED>
constexpr Wides wides() {
  return {};
}
#endif
// By layout of A, number of panels - 1.
static constexpr Wides plain_wides[2] = {wides<1, false>(), wides<2, false>()};
static constexpr Wides packed_wides[2] = {wides<1, true>(), wides<2, true>()};

}  // namespace TRINITY_ISA
}  // namespace trinity
