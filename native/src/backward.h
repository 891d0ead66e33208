// The backward pass over the micro-batch that was scored last.
#pragma once
#include "forward.h"

namespace trinity {

struct Gradients {
  Buffer dx, dqkv, dattn, dact, dnorm, dhidden, dlow, drows;
  Buffer packed;  // an operand of the product in hand, in the order in which it is read
  void grow(const Layout& l, int64_t m, int64_t scored);
  size_t bytes() const;
};

struct Back {
  Pass pass;
  Gradients& g;
  float* grad;  // arena of the trained parameters

  bool wants(Ref r) const { return r && r.live; }
  float* of(Ref r) const { return grad + r.offset; }
};

// From d(loss)/d(score) of every scored token to g.dhidden, and the heads' own gradients.
void score_tokens_back(const Back& b, const Pack& pack, const TokenScores& d);
void score_values_back(const Back& b, const Pack& pack, const float* d_value);
// From g.dhidden through final norm, layers and embedding.
void backward(const Back& b, const Pack& pack);

void attention_backward(const Back& b, const Pack& pack, int window, const LayerActs& acts);
// Through one product: dx = dy · w …
void input_back(const Back& b, const Linear& l, int64_t m, const float* dy, int64_t lddy, float* dx, int64_t lddx);
// … and the gradients of its parameters, from its input.
void params_back(const Back& b, const Linear& l, int64_t m, const float* x, int64_t ldx, const float* dy, int64_t lddy);
// From the gradient of what a layer's experts gave to that of what they took; their activations are used up.
void experts_back(const Back& b, const Layer& layer, Routing& routing, const float* in, int64_t m, const float* dout, float* din);
// Through a norm of whole rows: dx += … (or =), and the weight's gradient.
void norm_back(const Back& b, Ref weight, const float* x, const float* rstd, const float* dy, int64_t m, float* dx,
               bool add = true);

}  // namespace trinity
