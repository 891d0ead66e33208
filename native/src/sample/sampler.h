// One sampler: a snapshot of weights, a cache, and steps over them. Steps run one at a time on the sampler's thread;
// weights change between steps, on the event loop: a step keeps the snapshot that it was started with.
#pragma once
#include <atomic>

#include "../forward.h"
#include "decoder.h"
#include "draw.h"

namespace trinity {

// Views of the caller's arrays; what the numbers mean stands in src/engine/native/sampler/step.ts.
struct StepArgs {
  int64_t rows, segment_count, page_count, copy_count, out_count, draw_count, history_count, banned_count, top_count, bias_count,
      allowed_count;
  const int32_t *ids, *segments, *pages, *copies, *outs, *draws, *history, *banned, *biased, *allowed;
  const float *out_inv_t, *draw_floats, *bias;
  float *scores, *logprobs, *drawn, *top_logprobs;
  int32_t *tokens, *top_tokens;
};
constexpr int SEGMENT_INTS = 4, OUT_INTS = 2, DRAW_INTS = 16, DRAW_FLOATS = 5;

class Sampler {
 public:
  Sampler(const Weights& weights, int pages, int max_len);

  const Weights& weights() const { return weights_; }
  int max_len() const { return max_len_; }
  // Throws when the weights are those of another kind of model.
  void check_fit(const Weights& next) const;
  // For the steps started from now on.
  void adopt(const Weights& next);

  // From now on products of steps are computed in bfloat16, with weights and what they are multiplied with rounded to it.
  void use_bfloat16() { rounds_ = true; }

  void step(const Weights& w, const StepArgs& args);
  // As the training forward pass scores them.
  void score(const Weights& w, const Pack& pack, float* logprob, float* entropy);

  size_t cache_bytes() const { return cache_.bytes(); }
  size_t activation_bytes() const { return activation_bytes_.load(std::memory_order_relaxed); }

 private:
  std::vector<Segment> read_segments(const StepArgs& a) const;
  void check(const Config& c, const StepArgs& a) const;
  const Narrow* narrow(const Weights& w, int64_t rows);
  // Some sequences of a step: their rows and outs. Computed together, or each part by one thread.
  struct Part {
    int64_t row, rows, out, out_end;
    std::vector<Segment> segments;
  };
  struct Bench {
    Decoder decoder;
    Buffer logits, low;
  };
  std::vector<Part> divide(const Weights& w, const StepArgs& a, const std::vector<Segment>& segments) const;
  void finish_rows(const Weights& w, const Narrow* narrow, const StepArgs& a, const Part& part, Bench& bench);
  void finish_row(const Config& c, const StepArgs& a, int64_t out, const float* logits, int64_t first_draw);
  const Rope& rope(const Config& c, int64_t positions);
  void count_memory();

  Weights weights_;
  int max_len_;
  bool rounds_ = false;
  // Of the weights that these point to; null where it cannot be done exactly and need be. They do not keep the weights alive.
  std::unique_ptr<Narrow> narrow_;
  std::weak_ptr<Buffer> narrowed_live_, narrowed_frozen_;
  std::unique_ptr<Rope> rope_;  // grows with the longest sequence
  KvCache cache_;
  std::vector<Bench> parts_;
  std::vector<int64_t> first_draw_;  // of every out
  Activations acts_;
  std::atomic<size_t> activation_bytes_{0};
};

// A number that is the same for the same weights.
uint64_t checksum(const Weights& w);

}  // namespace trinity
