// Steps of the model over the thread pool, shared by training and sampling: the same code gives the same bits.
#pragma once
#include <algorithm>

#include "kernels.h"
#include "pool.h"
#include "weights.h"

namespace trinity {

// body(first, last) over row ranges; rows are independent of each other.
template <typename F>
void parallel_rows(int64_t rows, int64_t grain, F&& body) {
  parallel_for(static_cast<int>((rows + grain - 1) / grain),
               [&](int i) { body(i * grain, std::min<int64_t>(rows, (i + 1) * grain)); });
}

void copy_rows(const float* from, int64_t width, int64_t m, float* to);

// x[m x hidden_p] = embedding rows of `ids`, with the adapter's share. `low` holds its inner activations.
void embed(const Weights& w, const int32_t* ids, int64_t m, float* x, bool adapter, Buffer& low);
// low[m x rank_p] = what an embedding's adapter has for `ids`, scaled
void embed_low(const Weights& w, const Lora& part, const int32_t* ids, int64_t m, Buffer& low);

// Norms of rows of the model's width.
void norm_rows(const Weights& w, Ref weight, const float* x, int64_t m, float* y, float* rstd);

// y (+)= x · wᵀ + bias + adapters, `panels` being the matrix. `low` holds the adapters' inner activations.
void project(const Weights& w, const Linear& l, Panels panels, const float* x, int64_t ldx, int64_t m, float* y, int64_t ldy,
             bool accumulate, bool adapter, Buffer& low);
inline void project(const Weights& w, const Linear& l, const float* x, int64_t ldx, int64_t m, float* y, int64_t ldy,
                    bool accumulate, bool adapter, Buffer& low) {
  project(w, l, w.panels(l), x, ldx, m, y, ldy, accumulate, adapter, low);
}

// q and k norms (where the model has them) and rotation, in place on a q|k|v block.
// q_rstd: [m x heads], k_rstd: [m x kv_heads]; both may be null.
// x += the norm of `branch`, which is left in `normed`.
void add_norm_rows(const Weights& w, Ref weight, const float* branch, int64_t m, float* normed, float* rstd, float* x);
void rotate_heads(const Weights& w, const Layer& layer, const Rope& rope, const int32_t* positions, int64_t m, float* qkv,
                  float* q_rstd, float* k_rstd);

// [gate | up] of `inner` columns each to `inner` columns.
void gate(const float* gate_up, bool gelu, int64_t inner, int64_t m, float* act);
// Logits as the model has them: capped, where it caps them.
inline void cap_logits(const Config& c, float* logits, int64_t n) {
  if (c.logit_cap > 0) kernels().squash(logits, n, c.logit_cap);
}

// The product that scores the vocabulary.
Panels vocabulary(const Weights& w);
// low[m x rank_p] = x · aᵀ, scaled: what an adapter multiplies by b.
void adapter_low(const Weights& w, const Lora& part, int64_t k, const float* x, int64_t ldx, int64_t m, float* low);
// Rows [first, first + n) of an adapter's b.
Panels adapter_out(const Weights& w, const Lora& part, int64_t first, int64_t n);

}  // namespace trinity
