// One open model: weights, and what training adds to them. Not thread-safe: its runner executes one call at a time.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "activations.h"
#include "backward.h"
#include "forward.h"
#include "kernels.h"
#include "weights.h"

namespace trinity {

struct Scores {
  std::vector<float> logprob, entropy, squares, others, value;
};

struct AdamStep {
  double lr, beta1, beta2, eps, decay, clip;
};

struct StepResult {
  double grad_norm;
  bool applied;
};

struct Memory {
  size_t weights, gradients, optimizer, activations;
};

// Which copy of a parameter is meant; `merged`: the weight with its adapter added (read only).
enum class Slot { weight, merged, gradient, first_moment, second_moment };

class Model {
 public:
  explicit Model(const Config& config);
  // Shares the weights of a snapshot.
  explicit Model(const Weights& weights) : layout_(weights.layout), weights_(weights) {}

  const Layout& layout() const { return *layout_; }
  // A snapshot that stays as it is whatever the trainer does next.
  Weights snapshot() const { return weights_; }
  // Angles of at least this many positions; a table stays valid while it is held.
  std::shared_ptr<const Rope> rope(int64_t positions);

  // Row-major values of one parameter.
  void write(const Param& p, Slot slot, const float* values);
  void read(const Param& p, Slot slot, float* values);

  // Scores of a packed micro-batch. `keep`: a backward pass may follow.
  Scores forward(Pack pack, bool adapter, bool keep);
  // Adds d(loss)/d(parameter) from d(loss)/d(score) of the last kept forward pass. Empty vectors count as zeros.
  void backward(const Scores& grads);
  // A non-finite gradient is dropped and nothing else changes.
  StepResult step(const AdamStep& args);
  void zero_grad();

  int64_t steps() const { return steps_; }
  void set_steps(int64_t n) { steps_ = n; }
  // Of the last call that has ended; safe from any thread.
  Memory memory() const;

  std::atomic<bool> abort{false};

 private:
  Pass pass(bool adapter) { return {weights_, *pass_rope_, acts_, adapter, &abort}; }
  void make_gradients();
  void count_memory();
  void add_adapter(const Param& p, float* values);
  Buffer& slot_buffer(Slot slot);

  std::shared_ptr<const Layout> layout_;
  Weights weights_;
  std::shared_ptr<Buffer> spare_;  // the next version's place while a sampler still reads this one
  std::shared_ptr<const Rope> rope_;
  mutable std::mutex mutex_;  // guards rope_ and memory_
  Memory memory_{};
  std::shared_ptr<const Rope> pass_rope_;  // of the pass in hand
  Activations acts_;
  Gradients back_;
  Buffer grad_, m_, v_;
  Pack pack_;
  bool kept_ = false;
  int64_t steps_ = 0;
};

}  // namespace trinity
