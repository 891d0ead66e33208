// Row-wise kernels: norms, rotary positions, the gated activation, biases. A row's result depends on that row alone.
#pragma once
#include "../kernels.h"
#include "simd.h"

namespace trinity {
namespace TRINITY_ISA {

static float dot(const float* a, const float* b, int64_t n) {
  vf acc = vf{};
  int64_t i = 0;
  for (; i + VL <= n; i += VL) acc += load(a + i) * load(b + i);
  if (i < n) acc += load_part(a + i, static_cast<int>(n - i), 0) * load_part(b + i, static_cast<int>(n - i), 0);
  return sum(acc);
}

static void axpy(float scale, const float* x, float* y, int64_t n) {
  const vf s = splat(scale);
  int64_t i = 0;
  for (; i + VL <= n; i += VL) store(y + i, load(y + i) + s * load(x + i));
  for (; i < n; i++) y[i] += scale * x[i];
}

static void scale_by(float scale, float* x, int64_t n) {
  for (int64_t i = 0; i < n; i++) x[i] *= scale;
}

static void rmsnorm(const float* x, ptrdiff_t ldx, const float* w, float unit, float eps, int64_t rows, int n, float* y, ptrdiff_t ldy,
                    float* rstd, ptrdiff_t lds) {
  for (int64_t r = 0; r < rows; r++, x += ldx, y += ldy) {
    const float inv = 1.0f / __builtin_sqrtf(dot(x, x, n) / static_cast<float>(n) + eps);
    if (rstd) rstd[r * lds] = inv;
    const vf s = splat(inv), one = splat(unit);
    int i = 0;
    for (; i + VL <= n; i += VL) store(y + i, load(x + i) * s * (load(w + i) + one));
    for (; i < n; i++) y[i] = x[i] * inv * (w[i] + unit);
  }
}

static void rmsnorm_back(const float* x, ptrdiff_t ldx, const float* w, float unit, const float* rstd, ptrdiff_t lds,
                         const float* dy, ptrdiff_t lddy, int64_t rows, int n, float* dx, ptrdiff_t lddx, bool add) {
  const vf one = splat(unit);
  for (int64_t r = 0; r < rows; r++, x += ldx, dy += lddy, dx += lddx) {
    const float inv = rstd[r * lds];
    vf acc = vf{};
    int i = 0;
    for (; i + VL <= n; i += VL) acc += load(dy + i) * (load(w + i) + one) * load(x + i);
    float tail = 0;
    for (; i < n; i++) tail += dy[i] * (w[i] + unit) * x[i];
    const float pull = (sum(acc) + tail) * inv * inv * inv / static_cast<float>(n);
    const vf vinv = splat(inv), vpull = splat(pull);
    for (i = 0; i + VL <= n; i += VL) {
      const vf g = load(dy + i) * (load(w + i) + one) * vinv - load(x + i) * vpull;
      store(dx + i, add ? load(dx + i) + g : g);
    }
    for (; i < n; i++) {
      const float g = dy[i] * (w[i] + unit) * inv - x[i] * pull;
      dx[i] = add ? dx[i] + g : g;
    }
  }
}

static void rmsnorm_weight(const float* x, ptrdiff_t ldx, const float* rstd, ptrdiff_t lds, const float* dy, ptrdiff_t lddy,
                           int64_t rows, int c0, int c1, float* dw) {
  int c = c0;
  for (; c + VL <= c1; c += VL) {
    vf acc = load(dw + c);
    for (int64_t r = 0; r < rows; r++) acc += load(dy + r * lddy + c) * load(x + r * ldx + c) * splat(rstd[r * lds]);
    store(dw + c, acc);
  }
  for (; c < c1; c++) {
    float acc = dw[c];
    for (int64_t r = 0; r < rows; r++) acc += dy[r * lddy + c] * x[r * ldx + c] * rstd[r * lds];
    dw[c] = acc;
  }
}

static void rope(float* x, ptrdiff_t ld, const int32_t* positions, int64_t rows, int heads, int dim, int turned,
                 const float* cosines, const float* sines, float direction) {
  const int half = turned / 2;
  for (int64_t r = 0; r < rows; r++) {
    const float* c = cosines + static_cast<ptrdiff_t>(positions[r]) * half;
    const float* s = sines + static_cast<ptrdiff_t>(positions[r]) * half;
    for (int h = 0; h < heads; h++) {
      float* lo = x + r * ld + static_cast<ptrdiff_t>(h) * dim;
      float* hi = lo + half;
      int i = 0;
      for (; i + VL <= half; i += VL) {
        const vf a = load(lo + i), b = load(hi + i), cv = load(c + i), sv = load(s + i) * direction;
        store(lo + i, a * cv - b * sv);
        store(hi + i, b * cv + a * sv);
      }
      for (; i < half; i++) {
        const float a = lo[i], b = hi[i], sv = s[i] * direction;
        lo[i] = a * c[i] - b * sv;
        hi[i] = b * c[i] + a * sv;
      }
    }
  }
}

// Widths are whole vectors here: activations are padded to NR columns with zeros. `activate`: of the gate.
template <class Activate>
static inline void gated(const float* gate_up, ptrdiff_t ldg, int up, int64_t rows, float* act, ptrdiff_t lda,
                         Activate activate) {
  for (int64_t r = 0; r < rows; r++) {
    const float* g = gate_up + r * ldg;
    const float* u = g + up;
    float* out = act + r * lda;
    for (int i = 0; i < up; i += VL) store(out + i, activate(load(g + i)) * load(u + i));
  }
}

// `slope(gate, above, active)`: the gradient of the gate, given that of its activation, which it also tells.
template <class Slope>
static inline void gated_back(float* gate_up, ptrdiff_t ldg, int up, int64_t rows, const float* dact, ptrdiff_t ldd,
                              float* act, ptrdiff_t lda, Slope slope) {
  for (int64_t r = 0; r < rows; r++) {
    float* g = gate_up + r * ldg;
    float* u = g + up;
    const float* d = dact + r * ldd;
    float* out = act + r * lda;
    for (int i = 0; i < up; i += VL) {
      const vf lift = load(u + i), da = load(d + i);
      vf active;
      store(g + i, slope(load(g + i), da * lift, active));
      store(out + i, active * lift);
      store(u + i, da * active);
    }
  }
}

static void swiglu(const float* gate_up, ptrdiff_t ldg, int up, int64_t rows, float* act, ptrdiff_t lda) {
  gated(gate_up, ldg, up, rows, act, lda, [](vf gate) { return gate / (splat(1.0f) + vexp(-gate)); });
}

static void swiglu_back(float* gate_up, ptrdiff_t ldg, int up, int64_t rows, const float* dact, ptrdiff_t ldd, float* act,
                        ptrdiff_t lda) {
  gated_back(gate_up, ldg, up, rows, dact, ldd, act, lda, [](vf gate, vf above, vf& active) {
    const vf sigma = splat(1.0f) / (splat(1.0f) + vexp(-gate));
    active = gate * sigma;
    return above * (sigma + active * (splat(1.0f) - sigma));
  });
}

// GELU by tanh, and its slope: g · (1 + t) / 2 with t = tanh(√(2/π) · (g + 0.044715 g³)).
static void geglu(const float* gate_up, ptrdiff_t ldg, int up, int64_t rows, float* act, ptrdiff_t lda) {
  gated(gate_up, ldg, up, rows, act, lda, [](vf gate) {
    const vf t = vtanh(splat(0.7978845608f) * (gate + splat(0.044715f) * gate * gate * gate));
    return splat(0.5f) * gate * (splat(1.0f) + t);
  });
}

static void geglu_back(float* gate_up, ptrdiff_t ldg, int up, int64_t rows, const float* dact, ptrdiff_t ldd, float* act,
                       ptrdiff_t lda) {
  gated_back(gate_up, ldg, up, rows, dact, ldd, act, lda, [](vf gate, vf above, vf& active) {
    const vf square = gate * gate;
    const vf t = vtanh(splat(0.7978845608f) * (gate + splat(0.044715f) * square * gate));
    active = splat(0.5f) * gate * (splat(1.0f) + t);
    const vf inner = splat(0.7978845608f) * (splat(1.0f) + splat(3 * 0.044715f) * square);
    return above * splat(0.5f) * (splat(1.0f) + t + gate * (splat(1.0f) - t * t) * inner);
  });
}

static void squash(float* x, int64_t n, float cap) {
  const float by = 1.0f / cap;
  int64_t i = 0;
  for (; i + VL <= n; i += VL) store(x + i, splat(cap) * vtanh(load(x + i) * splat(by)));
  const int rest = static_cast<int>(n - i);
  if (rest > 0) store_part(x + i, rest, splat(cap) * vtanh(load_part(x + i, rest, 0.0f) * splat(by)));
}

static void add_bias(float* y, ptrdiff_t ld, const float* bias, int64_t rows, int n) {
  for (int64_t r = 0; r < rows; r++)
    for (int i = 0; i < n; i += VL) store(y + r * ld + i, load(y + r * ld + i) + load(bias + i));
}

static void column_sum(const float* y, ptrdiff_t ld, int64_t rows, int c0, int c1, float* out) {
  int c = c0;
  for (; c + VL <= c1; c += VL) {
    vf acc = load(out + c);
    for (int64_t r = 0; r < rows; r++) acc += load(y + r * ld + c);
    store(out + c, acc);
  }
  for (; c < c1; c++) {
    float acc = out[c];
    for (int64_t r = 0; r < rows; r++) acc += y[r * ld + c];
    out[c] = acc;
  }
}

}  // namespace TRINITY_ISA
}  // namespace trinity
