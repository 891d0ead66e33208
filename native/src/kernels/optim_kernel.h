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


// PyTorch's order: decay the weight, update both moments, step by lr·(m/c1) / (√v/√c2 + eps).
static void adamw(const AdamArgs& a, const float* w_in, float* w_out, const float* g, float* m, float* v, int64_t n) {
  const float keep = 1.0f - a.lr * a.decay;
  const float step = a.lr / a.correction1;
  const float root = 1.0f / __builtin_sqrtf(a.correction2);
  for (int64_t i = 0; i < n; i++) {
    const float grad = g[i] * a.grad_scale;
    const float m1 = m[i] + (grad - m[i]) * (1.0f - a.beta1);
    const float v1 = v[i] * a.beta2 + grad * grad * (1.0f - a.beta2);
    m[i] = m1;
    v[i] = v1;
    w_out[i] = w_in[i] * keep - step * m1 / (__builtin_sqrtf(v1) * root + a.eps);
  }
}

}  // namespace TRINITY_ISA
}  // namespace trinity
