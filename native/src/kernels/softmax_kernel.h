// The vocabulary side: running softmax statistics over chunks of logits, and their gradient.
#pragma once
#include "../kernels.h"
#include "simd.h"

namespace trinity {
namespace TRINITY_ISA {

static void softmax_fold(const float* logits, int64_t n, float inv_t, SoftmaxState* state) {
  const float low = -__builtin_inff();
  const vf t = splat(inv_t);
  vf peak = splat(low);
  int64_t i = 0;
  for (; i + VL <= n; i += VL) peak = vmax(peak, load(logits + i) * t);
  if (i < n) peak = vmax(peak, load_part(logits + i, static_cast<int>(n - i), low) * t);
  const float high = top(peak);
  if (high > state->max) {
    const float gap = state->max - high;
    float e[VL];
    store(e, vexp(splat(gap)));
    if (state->max != low) {
      state->weighted = e[0] * (state->weighted + gap * state->sum);
      state->sum *= e[0];
      state->squares *= e[0] * e[0];
    }
    state->max = high;
  }
  const vf base = splat(state->max);
  vf total = vf{}, weighted = vf{}, squares = vf{};
  for (i = 0; i + VL <= n; i += VL) {
    const vf gap = load(logits + i) * t - base;
    const vf e = vexp(gap);
    total += e;
    weighted += e * gap;
    squares += e * e;
  }
  state->sum += sum(total);
  state->weighted += sum(weighted);
  state->squares += sum(squares);
  for (; i < n; i++) {
    const float gap = logits[i] * inv_t - state->max;
    float e[VL];
    store(e, vexp(splat(gap)));
    state->sum += e[0];
    state->weighted += e[0] * gap;
    state->squares += e[0] * e[0];
  }
}

static void softmax_back(float* logits, int64_t n, float inv_t, const SoftmaxBack& g) {
  const vf t = splat(inv_t), base = splat(g.lse), h = splat(g.entropy), all = splat(g.squares);
  const vf gl = splat(g.g_logprob), ge = splat(g.g_entropy), gs = splat(-2 * g.g_squares);
  for (int64_t i = 0; i < n; i += VL) {
    const int width = n - i < VL ? static_cast<int>(n - i) : VL;
    const vf raw = width == VL ? load(logits + i) : load_part(logits + i, width, 0.0f);
    const vf logp = raw * t - base;
    const vf p = vexp(logp);
    // A vanished p takes its -inf log-prob with it: 0·inf must not become NaN.
    const vf spread = choose(p > splat(0.0f), logp + h, vf{});
    const vf d = -(p * t) * (gl + ge * spread + gs * (p - all));
    if (width == VL)
      store(logits + i, d);
    else
      store_part(logits + i, width, d);
  }
}

}  // namespace TRINITY_ISA
}  // namespace trinity
