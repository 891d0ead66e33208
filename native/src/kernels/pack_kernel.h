// Packing: parts of matrices brought into the order in which tiles read them.
#pragma once
#include "half_kernel.h"

namespace trinity {
namespace TRINITY_ISA {

// Four rows by four columns at a time, so that a row-major matrix is packed with whole loads and stores.
typedef float v4 __attribute__((vector_size(16), aligned(4), may_alias));
template <int STRIDE>
TRINITY_INLINE void pack_four(const float* src, ptrdiff_t rs, int kc, float* out) {
  int k = 0;
  for (; k + 4 <= kc; k += 4) {
    const v4 a = *reinterpret_cast<const v4*>(src + k), b = *reinterpret_cast<const v4*>(src + rs + k);
    const v4 c = *reinterpret_cast<const v4*>(src + 2 * rs + k), d = *reinterpret_cast<const v4*>(src + 3 * rs + k);
    const v4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const v4 ef = __builtin_shufflevector(a, b, 2, 6, 3, 7), gh = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    *reinterpret_cast<v4*>(out + k * STRIDE) = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    *reinterpret_cast<v4*>(out + (k + 1) * STRIDE) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    *reinterpret_cast<v4*>(out + (k + 2) * STRIDE) = __builtin_shufflevector(ef, gh, 0, 1, 4, 5);
    *reinterpret_cast<v4*>(out + (k + 3) * STRIDE) = __builtin_shufflevector(ef, gh, 2, 3, 6, 7);
  }
  for (; k < kc; k++)
    for (int r = 0; r < 4; r++) out[k * STRIDE + r] = src[r * rs + k];
}

// The same for two rows.
template <int STRIDE>
TRINITY_INLINE void pack_two(const float* src, ptrdiff_t rs, int kc, float* out) {
  typedef float v2 __attribute__((vector_size(8), aligned(4), may_alias));
  int k = 0;
  for (; k + 4 <= kc; k += 4) {
    const v4 a = *reinterpret_cast<const v4*>(src + k), b = *reinterpret_cast<const v4*>(src + rs + k);
    *reinterpret_cast<v2*>(out + k * STRIDE) = __builtin_shufflevector(a, b, 0, 4);
    *reinterpret_cast<v2*>(out + (k + 1) * STRIDE) = __builtin_shufflevector(a, b, 1, 5);
    *reinterpret_cast<v2*>(out + (k + 2) * STRIDE) = __builtin_shufflevector(a, b, 2, 6);
    *reinterpret_cast<v2*>(out + (k + 3) * STRIDE) = __builtin_shufflevector(a, b, 3, 7);
  }
  for (; k < kc; k++)
    for (int r = 0; r < 2; r++) out[k * STRIDE + r] = src[r * rs + k];
}

// Packing goes eight k at a time: the panels lie a large power of two apart, and a write to each of them for every
// single k would throw their lines out of the cache.
constexpr int K_RUN = 8;

// Rows are dealt evenly to the tiles: a last tile of a row or two would run at the latency of its few chains.
struct Tiles {
  int rows, count;
  explicit Tiles(int rows) : rows(rows), count((rows + GR - 1) / GR) {}
  int first(int tile) const { return static_cast<int>(static_cast<int64_t>(rows) * tile / count); }
  int size(int tile) const { return first(tile + 1) - first(tile); }
};

typedef float v8 __attribute__((vector_size(32), aligned(4), may_alias));
static_assert(GR <= 8, "a column of a tile is copied with one store");

// A matrix whose columns are contiguous (a transposed one): each is read in one run and dealt to the tiles. Eight floats
// are copied for the rows of a tile; those too many are overwritten by the next k, so the last one is exact.
static void pack_tiles(const float* a, ptrdiff_t ks, int rows, int first, int last, int kc, float* out) {
  const Tiles tiles(rows);
  for (int k0 = 0; k0 < kc; k0 += K_RUN) {
    const int k1 = kc - k0 < K_RUN ? kc : k0 + K_RUN;
    for (int t = first; t < last; t++) {
      const int m = tiles.first(t), n = tiles.size(t);
      const float* from = a + k0 * ks + m;
      float* to = out + (static_cast<ptrdiff_t>(t) * kc + k0) * GR;
      int k = k0;
      if (m + 8 <= rows)
        for (; k < k1 && k + 1 < kc; k++, from += ks, to += GR) *reinterpret_cast<v8*>(to) = *reinterpret_cast<const v8*>(from);
      for (; k < k1; k++, from += ks, to += GR)
        for (int r = 0; r < n; r++) to[r] = from[r];
    }
  }
}

// n ≤ STRIDE rows of A into one panel [k][STRIDE]; columns past n are left as they are (never read by micro<R>).
template <int STRIDE>
static void pack_rows(const float* src, ptrdiff_t rs, ptrdiff_t ks, int n, int kc, float* out) {
  int r = 0;
  if (ks == 1) {
    for (; r + 4 <= n; r += 4) pack_four<STRIDE>(src + r * rs, rs, kc, out + r);
    if (r + 2 <= n) pack_two<STRIDE>(src + r * rs, rs, kc, out + r), r += 2;
  }
  for (; r < n; r++)
    for (int k = 0; k < kc; k++) out[k * STRIDE + r] = src[r * rs + k * ks];
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

// The transpose of an NR x NR block.
TRINITY_INLINE void transpose_block(const float* src, float* dst) {
  for (int j = 0; j < NR; j += VL)
    for (int i = 0; i < NR; i += VL) transpose_square(src + j * NR + i, NR, dst + i * NR + j, NR);
}

// A panel matrix W (np x k, panels of NR rows) into panels of its transpose: out panel q holds rows q*NR.. of Wᵀ.
// Panels [q0, q1) of the result, contraction rows [n0, n0 + count) of W; columns past k are zero.
static void transpose_panels(const float* w, int64_t k, int64_t n0, int64_t count, int64_t q0, int64_t q1, float* out) {
  for (int64_t q = q0; q < q1; q++) {
    float* dst = out + (q - q0) * count * NR;
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

}  // namespace TRINITY_ISA
}  // namespace trinity
