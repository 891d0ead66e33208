// One vector type for every instruction set: the compiler's vector extension at the widest size the target has.
// Everything in kernels/ is compiled once per instruction set inside namespace TRINITY_ISA. It must not instantiate
// templates of the standard library: the linker would merge them across instruction sets.
#pragma once
#include <cstddef>
#include <cstdint>

#ifndef TRINITY_ISA
#define TRINITY_ISA baseline
#endif

namespace trinity {
namespace TRINITY_ISA {

// A tile of attention is MR rows by one panel of NR = VL·NV columns, a tile of a product GR rows by PAIR panels. The wide
// one of AVX-512 loads less per multiply-add, which counts where the load ports are shared with another thread.
#if defined(__AVX512F__)
constexpr int VL = 16, NV = 2, MR = 14, GR = 6, PAIR = 2;
#elif defined(__AVX2__)
constexpr int VL = 8, NV = 2, MR = 6, GR = 6, PAIR = 1;
#elif defined(__aarch64__)
constexpr int VL = 4, NV = 4, MR = 6, GR = 6, PAIR = 1;
#else
constexpr int VL = 4, NV = 2, MR = 4, GR = 4, PAIR = 1;
#endif
constexpr int NR = VL * NV;

typedef float vf __attribute__((vector_size(VL * 4)));
typedef int32_t vi __attribute__((vector_size(VL * 4)));
typedef float vfu __attribute__((vector_size(VL * 4), aligned(4), may_alias));

#define TRINITY_INLINE static inline __attribute__((always_inline))

TRINITY_INLINE vf load(const float* p) { return *reinterpret_cast<const vfu*>(p); }
TRINITY_INLINE void store(float* p, vf v) { *reinterpret_cast<vfu*>(p) = v; }
// Written out: `vf{} + x` would cost an addition, because -0 + 0 is not -0.
TRINITY_INLINE vf splat(float x) {
#if defined(__AVX512F__)
  return vf{x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x};
#elif defined(__AVX2__)
  return vf{x, x, x, x, x, x, x, x};
#else
  return vf{x, x, x, x};
#endif
}
TRINITY_INLINE vf choose(vi mask, vf yes, vf no) { return mask ? yes : no; }
TRINITY_INLINE vf vmax(vf a, vf b) { return choose(a > b, a, b); }
TRINITY_INLINE vf vmin(vf a, vf b) { return choose(a < b, a, b); }

// Lanes are folded in halves: the same order on every call.
#if defined(__AVX512F__)
template <typename F>
TRINITY_INLINE float fold(vf v, F combine) {
  v = combine(v, __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
  v = combine(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11));
  v = combine(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
  v = combine(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14));
  return v[0];
}
TRINITY_INLINE float sum(vf v) {
  return fold(v, [](vf a, vf b) { return a + b; });
}
TRINITY_INLINE float top(vf v) {
  return fold(v, [](vf a, vf b) { return vmax(a, b); });
}
#else
TRINITY_INLINE float sum(vf v) {
  float lane[VL];
  store(lane, v);
  for (int w = VL / 2; w > 0; w /= 2)
    for (int i = 0; i < w; i++) lane[i] += lane[i + w];
  return lane[0];
}
TRINITY_INLINE float top(vf v) {
  float lane[VL];
  store(lane, v);
  float m = lane[0];
  for (int i = 1; i < VL; i++) m = lane[i] > m ? lane[i] : m;
  return m;
}
#endif

// Of each H lanes of two rows: the first ones of both, or the second ones. Doing so with H = VL/2 … 1 transposes a block.
constexpr int lane_low(int h, int j) { return j & h ? VL + j - h : j; }
constexpr int lane_high(int h, int j) { return j & h ? VL + j : j + h; }
#define TRINITY_LANES4(pick, h, j) pick(h, j), pick(h, j + 1), pick(h, j + 2), pick(h, j + 3)
#if defined(__AVX512F__)
#define TRINITY_LANES(pick, h) \
  TRINITY_LANES4(pick, h, 0), TRINITY_LANES4(pick, h, 4), TRINITY_LANES4(pick, h, 8), TRINITY_LANES4(pick, h, 12)
#elif defined(__AVX2__)
#define TRINITY_LANES(pick, h) TRINITY_LANES4(pick, h, 0), TRINITY_LANES4(pick, h, 4)
#else
#define TRINITY_LANES(pick, h) TRINITY_LANES4(pick, h, 0)
#endif
template <int H>
TRINITY_INLINE void exchange(vf* row) {
#pragma GCC unroll 16
  for (int i = 0; i < VL; i++) {
    if (i & H) continue;
    const vf a = row[i], b = row[i + H];
    row[i] = __builtin_shufflevector(a, b, TRINITY_LANES(lane_low, H));
    row[i + H] = __builtin_shufflevector(a, b, TRINITY_LANES(lane_high, H));
  }
}
// The transpose of VL x VL floats.
TRINITY_INLINE void transpose_square(const float* src, ptrdiff_t lds, float* dst, ptrdiff_t ldd) {
  vf row[VL];
#pragma GCC unroll 16
  for (int i = 0; i < VL; i++) row[i] = load(src + i * lds);
#if defined(__AVX512F__)
  exchange<8>(row);
#endif
#if defined(__AVX512F__) || defined(__AVX2__)
  exchange<4>(row);
#endif
  exchange<2>(row);
  exchange<1>(row);
#pragma GCC unroll 16
  for (int i = 0; i < VL; i++) store(dst + i * ldd, row[i]);
}

// First `n` lanes from memory, the others `fill`.
TRINITY_INLINE vf load_part(const float* p, int n, float fill) {
  float lane[VL];
  for (int i = 0; i < VL; i++) lane[i] = i < n ? p[i] : fill;
  return load(lane);
}
TRINITY_INLINE void store_part(float* p, int n, vf v) {
  float lane[VL];
  store(lane, v);
  for (int i = 0; i < n; i++) p[i] = lane[i];
}

// e^x to about 1 ulp; 0 below -87.3, +inf above 88.7, NaN stays NaN.
TRINITY_INLINE vf vexp(vf x) {
  const vf clipped = vmin(vmax(x, splat(-87.33654f)), splat(88.72283f));
  const vf shift = splat(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  const vf shifted = clipped * splat(1.44269504f) + shift;
  const vf n = shifted - shift;
  vf r = clipped - n * splat(0.693359375f);
  r = r - n * splat(-2.12194440e-4f);
  vf p = splat(1.9875691500e-4f);
  p = p * r + splat(1.3981999507e-3f);
  p = p * r + splat(8.3334519073e-3f);
  p = p * r + splat(4.1665795894e-2f);
  p = p * r + splat(1.6666665459e-1f);
  p = p * r + splat(5.0000001201e-1f);
  p = p * (r * r) + r + splat(1.0f);
  // 2^n in two halves: n reaches 128 at the upper end, which one exponent field cannot hold.
  const vi whole = __builtin_convertvector(n, vi);
  const vi half = whole >> 1;
  const vf lo = (vf)((half + 127) << 23);
  const vf hi = (vf)((whole - half + 127) << 23);
  vf y = p * lo * hi;
  y = choose(x < splat(-87.33654f), splat(0.0f), y);
  y = choose(x > splat(88.72283f), splat(__builtin_inff()), y);
  return choose(x != x, x, y);
}

// tanh x to a few ulp: a series where 1 - 2 / (e^2x + 1) would cancel.
TRINITY_INLINE vf vtanh(vf x) {
  const vf s = x * x;
  vf p = splat(-1382.0f / 155925);
  p = p * s + splat(62.0f / 2835);
  p = p * s + splat(-17.0f / 315);
  p = p * s + splat(2.0f / 15);
  p = p * s + splat(-1.0f / 3);
  const vf near = p * s * x + x;
  const vf far = splat(1.0f) - splat(2.0f) / (vexp(x + x) + splat(1.0f));
  return choose(s < splat(0.09f), near, far);
}

}  // namespace TRINITY_ISA
}  // namespace trinity
