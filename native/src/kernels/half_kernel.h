// Weights of 16 bits. Widening is exact, so products with them have the same bits as with the weights at full width, for
// half of the memory traffic.
#pragma once
#include "../kernels.h"
#include "simd.h"
#if defined(__AVX512F__) || defined(__F16C__)
#include <immintrin.h>
#define TRINITY_WIDENS_F16 1
#elif defined(__aarch64__)
#include <arm_neon.h>
#define TRINITY_WIDENS_F16 1
#else
#define TRINITY_WIDENS_F16 0
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
#elif defined(__aarch64__)
struct HalfFloat {
  static inline __attribute__((always_inline)) vf widen(const uint16_t* p) {
    return (vf)vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
  }
};
#elif TRINITY_WIDENS_F16
struct HalfFloat {
  static inline __attribute__((always_inline)) vf widen(const uint16_t* p) {
    return (vf)_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
};
#endif

// Elements that a single row of a product fetches ahead.
constexpr ptrdiff_t AHEAD = 768;

template <typename Format, int P>
static void half_panels(const GemmBlock& g, int p) {
  float* c = g.c + p * g.c_ps;
  const uint16_t* w = g.half + p * g.b_ps;
  vf acc[P][NV];
#pragma GCC unroll 4
  for (int q = 0; q < P; q++)
#pragma GCC unroll 4
    for (int v = 0; v < NV; v++) acc[q][v] = g.accumulate ? load(c + q * g.c_ps + v * VL) : vf{};
  for (int i = 0; i < g.k; i++, w += NR) {
    const vf x = splat(g.a[i * g.a_ks]);
#pragma GCC unroll 4
    for (int q = 0; q < P; q++) {
      // The processor's own fetching ahead stops at every page of memory.
      __builtin_prefetch(w + q * g.b_ps + AHEAD, 0, 3);
#pragma GCC unroll 4
      for (int v = 0; v < NV; v++) acc[q][v] += x * Format::widen(w + q * g.b_ps + v * VL);
    }
  }
#pragma GCC unroll 4
  for (int q = 0; q < P; q++)
#pragma GCC unroll 4
    for (int v = 0; v < NV; v++) store(c + q * g.c_ps + v * VL, acc[q][v]);
}

template <typename Format>
static void half_rows(const GemmBlock& g) {
  int p = 0;
  for (; p + 4 <= g.panels; p += 4) half_panels<Format, 4>(g, p);
  for (; p < g.panels; p++) half_panels<Format, 1>(g, p);
}
static void half_row(const GemmBlock& g) {
#if TRINITY_WIDENS_F16
  if (!g.brain) return half_rows<HalfFloat>(g);
#endif
  half_rows<BrainFloat>(g);
}

// Parts of panels, kc x NR each, at full width.
template <typename Format>
static void widen_as(const uint16_t* w, ptrdiff_t ps, int panels, int kc, float* out) {
  for (int p = 0; p < panels; p++)
    for (int i = 0; i < kc * NR; i += VL, out += VL) store(out, Format::widen(w + p * ps + i));
}
static void widen(const uint16_t* w, ptrdiff_t ps, int panels, int kc, bool brain, float* out) {
#if TRINITY_WIDENS_F16
  if (!brain) return widen_as<HalfFloat>(w, ps, panels, kc, out);
#endif
  (void)brain;
  widen_as<BrainFloat>(w, ps, panels, kc, out);
}

constexpr bool WIDENS_F16 = TRINITY_WIDENS_F16;

}  // namespace TRINITY_ISA
}  // namespace trinity
