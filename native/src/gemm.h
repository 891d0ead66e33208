// Matrix products over the thread pool. Sums are never split: any number of threads gives the same bits.
#pragma once
#include <cstdint>

#include "buffer.h"

namespace trinity {

// A weight matrix [n x k] as panels of NR rows: panel p holds rows p*NR…, laid out [k][NR]; rows are padded to NR.
struct Panels {
  const float* data;
  int64_t n;   // padded
  int64_t k;
  // The same numbers in 16 bits (bfloat16 or half precision) where they are exact and at hand; else null.
  const uint16_t* half = nullptr;
  bool brain = false;
  // Rounded to bfloat16, pairs of k in a word: where not null, the product is one of bfloat16, and x is rounded too.
  const uint32_t* pairs = nullptr;
};

// y[m x w.n] (+)= x[m x w.k] · wᵀ
void linear(const float* x, int64_t ldx, int64_t m, Panels w, float* y, int64_t ldy, bool accumulate);
// dx[m x pad(w.k)] (+)= dy[m x w.n] · w; columns past w.k are written with zero. `packed` grows to the size of w.
void linear_input_grad(const float* dy, int64_t lddy, int64_t m, Panels w, float* dx, int64_t lddx, bool accumulate,
                       Buffer& packed);
// dw (panels, n x k) += dyᵀ[n x m] · x[m x k]. `packed` grows to 1,024 rows of x.
void linear_weight_grad(const float* dy, int64_t lddy, const float* x, int64_t ldx, int64_t m, int64_t n, int64_t k, float* dw,
                        Buffer& packed);

}  // namespace trinity
