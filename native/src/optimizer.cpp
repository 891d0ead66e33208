// Gradient norm, clipping and AdamW over the arena of trained parameters, in chunks of fixed size.
#include <algorithm>
#include <cmath>

#include "model.h"
#include "pool.h"

namespace trinity {

constexpr int64_t CHUNK = 16384;

void Model::zero_grad() { std::memset(grad_.data(), 0, grad_.bytes()); }

StepResult Model::step(const AdamStep& s) {
  make_gradients();
  const int64_t n = static_cast<int64_t>(layout_->live_size);
  const int chunks = static_cast<int>((n + CHUNK - 1) / CHUNK);
  const Kernels& k = kernels();
  std::vector<double> squares(chunks);
  const auto length = [&](int64_t at) { return std::min(CHUNK, n - at); };
  parallel_for(chunks, [&](int i) { squares[i] = k.sum_squares(grad_.data() + i * CHUNK, length(i * CHUNK)); });
  double total = 0;
  for (double x : squares) total += x;
  const double norm = std::sqrt(total);
  if (!std::isfinite(norm)) {
    zero_grad();
    return {norm, false};
  }

  steps_++;
  const double t = static_cast<double>(steps_);
  AdamArgs a;
  a.keep = static_cast<float>(1.0 - s.lr * s.decay);
  a.step = static_cast<float>(s.lr / (1.0 - std::pow(s.beta1, t)));
  a.root = static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(s.beta2, t)));
  a.beta2 = static_cast<float>(s.beta2);
  a.mix1 = static_cast<float>(1.0 - s.beta1);
  a.mix2 = static_cast<float>(1.0 - s.beta2);
  a.eps = static_cast<float>(s.eps);
  a.grad_scale = s.clip > 0 ? static_cast<float>(std::min(1.0, s.clip / (norm + 1e-6))) : 1.0f;

  // A snapshot still reads this version: the next one is written beside it.
  std::shared_ptr<Buffer> to = weights_.live;
  if (weights_.live.use_count() > 2) {
    if (!spare_ || spare_.use_count() > 1) spare_ = std::make_shared<Buffer>(layout_->live_size);
    to = spare_;
  }
  parallel_for(chunks, [&](int i) {
    const int64_t at = i * CHUNK;
    k.adamw(a, weights_.live->data() + at, to->data() + at, grad_.data() + at, m_.data() + at, v_.data() + at, length(at));
  });
  if (to != weights_.live) {
    spare_ = weights_.live;
    weights_.live = to;
  }
  count_memory();
  return {norm, true};
}

}  // namespace trinity
