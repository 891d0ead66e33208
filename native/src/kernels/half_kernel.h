// One row times panels of 16-bit weights. Widening is exact, and so is the product: the same bits as with the weights
// at full width, for half of the memory traffic.
#pragma once
#include "../kernels.h"
#include "simd.h"
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace trinity {
namespace TRINITY_ISA {

typedef uint16_t vh __attribute__((vector_size(VL * 2)));
typedef uint16_t vhu __attribute__((vector_size(VL * 2), aligned(2), may_alias));
typedef uint32_t vw __attribute__((vector_size(VL * 4)));

struct BrainFloat {
  static inline __attribute__((always_inline)) vf widen(const uint16_t* p) {
    const vh bits = *reinterpret_cast<const vhu*>(p);
    return (vf)(__builtin_convertvector(bits, vw) << 16);
  }
};
#if defined(__AVX512F__)
struct HalfFloat {
  static inline __attribute__((always_inline)) vf widen(const uint16_t* p) {
    return (vf)_mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
};
#endif

template <typename Format, int P>
static void half_panels(const float* a, const uint16_t* w, int k, float* c, bool accumulate) {
  vf acc[P][NV];
#pragma GCC unroll 4
  for (int q = 0; q < P; q++)
#pragma GCC unroll 4
    for (int v = 0; v < NV; v++) acc[q][v] = accumulate ? load(c + q * NR + v * VL) : vf{};
  const ptrdiff_t panel = static_cast<ptrdiff_t>(k) * NR;
  for (int i = 0; i < k; i++, w += NR) {
    const vf x = splat(a[i]);
#pragma GCC unroll 4
    for (int q = 0; q < P; q++)
#pragma GCC unroll 4
      for (int v = 0; v < NV; v++) acc[q][v] += x * Format::widen(w + q * panel + v * VL);
  }
#pragma GCC unroll 4
  for (int q = 0; q < P; q++)
#pragma GCC unroll 4
    for (int v = 0; v < NV; v++) store(c + q * NR + v * VL, acc[q][v]);
}

template <typename Format>
static void half_rows(const float* a, const uint16_t* w, int panels, int k, float* c, bool accumulate) {
  const ptrdiff_t panel = static_cast<ptrdiff_t>(k) * NR;
  int p = 0;
  for (; p + 4 <= panels; p += 4) half_panels<Format, 4>(a, w + p * panel, k, c + p * NR, accumulate);
  for (; p < panels; p++) half_panels<Format, 1>(a, w + p * panel, k, c + p * NR, accumulate);
}

static void row_bf16(const float* a, const uint16_t* w, int panels, int k, float* c, bool accumulate) {
  half_rows<BrainFloat>(a, w, panels, k, c, accumulate);
}
#if defined(__AVX512F__)
static void row_f16(const float* a, const uint16_t* w, int panels, int k, float* c, bool accumulate) {
  half_rows<HalfFloat>(a, w, panels, k, c, accumulate);
}
#else
constexpr std::nullptr_t row_f16 = nullptr;
#endif

}  // namespace TRINITY_ISA
}  // namespace trinity
