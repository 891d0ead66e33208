// Attention of one query alone, as decoding has it: one pass over the pages of the cache, bound by reading them. The numbers
// are those of attention_block with one row, operation by operation; what is saved is everything around them.
#pragma once
#include "attention_kernel.h"

namespace trinity {
namespace TRINITY_ISA {

constexpr int KEY_VECTORS = KEYS / VL;

// scores[n x KEYS] of n ≤ 2 pages side by side: one page alone has too few chains to keep the units busy.
template <int N>
static void row_scores(const float* q, int dim, const float* const* pages, float* out) {
  for (int p = 0; p < KEY_PANELS; p++) {
    const float* k[N];
    vf acc[N][NV];
#pragma GCC unroll 2
    for (int n = 0; n < N; n++) {
      k[n] = pages[n] + static_cast<ptrdiff_t>(p) * dim * NR;
#pragma GCC unroll 4
      for (int v = 0; v < NV; v++) acc[n][v] = vf{};
    }
    for (int d = 0; d < dim; d++) {
      const vf x = splat(q[d]);
#pragma GCC unroll 2
      for (int n = 0; n < N; n++)
#pragma GCC unroll 4
        for (int v = 0; v < NV; v++) acc[n][v] += x * load(k[n] + d * NR + v * VL);
    }
#pragma GCC unroll 2
    for (int n = 0; n < N; n++)
#pragma GCC unroll 4
      for (int v = 0; v < NV; v++) store(out + n * KEYS + p * NR + v * VL, acc[n][v]);
  }
}

// acc[d …] += Σ p[j]·v[j][d …] over the first `keys` keys, W vectors wide; fetches `ahead` on the way.
template <int W>
static void row_weigh(const float* p, int keys, const float* v, ptrdiff_t ldv, float* acc, const float* ahead) {
  vf sum[W];
#pragma GCC unroll 8
  for (int w = 0; w < W; w++) sum[w] = load(acc + w * VL);
  for (int j = 0; j < keys; j++, v += ldv) {
    const vf x = splat(p[j]);
#pragma GCC unroll 8
    for (int w = 0; w < W; w++) sum[w] += x * load(v + w * VL);
    __builtin_prefetch(ahead + j * TWO_LINES, 0, 2);
  }
#pragma GCC unroll 8
  for (int w = 0; w < W; w++) store(acc + w * VL, sum[w]);
}

// Scores to weights, and the running maximum, sum and output brought to them.
static void row_softmax(float* s, int hidden, int visible, float* max, float* total, float* acc, int width) {
  for (int j = 0; j < hidden; j++) s[j] = -__builtin_inff();
  for (int j = visible; j < KEYS; j++) s[j] = -__builtin_inff();
  vf row[KEY_VECTORS];
  for (int v = 0; v < KEY_VECTORS; v++) row[v] = load(s + v * VL);
  vf peak = row[0];
  for (int v = 1; v < KEY_VECTORS; v++) peak = vmax(peak, row[v]);
  const float high = top(peak), now = high > *max ? high : *max;
  vf added = vf{};
  for (int v = 0; v < KEY_VECTORS; v++) {
    row[v] = vexp(row[v] - splat(now));
    store(s + v * VL, row[v]);
    added += row[v];
  }
  if (now != *max) {
    float by = 0.0f;
    if (*max != -__builtin_inff()) {
      float shrink[VL];
      store(shrink, vexp(splat(*max - now)));
      by = shrink[0];
    }
    *total *= by;
    for (int d = 0; d < width; d += VL) store(acc + d, load(acc + d) * by);
    *max = now;
  }
  *total += sum(added);
}

// scratch: dim + pad(dim) + 2*KEYS floats
static void attention_row(const AttentionRow& a, float* scratch) {
  const int width = (a.dim + NR - 1) / NR * NR;
  float *s = scratch, *acc = scratch + 2 * KEYS, *q = acc + width;
  for (int d = 0; d < width; d++) acc[d] = 0.0f;
  for (int d = 0; d < a.dim; d++) q[d] = a.scale != 1.0f ? a.q[d] * a.scale : a.q[d];
  float max = -__builtin_inff(), total = 0.0f;
  for (int k0 = 0, n; k0 < a.visible; k0 += n * KEYS) {
    const float* const* pages = a.pages + k0 / KEYS;
    n = a.visible - k0 > KEYS ? 2 : 1;
    if (n == 2)
      row_scores<2>(q, a.dim, pages, s);
    else
      row_scores<1>(q, a.dim, pages, s);
    if (a.cap > 0) squash(s, static_cast<int64_t>(n) * KEYS, a.cap);
    for (int i = 0; i < n; i++) {
      const int left = a.visible - k0 - i * KEYS, keys = left < KEYS ? left : KEYS;
      row_softmax(s + i * KEYS, k0 + i == 0 ? a.hidden : 0, keys, &max, &total, acc, width);
      const float* v = pages[i] + static_cast<ptrdiff_t>(KEYS) * a.dim;
      const float* ahead = left > KEYS ? pages[i + 1] : a.next;
      int d = 0;
      for (; d + 4 * VL <= width; d += 4 * VL) row_weigh<4>(s + i * KEYS, keys, v + d, width, acc + d, ahead + d * keys / 2);
      for (; d < width; d += VL) row_weigh<1>(s + i * KEYS, keys, v + d, width, acc + d, ahead);
    }
  }
  const float inv = 1.0f / total;
  for (int d = 0; d < a.dim; d++) a.out[d] = acc[d] * inv;
}

}  // namespace TRINITY_ISA
}  // namespace trinity
