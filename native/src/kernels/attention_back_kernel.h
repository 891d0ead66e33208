// Gradient of causal attention. Probabilities are recomputed from the saved log-sum-exp; nothing quadratic is stored.
#pragma once
#include "attention_kernel.h"
#include "rows_kernel.h"

namespace trinity {
namespace TRINITY_ISA {

// c[cols x dim] += pᵀ[cols x rows] · b[rows x dim], p row-major with KEYS columns.
static void weigh_transposed(const float* p, int rows, int cols, const float* b, ptrdiff_t ldb, int dim, float* c,
                             ptrdiff_t ldc) {
  for (int m = 0; m < cols; m += MR) {
    const int r = cols - m < MR ? cols - m : MR;
    for (int d = 0; d < dim; d += NR) micros.at[r](rows, p + m, KEYS, b + d, ldb, c + m * ldc + d, ldc, true, b, 0);
  }
}

// Of one query: probabilities in place of scores, and gradients of q·k in place of those of probabilities.
template <bool CAPPED>
static void score_back(float* p, float* d, float lse, float delta, float scale, float cap) {
  const vf by = splat(CAPPED ? 1.0f / cap : 0.0f), one = splat(1.0f);
  for (int j = 0; j < KEYS; j += VL) {
    const vf score = load(p + j), prob = vexp(score - splat(lse));
    vf grad = prob * (load(d + j) - splat(delta)) * scale;
    // A score that is not seen is -inf: its slope is 0.
    if (CAPPED) grad *= one - vmin(score * by * (score * by), one);
    store(p + j, prob);
    store(d + j, grad);
  }
}

// scratch floats: 2 * blocks*KEYS*dim (kᵀ, vᵀ) + 2 * blocks*KEYS*pad (dk, dv) + QUERIES*pad (dq)
//                 + 2*QUERIES*KEYS + max(dim, KEYS)*MR
static void attention_back(const AttentionGroup& g, float* scratch) {
  const int pad = (g.dim + NR - 1) / NR * NR;
  const int blocks = (g.length + KEYS - 1) / KEYS;
  float* kt = scratch;
  float* vt = kt + static_cast<ptrdiff_t>(blocks) * KEYS * g.dim;
  float* dk = vt + static_cast<ptrdiff_t>(blocks) * KEYS * g.dim;
  float* dv = dk + static_cast<ptrdiff_t>(blocks) * KEYS * pad;
  float* dq = dv + static_cast<ptrdiff_t>(blocks) * KEYS * pad;
  float* p = dq + QUERIES * pad;
  float* dp = p + QUERIES * KEYS;
  float* packed = dp + QUERIES * KEYS;
  for (int b = 0; b < blocks; b++) {
    const int n = g.length - b * KEYS < KEYS ? g.length - b * KEYS : KEYS;
    const ptrdiff_t row = static_cast<ptrdiff_t>(b) * KEYS;
    pack_keys(g.k + row * g.ld, g.ld, n, g.dim, kt + row * g.dim);
    pack_keys(g.v + row * g.ld, g.ld, n, g.dim, vt + row * g.dim);
  }
  for (ptrdiff_t i = 0; i < static_cast<ptrdiff_t>(blocks) * KEYS * pad; i++) dk[i] = dv[i] = 0.0f;

  for (int h = 0; h < g.group; h++) {
    const ptrdiff_t shift = static_cast<ptrdiff_t>(h) * g.dim;
    for (int q0 = g.first; q0 < g.length; q0 += QUERIES) {
      const int rows = g.length - q0 < QUERIES ? g.length - q0 : QUERIES;
      const float* q = g.q + shift + q0 * g.ld;
      const float* dout = g.dout + shift + q0 * g.ldo;
      float delta[QUERIES];
      for (int i = 0; i < rows; i++) delta[i] = dot(dout + i * g.ldo, g.o + shift + (q0 + i) * g.ldo, g.dim);
      for (int i = 0; i < rows * pad; i++) dq[i] = 0.0f;
      for (int k0 = first_block(q0, g.window); k0 < q0 + rows; k0 += KEYS) {
        const int keys = g.length - k0 < KEYS ? g.length - k0 : KEYS;
        scores(q, g.ld, g.scale, rows, g.dim, kt + static_cast<ptrdiff_t>(k0) * g.dim, p, packed, p, 0);
        if (g.cap > 0) squash(p, static_cast<int64_t>(rows) * KEYS, g.cap);
        scores(dout, g.ldo, 1.0f, rows, g.dim, vt + static_cast<ptrdiff_t>(k0) * g.dim, dp, packed, dp, 0);
        for (int i = 0; i < rows; i++) {
          const float lse = g.lse[(q0 + i) * g.lds + h];
          float* pi = p + i * KEYS;
          float* di = dp + i * KEYS;
          const int seen = q0 + i + 1 - k0;
          for (int j = seen < 0 ? 0 : seen; j < KEYS; j++) pi[j] = -__builtin_inff();
          for (int j = 0; g.window > 0 && j < KEYS && j < seen - g.window; j++) pi[j] = -__builtin_inff();
          if (g.cap > 0)
            score_back<true>(pi, di, lse, delta[i], g.scale, g.cap);
          else
            score_back<false>(pi, di, lse, delta[i], g.scale, 0.0f);
        }
        weigh(dp, rows, keys, g.k + k0 * g.ld, g.ld, g.dim, dq, pad, packed, dp, 0);
        weigh_transposed(dp, rows, keys, q, g.ld, g.dim, dk + static_cast<ptrdiff_t>(k0) * pad, pad);
        weigh_transposed(p, rows, keys, dout, g.ldo, g.dim, dv + static_cast<ptrdiff_t>(k0) * pad, pad);
      }
      for (int i = 0; i < rows; i++)
        for (int d = 0; d < g.dim; d++) g.dq[shift + (q0 + i) * g.ldd + d] = dq[i * pad + d];
    }
  }
  for (int t = 0; t < g.length; t++)
    for (int d = 0; d < g.dim; d++) {
      g.dk[t * g.ldd + d] = dk[static_cast<ptrdiff_t>(t) * pad + d];
      g.dv[t * g.ldd + d] = dv[static_cast<ptrdiff_t>(t) * pad + d];
    }
}

}  // namespace TRINITY_ISA
}  // namespace trinity
