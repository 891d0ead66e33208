// Flat passes over parameters: AdamW, gradient norm.
#pragma once
#include "../kernels.h"
#include "simd.h"

namespace trinity {
namespace TRINITY_ISA {

static double sum_squares(const float* x, int64_t n) {
  double total = 0;
  int64_t i = 0;
  // Short float runs under a double total: fast, and exact enough for a norm over any number of parameters.
  while (i + VL <= n) {
    vf acc = vf{};
    const int64_t end = i + 64 * VL < n ? i + 64 * VL : n;
    for (; i + VL <= end; i += VL) {
      const vf v = load(x + i);
      acc += v * v;
    }
    total += static_cast<double>(sum(acc));
  }
  for (; i < n; i++) total += static_cast<double>(x[i]) * x[i];
  return total;
}


TRINITY_INLINE vf vsqrt(vf x) {
  float lane[VL];
  store(lane, x);
  for (int i = 0; i < VL; i++) lane[i] = __builtin_sqrtf(lane[i]);
  return load(lane);
}

// PyTorch's order: decay the weight, update both moments, then w -= step·m / (√v·root + eps).
static void adamw(const AdamArgs& a, const float* w_in, float* w_out, float* g, float* m, float* v, int64_t n) {
  const vf keep = splat(a.keep), step = splat(a.step), root = splat(a.root), beta2 = splat(a.beta2);
  const vf mix1 = splat(a.mix1), mix2 = splat(a.mix2), eps = splat(a.eps), scale = splat(a.grad_scale);
  for (int64_t i = 0; i < n; i += VL) {
    const vf grad = load(g + i) * scale, m0 = load(m + i);
    const vf m1 = m0 + (grad - m0) * mix1;
    const vf v1 = load(v + i) * beta2 + grad * grad * mix2;
    store(m + i, m1);
    store(v + i, v1);
    store(g + i, vf{});
    store(w_out + i, load(w_in + i) * keep - step * (m1 / (vsqrt(v1) * root + eps)));
  }
}

}  // namespace TRINITY_ISA
}  // namespace trinity
