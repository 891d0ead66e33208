// Causal attention in blocks of QUERIES x KEYS with a running softmax. A query's numbers are one fixed sequence of
// operations over its keys in ascending order: the same alone (decoding) or in a block (training).
#pragma once
#include "gemm_kernel.h"
#include "rows_kernel.h"

namespace trinity {
namespace TRINITY_ISA {

constexpr int KEY_PANELS = KEYS / NR > 0 ? KEYS / NR : 1;
static_assert(KEYS % NR == 0, "a key block is whole panels");

static void pack_keys(const float* k, ptrdiff_t ld, int n, int dim, float* out) {
  for (int p = 0; p < KEY_PANELS; p++) {
    float* panel = out + static_cast<ptrdiff_t>(p) * dim * NR;
    for (int j = 0; j < NR; j++) {
      const int key = p * NR + j;
      const float* row = k + key * ld;
      if (key < n) {
        for (int d = 0; d < dim; d++) panel[d * NR + j] = row[d];
      } else {
        for (int d = 0; d < dim; d++) panel[d * NR + j] = 0.0f;
      }
    }
  }
}

// A prefetch every other line: the processor fetches lines in pairs.
constexpr ptrdiff_t TWO_LINES = 32;

// out[rows x KEYS] = scale·q · kᵀ. qp: scratch for the packed queries, dim*MR floats. Fetches `ahead` on the way.
static void scores(const float* q, ptrdiff_t ldq, float scale, int rows, int dim, const float* kt, float* out, float* qp,
                   const float* ahead, ptrdiff_t stride) {
  for (int m = 0; m < rows; m += MR) {
    const int r = rows - m < MR ? rows - m : MR;
    pack_rows<MR>(q + m * ldq, ldq, 1, r, dim, qp);
    if (scale != 1.0f)
      for (int d = 0; d < dim; d++)
        for (int i = 0; i < r; i++) qp[d * MR + i] *= scale;
    for (int p = 0; p < KEY_PANELS; p++)
      micros.at[r](dim, qp, MR, kt + static_cast<ptrdiff_t>(p) * dim * NR, NR, out + m * KEYS + p * NR, KEYS, false,
                   ahead + p * dim * stride, m == 0 ? stride : 0);
  }
}

// c[rows x dim] (+)= p[rows x KEYS] · b[KEYS x dim] over the first `keys` keys; b's rows are read in whole panels.
static void weigh(const float* p, int rows, int keys, const float* b, ptrdiff_t ldb, int dim, float* c, ptrdiff_t ldc,
                  float* pp, const float* ahead, ptrdiff_t stride) {
  for (int m = 0; m < rows; m += MR) {
    const int r = rows - m < MR ? rows - m : MR;
    pack_rows<MR>(p + m * KEYS, KEYS, 1, r, keys, pp);
    for (int d = 0; d < dim; d += NR)
      micros.at[r](keys, pp, MR, b + d, ldb, c + m * ldc + d, ldc, true, ahead + d / NR * keys * stride,
                   m == 0 ? stride : 0);
  }
}

// scratch: QUERIES*KEYS + max(dim, KEYS)*MR floats
static void attention_block(const float* q, ptrdiff_t ldq, float scale, float cap, int rows, int dim, const float* kt, const float* v,
                            ptrdiff_t ldv, const int* visible, const int* hidden, float* max, float* sums, float* acc, ptrdiff_t ldacc,
                            float* scratch, const float* next) {
  float* s = scratch;
  float* packed = scratch + QUERIES * KEYS;
  // A page of the cache has its values in one run, behind its keys.
  const ptrdiff_t stride = next ? TWO_LINES : 0;
  scores(q, ldq, scale, rows, dim, kt, s, packed, v, stride);
  if (cap > 0) squash(s, static_cast<int64_t>(rows) * KEYS, cap);
  int most = 0;
  for (int i = 0; i < rows; i++) {
    float* row = s + i * KEYS;
    const int from = hidden ? hidden[i] : 0, n = visible[i] > from ? visible[i] : 0;
    most = n > most ? n : most;
    for (int j = 0; j < from; j++) row[j] = -__builtin_inff();
    for (int j = n; j < KEYS; j++) row[j] = -__builtin_inff();
    if (n == 0) {
      for (int j = 0; j < KEYS; j++) row[j] = 0.0f;
      continue;
    }
    vf peak = load(row);
    for (int j = VL; j < KEYS; j += VL) peak = vmax(peak, load(row + j));
    const float high = top(peak);
    const float now = high > max[i] ? high : max[i];
    vf total = vf{};
    for (int j = 0; j < KEYS; j += VL) {
      const vf e = vexp(load(row + j) - splat(now));
      store(row + j, e);
      total += e;
    }
    if (now != max[i]) {
      float shrink[VL];
      store(shrink, vexp(splat(max[i] - now)));
      const float by = max[i] == -__builtin_inff() ? 0.0f : shrink[0];
      sums[i] *= by;
      for (int d = 0; d < dim; d += NR)
        for (int x = 0; x < NV; x++) store(acc + i * ldacc + d + x * VL, load(acc + i * ldacc + d + x * VL) * by);
      max[i] = now;
    }
    sums[i] += sum(total);
  }
  weigh(s, rows, most, v, ldv, dim, acc, ldacc, packed, next ? next : v, stride);
}

static void attention_finish(const float* max, const float* sums, const float* acc, ptrdiff_t ldacc, int rows, int dim,
                             float* out, ptrdiff_t ldo, float* lse, ptrdiff_t lds) {
  for (int i = 0; i < rows; i++) {
    const float inv = 1.0f / sums[i];
    for (int d = 0; d < dim; d++) out[i * ldo + d] = acc[i * ldacc + d] * inv;
    if (lse) lse[i * lds] = max[i] + __builtin_logf(sums[i]);
  }
}

// scratch: attention_block's, then QUERIES*pad(dim) for the output
static void attention(const AttentionHead& h, int q0, int n, const float* kt, float* scratch) {
  const int padded = (h.dim + NR - 1) / NR * NR;
  float* work = scratch;
  float* acc = work + QUERIES * KEYS + (h.dim > KEYS ? h.dim : KEYS) * MR;
  float max[QUERIES], sums[QUERIES];
  int visible[QUERIES], hidden[QUERIES];
  for (int i = 0; i < n; i++) max[i] = -__builtin_inff(), sums[i] = 0.0f;
  for (int i = 0; i < n * padded; i++) acc[i] = 0.0f;
  for (int k0 = first_block(q0, h.window); k0 < q0 + n; k0 += KEYS) {
    for (int i = 0; i < n; i++) {
      const int seen = q0 + i + 1 - k0, past = seen - h.window;
      visible[i] = seen < 0 ? 0 : seen > KEYS ? KEYS : seen;
      hidden[i] = past < 0 ? 0 : past > KEYS ? KEYS : past;
    }
    attention_block(h.q + q0 * h.ld, h.ld, h.scale, h.cap, n, h.dim, kt + static_cast<ptrdiff_t>(k0) * h.dim, h.v + k0 * h.ld, h.ld,
                    visible, h.window > 0 ? hidden : nullptr, max, sums, acc, padded, work, nullptr);
  }
  attention_finish(max, sums, acc, padded, n, h.dim, h.o + q0 * h.ldo, h.ldo, h.lse + q0 * h.lds, h.lds);
}

}  // namespace TRINITY_ISA
}  // namespace trinity
