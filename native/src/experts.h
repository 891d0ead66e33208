// A feed-forward part of experts, of which every token goes through a few: a router gives each expert a probability, the likeliest
// ones compute, and their results are added by these shares. Rows are sorted by expert, so that each has one product.
#pragma once
#include <functional>
#include <vector>

#include "weights.h"

namespace trinity {

// Who computes what, and what the backward pass needs of it. A choice is one of the experts of a token.
struct Routing {
  Buffer probs, share;               // [tokens x experts_p], [tokens x active]
  std::vector<int32_t> chosen, row;  // of each choice: its expert, and where its row is
  std::vector<int32_t> token;        // of each row
  std::vector<int64_t> starts;       // rows of expert e: [starts[e], starts[e + 1])
  Buffer gate_up, made;              // of each row

  int64_t rows() const { return static_cast<int64_t>(token.size()); }
  size_t bytes() const { return probs.bytes() + share.bytes() + gate_up.bytes() + made.bytes(); }
};

// y = x · wᵀ of so many rows.
using Product = std::function<void(const Linear& linear, const float* x, int64_t ldx, int64_t m, float* y, int64_t ldy)>;

// What the experts of a layer give for its `m` inputs is added to `out`. `rows` and `act` are room for their inputs and activations.
void experts_forward(const Layout& l, const Layer& layer, const Product& product, const float* in, int64_t m, Routing& routing,
                     Buffer& rows, Buffer& act, float* out);
// The inputs of all rows, in their order.
void gather_rows(const Layout& l, const Routing& routing, const float* in, Buffer& rows);

}  // namespace trinity
