// The forward pass over a packed micro-batch.
#pragma once
#include <atomic>
#include <stdexcept>

#include "activations.h"
#include "ops.h"

namespace trinity {

struct Aborted : std::runtime_error {
  Aborted() : std::runtime_error("aborted") {}
};

struct Pass {
  const Weights& weights;
  const Rope& rope;
  Activations& acts;
  bool adapter = true;
  const std::atomic<bool>* abort = nullptr;

  const Layout& layout() const { return *weights.layout; }
  void check() const {
    if (abort && abort->load(std::memory_order_relaxed)) throw Aborted();
  }
};

// From acts.x[i] through layer i; `out` receives its result (null: stop before the last product, as recomputing needs).
void forward_layer(const Pass& p, const Pack& pack, int i, const float* x, float* out);
// Embedding, all layers, and the final norm of the scored rows into acts.hidden.
void forward(const Pass& p, const Pack& pack);
void attention_forward(const Pass& p, const Pack& pack, int window, LayerActs& acts);

// Numbers of every scored token, or gradients by them: log p, entropy, Σp², and log p of the pack's other tokens. The last
// two may be null.
struct TokenScores {
  float *logprob, *entropy, *squares = nullptr, *others = nullptr;
};
// acts.lse, acts.entropy and acts.squares keep what the backward pass needs.
void score_tokens(const Pass& p, const Pack& pack, const TokenScores& out);
// hidden · score + bias of every scored row
void score_values(const Pass& p, const Pack& pack, float* value);

// Rows of logits held at once: with VOCAB_CHUNK columns they stay in the cache; the whole is never stored.
constexpr int64_t LOGIT_ROWS = 2048;

}  // namespace trinity
