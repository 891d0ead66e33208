// What one packed micro-batch needs between forward and backward. Buffers only grow; rows are tokens of all sequences
// one after the other, widths padded to NR with zeros that nothing ever overwrites.
#pragma once
#include <cstdint>
#include <vector>

#include "buffer.h"
#include "experts.h"
#include "layout.h"

namespace trinity {

// Sequences packed one after the other: sequence s is tokens [starts[s], starts[s+1]). One may go on from another that
// stands before it in the pack and may itself go on from a third: what rows begin with is computed once, a tree of any depth.
struct Pack {
  std::vector<int32_t> ids, positions;
  std::vector<int64_t> starts;
  std::vector<int64_t> prefix;  // of each sequence: the one it goes on from, or -1; empty: all stand alone
  // Scored positions: which hidden row predicts, which token it must predict, and 1/temperature.
  std::vector<int64_t> rows;
  std::vector<int32_t> targets;
  std::vector<float> inv_t;
  // Other tokens whose log-probs are asked for: one of every scored position, then the next of every one.
  std::vector<int32_t> others;
  std::vector<uint8_t> again;  // of each scored position: whether an earlier one has the same hidden row

  int64_t tokens() const { return static_cast<int64_t>(ids.size()); }
  int64_t scored() const { return static_cast<int64_t>(rows.size()); }
  int64_t asked() const { return rows.empty() ? 0 : static_cast<int64_t>(others.size() / rows.size()); }
  int64_t sequences() const { return static_cast<int64_t>(starts.size()) - 1; }
  int64_t length(int64_t s) const { return starts[s + 1] - starts[s]; }
  int64_t after(int64_t s) const { return prefix.empty() ? -1 : prefix[s]; }
  // Tokens that stand before sequence s in what it goes on from.
  int64_t before(int64_t s) const { return positions[starts[s]]; }
  // Calls f(first packed token, first position, length) of sequence s and of everything that it goes on from.
  template <typename F>
  void along(int64_t s, F&& f) const {
    for (; s >= 0; s = after(s)) f(starts[s], before(s), length(s));
  }
  // Longest first: work that is dealt in this order ends with short tasks.
  std::vector<int64_t> by_length() const;
  // Each sequence that goes on from none, followed by its whole tree, each after what it goes on from; longest first.
  std::vector<std::vector<int64_t>> families() const;
};

struct LayerActs {
  Buffer rstd1, qkv, raw, q_rstd, k_rstd, attn, lse, mid, rstd2, gate_up;
  Buffer branch1, branch2, after1, after2;  // what attention and feed-forward part give, where it is normed afterward, and its rstd
  Routing routing;  // of a layer with experts
  void grow(const Layout& l, int64_t m);
  size_t bytes() const;
};

struct Activations {
  std::vector<Buffer> x;          // input of every layer, and of the final norm
  std::vector<LayerActs> layers;  // one per layer, or a single one that is computed again when checkpointing
  Buffer normed, act, final_rstd, low, rows;  // rows: inputs of experts
  // Scored rows: final hidden states, their statistics
  Buffer hidden, head_low, lse, entropy, squares, logits;  // head_low: inner activations of the head's adapter

  void grow(const Layout& l, int64_t m, int64_t scored);
  LayerActs& layer(int i) { return layers[layers.size() == 1 ? 0 : i]; }
  size_t bytes() const;
};

}  // namespace trinity
