// Attention of one query of each head, as decoding has it: one pass over the pages of the cache, bound by reading them. The
// numbers are those of attention_block with one row, operation by operation; what is saved is everything around them. A head
// alone is one long chain of operations that wait for each other, so several are taken side by side.
#pragma once
#include "attention_kernel.h"

namespace trinity {
namespace TRINITY_ISA {

constexpr int KEY_VECTORS = KEYS / VL;

// A page of H heads: packed keys, values, and the way from one head to the next.
struct HeadPage {
  const float* keys;
  ptrdiff_t gap;
  int dim, width;
  const float* values(int h) const { return keys + h * gap + static_cast<ptrdiff_t>(KEYS) * dim; }
};

// scores[H x KEYS] of one page of H heads, as far as the first `keys` of them need, in whole or half panels.
template <int H, int V>
TRINITY_INLINE void row_panel(const float* q, const HeadPage& page, int p, float* out) {
  vf acc[H][V];
#pragma GCC unroll 4
  for (int h = 0; h < H; h++)
#pragma GCC unroll 4
    for (int v = 0; v < V; v++) acc[h][v] = vf{};
  const float* k = page.keys + static_cast<ptrdiff_t>(p) * page.dim * NR;
  for (int d = 0; d < page.dim; d++, k += NR) {
#pragma GCC unroll 4
    for (int h = 0; h < H; h++) {
      const vf x = splat(q[h * page.dim + d]);
#pragma GCC unroll 4
      for (int v = 0; v < V; v++) acc[h][v] += x * load(k + h * page.gap + v * VL);
    }
  }
#pragma GCC unroll 4
  for (int h = 0; h < H; h++)
#pragma GCC unroll 4
    for (int v = 0; v < V; v++) store(out + h * KEYS + p * NR + v * VL, acc[h][v]);
}
template <int H>
static void row_scores(const float* q, const HeadPage& page, int keys, float* out) {
  for (int p = 0; p * NR < keys; p++) {
    if (keys - p * NR <= NR / 2)
      row_panel<H, NV / 2>(q, page, p, out);
    else
      row_panel<H, NV>(q, page, p, out);
  }
}

// acc[d …] += Σ p[j]·v[j][d …] over the first `keys` keys of H heads, a panel at a time; fetches `ahead` on the way.
template <int H>
static void row_weigh(const float* p, int keys, const HeadPage& page, float* acc, const float* ahead) {
  for (int d = 0; d < page.width; d += NR) {
    vf sum[H][NV];
#pragma GCC unroll 4
    for (int h = 0; h < H; h++)
#pragma GCC unroll 4
      for (int v = 0; v < NV; v++) sum[h][v] = load(acc + h * page.width + d + v * VL);
    const float* value = page.values(0) + d;
    const float* fetched = ahead + static_cast<ptrdiff_t>(d / NR) * keys * TWO_LINES;
    for (int j = 0; j < keys; j++, value += page.width) {
#pragma GCC unroll 4
      for (int h = 0; h < H; h++) {
        const vf x = splat(p[h * KEYS + j]);
#pragma GCC unroll 4
        for (int v = 0; v < NV; v++) sum[h][v] += x * load(value + h * page.gap + v * VL);
        __builtin_prefetch(fetched + h * page.gap + j * TWO_LINES, 0, 2);
      }
    }
#pragma GCC unroll 4
    for (int h = 0; h < H; h++)
#pragma GCC unroll 4
      for (int v = 0; v < NV; v++) store(acc + h * page.width + d + v * VL, sum[h][v]);
  }
}

TRINITY_INLINE vf lanes_from(int first) {
  float lane[VL];
  for (int i = 0; i < VL; i++) lane[i] = static_cast<float>(first + i);
  return load(lane);
}

// Scores to weights, and the running maximum, sum and output brought to them.
template <int H>
static void row_softmax(float* s, int hidden, int visible, float* max, float* total, float* acc, int width) {
  const vf low = splat(-__builtin_inff()), from = splat(static_cast<float>(hidden)), to = splat(static_cast<float>(visible));
  vf row[H][KEY_VECTORS];
  float now[H];
#pragma GCC unroll 4
  for (int h = 0; h < H; h++) {
    vf peak = low;
#pragma GCC unroll 8
    for (int v = 0; v < KEY_VECTORS; v++) {
      const vf at = lanes_from(v * VL);
      row[h][v] = choose((at >= from) & (at < to), load(s + h * KEYS + v * VL), low);
      peak = vmax(peak, row[h][v]);
    }
    const float high = top(peak);
    now[h] = high > max[h] ? high : max[h];
  }
#pragma GCC unroll 4
  for (int h = 0; h < H; h++) {
    vf added = vf{};
#pragma GCC unroll 8
    for (int v = 0; v < KEY_VECTORS; v++) {
      // Nothing is left of what is not seen: e^-inf is 0, and adding it changes no bit.
      const vf e = v * VL < visible ? vexp(row[h][v] - splat(now[h])) : vf{};
      store(s + h * KEYS + v * VL, e);
      added += e;
    }
    if (now[h] != max[h]) {
      float by = 0.0f;
      if (max[h] != -__builtin_inff()) {
        float shrink[VL];
        store(shrink, vexp(splat(max[h] - now[h])));
        by = shrink[0];
        for (int d = 0; d < width; d += VL) store(acc + h * width + d, load(acc + h * width + d) * by);
      }
      total[h] *= by;
      max[h] = now[h];
    }
    total[h] += sum(added);
  }
}

// Heads [first, first + H).
template <int H>
static void attention_heads(const AttentionRow& a, int first, float* scratch) {
  const int width = (a.dim + NR - 1) / NR * NR;
  float *s = scratch, *acc = scratch + H * KEYS, *q = acc + H * width;
  for (int d = 0; d < H * width; d += VL) store(acc + d, vf{});
  const float* from = a.q + first * a.dim;
  for (int d = 0; d < H * a.dim; d++) q[d] = a.scale != 1.0f ? from[d] * a.scale : from[d];
  float max[H], total[H];
  for (int h = 0; h < H; h++) max[h] = -__builtin_inff(), total[h] = 0.0f;
  const ptrdiff_t offset = first * a.gap;
  for (int k0 = 0; k0 < a.visible; k0 += KEYS) {
    const float* const* at = a.pages + k0 / KEYS;
    const HeadPage page{*at + offset, a.gap, a.dim, width};
    const int left = a.visible - k0, keys = left < KEYS ? left : KEYS;
    row_scores<H>(q, page, keys, s);
    if (a.cap > 0) squash(s, static_cast<int64_t>(H) * KEYS, a.cap);
    row_softmax<H>(s, k0 == 0 ? a.hidden : 0, keys, max, total, acc, width);
    const float* ahead = left > KEYS ? at[1] + offset : first + H < a.heads ? a.pages[0] + offset + H * a.gap : a.next;
    row_weigh<H>(s, keys, page, acc, ahead);
  }
  for (int h = 0; h < H; h++) {
    const float inv = 1.0f / total[h];
    float* out = a.out + (first + h) * a.dim;
    for (int d = 0; d < a.dim; d++) out[d] = acc[h * width + d] * inv;
  }
}

static void attention_row(const AttentionRow& a, float* scratch) {
  int h = 0;
  for (; h + ROW_HEADS <= a.heads; h += ROW_HEADS) attention_heads<ROW_HEADS>(a, h, scratch);
  for (; h + 2 <= a.heads; h += 2) attention_heads<2>(a, h, scratch);
  for (; h < a.heads; h++) attention_heads<1>(a, h, scratch);
}

}  // namespace TRINITY_ISA
}  // namespace trinity
