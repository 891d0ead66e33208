// The forward pass of a sampling step: rows of many sequences at once, one new token each or a piece of a prompt, with
// what came before in the cache. Built from the steps of the training pass, so that the numbers are the same bits.
#pragma once
#include "../experts.h"
#include "../ops.h"
#include "cache.h"
#include "narrow.h"

namespace trinity {

// Rows [first, first + rows) are positions [start, start + rows) of one sequence; its page i holds positions from
// i * KEYS on.
struct Segment {
  int64_t first;
  int32_t rows, start;
  const int32_t* pages;
};

class Decoder {
 public:
  // `narrow`: the same weights at half the width, or null. Leaves the normalized last hidden states of `wanted` rows in hidden().
  void run(const Weights& w, const Narrow* narrow, const Rope& rope, KvCache& cache, const std::vector<Segment>& segments,
           const int32_t* ids, int64_t m, const std::vector<int32_t>& wanted);
  const float* hidden() const { return hidden_.data(); }
  size_t bytes() const;

 private:
  // Some queries of one segment against one key/value head; or one query of each of some heads that have their keys for
  // themselves, in some segments of a row.
  struct Task {
    int32_t segment, kv, first, rows, heads, segments;
  };
  void plan(const Layout& l, const std::vector<Segment>& segments);
  void store(const Layout& l, KvCache& cache, int layer, int kv, int64_t first, int64_t count);
  void attend_alone(const Layout& l, KvCache& cache, int layer, const std::vector<Segment>& segments, const Task& task);
  void attend(const Layout& l, KvCache& cache, int layer, const std::vector<Segment>& segments);

  Buffer x_, normed_, branch_, qkv_, attn_, gate_up_, act_, low_, rows_, hidden_;
  Routing routing_;
  std::vector<int32_t> positions_, page_;  // of every row
  std::vector<Task> tasks_;
};

}  // namespace trinity
