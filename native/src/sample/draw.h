// Drawing one token from a row of logits.
#pragma once
#include <cstdint>
#include <vector>

#include "../kernels.h"

namespace trinity {

struct DrawParams {
  bool greedy;
  float inv_t, top_p, min_p, penalty, presence, frequency;
  int32_t top_k;  // 0: off
  uint64_t seed;
  int32_t index, position;  // the stream, and how far it is
  const int32_t* history;   // tokens that penalties apply to; the last `position` of them were drawn
  int32_t history_count;
  const int32_t* banned;
  int32_t banned_count;
  const int32_t* biased;
  const float* bias;
  int32_t biased_count;
  const uint32_t* allowed;  // a bit for every token; null: all
};

struct Drawn {
  int32_t token;         // -1: the logits are not finite; -2: nothing may be drawn
  float logprob, drawn;  // under the model; under what it was drawn from
};

// log softmax(logits / T) of one token, from the statistics of its row.
float log_prob(float logit, float inv_t, const SoftmaxState& state);

// Uniform in [0, 1): a pure function, so that a draw depends on nothing but its own place.
double uniform(uint64_t seed, int32_t index, int32_t position);

// The order is: bias, penalties (repetition, frequency, presence) and bans on the logits, temperature, min-p, top-k, top-p
// (on what top-k left).
class Drawer {
 public:
  Drawn draw(const float* logits, int64_t vocab, const SoftmaxState& state, const DrawParams& p);
  // The `count` likeliest tokens, best first; equal ones by id.
  void top(const float* logits, int64_t vocab, const SoftmaxState& state, float inv_t, int32_t count, int32_t* tokens,
           float* logprobs);

 private:
  struct Candidate {
    float weight;
    int32_t token;
  };
  static bool likelier(const Candidate& a, const Candidate& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.token < b.token;
  }
  const float* adjust(const float* logits, int64_t vocab, const DrawParams& p);
  void penalize_drawn(const DrawParams& p);
  int32_t from_all(int64_t vocab, double u, double* total) const;
  int32_t from_some(int64_t vocab, const DrawParams& p, double u, double* total);

  std::vector<float> row_, weights_, sums_;
  std::vector<int32_t> seen_;  // how often; all 0 between two draws
  std::vector<Candidate> kept_;
};

}  // namespace trinity
