// Heads on the scored rows: the vocabulary in chunks, or one number per row.
#include <algorithm>
#include <cmath>

#include "backward.h"
#include "kernels.h"

namespace trinity {
namespace {

// The head's adapter, or null; its inner activations of all scored rows are then in acts.head_low.
const Lora* head_adapter(const Pass& p, const Pack& pack) {
  const Layout& l = p.layout();
  if (!p.adapter || l.head_lora.empty()) return nullptr;
  const Lora& part = l.head_lora[0];
  p.acts.head_low.grow(pack.scored() * part.rank_p);
  adapter_low(p.weights, part, l.config.hidden, p.acts.hidden.data(), l.hidden_p, pack.scored(), p.acts.head_low.data());
  return &part;
}

// Logits of `n` scored rows over one chunk of the vocabulary.
void logits_of(const Pass& p, const Lora* lora, int64_t row, int64_t n, int64_t column, int64_t width) {
  const Panels all = vocabulary(p.weights);
  Activations& a = p.acts;
  const int64_t hp = p.layout().hidden_p;
  linear(a.hidden.data() + row * hp, hp, n, {all.data + column * all.k, width, all.k}, a.logits.data(), VOCAB_CHUNK, false);
  if (lora)
    linear(a.head_low.data() + row * lora->rank_p, lora->rank_p, n, adapter_out(p.weights, *lora, column, width),
           a.logits.data(), VOCAB_CHUNK, true);
  if (p.layout().config.logit_cap == 0) return;
  parallel_rows(n, 8, [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; r++) cap_logits(p.layout().config, a.logits.data() + r * VOCAB_CHUNK, width);
  });
}

// Gradients of capped logits to those of the logits, `capped` being the values.
void cap_back(float cap, const float* capped, int64_t n, float* d) {
  for (int64_t i = 0; i < n; i++) d[i] *= 1 - capped[i] / cap * (capped[i] / cap);
}

// Sums over the chunks of the vocabulary are taken apart: in one chain over all of it the small terms are lost.
void add_rows(const float* chunk, float* sum, int64_t n, int64_t width) {
  parallel_rows(n, 64, [&](int64_t first, int64_t last) {
    kernels().axpy(1.0f, chunk + first * width, sum + first * width, (last - first) * width);
  });
}

}  // namespace

void score_tokens(const Pass& p, const Pack& pack, const TokenScores& out) {
  const Layout& l = p.layout();
  Activations& a = p.acts;
  const Panels all = vocabulary(p.weights);
  a.logits.grow(std::min(LOGIT_ROWS, pack.scored()) * VOCAB_CHUNK);
  a.lse.grow(pack.scored());
  a.entropy.grow(pack.scored());
  a.squares.grow(pack.scored());
  const int64_t asked = out.others ? pack.asked() : 0;
  const Lora* lora = head_adapter(p, pack);
  for (int64_t r0 = 0; r0 < pack.scored(); r0 += LOGIT_ROWS) {
    const int64_t n = std::min(LOGIT_ROWS, pack.scored() - r0);
    std::vector<SoftmaxState> state(n);
    for (int64_t v0 = 0; v0 < l.config.vocab; v0 += VOCAB_CHUNK) {
      p.check();
      const int64_t width = std::min<int64_t>(VOCAB_CHUNK, all.n - v0);
      const int64_t real = std::min<int64_t>(VOCAB_CHUNK, l.config.vocab - v0);
      logits_of(p, lora, r0, n, v0, width);
      parallel_rows(n, 8, [&](int64_t first, int64_t last) {
        for (int64_t r = first; r < last; r++) {
          const float* row = a.logits.data() + r * VOCAB_CHUNK;
          const float inv_t = pack.inv_t[r0 + r];
          kernels().softmax_fold(row, real, inv_t, &state[r]);
          const auto take = [&](int32_t id, float* into) {
            if (id >= v0 && id < v0 + real) *into = row[id - v0] * inv_t;
          };
          take(pack.targets[r0 + r], out.logprob + r0 + r);
          for (int64_t at = r0 + r; at < asked * pack.scored(); at += pack.scored()) take(pack.others[at], out.others + at);
        }
      });
    }
    for (int64_t r = 0; r < n; r++) {
      const SoftmaxState& s = state[r];
      const float mass = log_sum(s), lse = s.max + mass;
      a.lse[r0 + r] = lse;
      a.entropy[r0 + r] = mass - s.weighted / s.sum;
      a.squares[r0 + r] = s.squares / s.sum / s.sum;
      // In this order it is never above zero, and exact near it.
      const auto settle = [&](float* logit) { *logit = (*logit - s.max) - mass; };
      settle(out.logprob + r0 + r);
      for (int64_t at = r0 + r; at < asked * pack.scored(); at += pack.scored()) settle(out.others + at);
      out.entropy[r0 + r] = a.entropy[r0 + r];
      if (out.squares) out.squares[r0 + r] = a.squares[r0 + r];
    }
  }
}

void score_values(const Pass& p, const Pack& pack, float* value) {
  const Layout& l = p.layout();
  const float* w = p.weights.at(l.score);
  const float bias = l.score_bias ? *p.weights.at(l.score_bias) : 0.0f;
  for (int64_t r = 0; r < pack.scored(); r++)
    value[r] = kernels().dot(p.acts.hidden.data() + r * l.hidden_p, w, l.config.hidden) + bias;
}

void score_tokens_back(const Back& b, const Pack& pack, const TokenScores& d) {
  const Pass& p = b.pass;
  const Layout& l = p.layout();
  Activations& a = p.acts;
  const Panels all = vocabulary(p.weights);
  const int64_t hp = l.hidden_p;
  b.g.grow(l, pack.tokens(), pack.scored());
  const int64_t asked = d.others ? pack.asked() : 0;
  // Free until the layers need it.
  Buffer& chunk = b.g.dnorm;
  chunk.grow(std::min(LOGIT_ROWS, pack.scored()) * hp);
  const Lora* lora = head_adapter(p, pack);
  const int64_t rank_p = lora ? lora->rank_p : 0;
  // The adapter's inner gradients of all rows, and room for those of a chunk.
  b.g.dlow.grow((pack.scored() + LOGIT_ROWS) * rank_p);
  float* low_chunk = b.g.dlow.data() + pack.scored() * rank_p;
  for (int64_t v0 = 0; v0 < l.config.vocab; v0 += VOCAB_CHUNK) {
    const int64_t width = std::min<int64_t>(VOCAB_CHUNK, all.n - v0);
    const int64_t real = std::min<int64_t>(VOCAB_CHUNK, l.config.vocab - v0);
    const Panels part{all.data + v0 * all.k, width, all.k};
    for (int64_t r0 = 0; r0 < pack.scored(); r0 += LOGIT_ROWS) {
      p.check();
      const int64_t n = std::min(LOGIT_ROWS, pack.scored() - r0);
      const float* hidden = a.hidden.data() + r0 * hp;
      logits_of(p, lora, r0, n, v0, width);
      parallel_rows(n, 8, [&](int64_t first, int64_t last) {
        std::vector<float> capped;
        for (int64_t i = first; i < last; i++) {
          float* row = a.logits.data() + i * VOCAB_CHUNK;
          if (l.config.logit_cap > 0) capped.assign(row, row + real);
          const int64_t r = r0 + i, end = asked * pack.scored();
          const float inv_t = pack.inv_t[r];
          float together = d.logprob[r];
          for (int64_t at = r; at < end; at += pack.scored()) together += d.others[at];
          kernels().softmax_back(row, real, inv_t,
                                 {a.lse[r], a.entropy[r], a.squares[r], together, d.entropy[r], d.squares ? d.squares[r] : 0});
          const auto give = [&](int32_t id, float g) {
            if (id >= v0 && id < v0 + real) row[id - v0] += g * inv_t;
          };
          give(pack.targets[r], d.logprob[r]);
          for (int64_t at = r; at < end; at += pack.scored()) give(pack.others[at], d.others[at]);
          if (l.config.logit_cap > 0) cap_back(l.config.logit_cap, capped.data(), real, row);
          std::fill(row + real, row + width, 0.0f);
        }
      });
      float* sum = b.g.dhidden.data() + r0 * hp;
      linear_input_grad(a.logits.data(), VOCAB_CHUNK, n, part, v0 > 0 ? chunk.data() : sum, hp, false, b.g.packed);
      if (v0 > 0) add_rows(chunk.data(), sum, n, hp);
      if (lora) {
        float* low = b.g.dlow.data() + r0 * rank_p;
        linear_input_grad(a.logits.data(), VOCAB_CHUNK, n, adapter_out(p.weights, *lora, v0, width), v0 > 0 ? low_chunk : low,
                          rank_p, false, b.g.packed);
        if (v0 > 0) add_rows(low_chunk, low, n, rank_p);
        linear_weight_grad(a.logits.data(), VOCAB_CHUNK, a.head_low.data() + r0 * rank_p, rank_p, n, width, lora->rank,
                           b.of(lora->b) + v0 * lora->rank, b.g.packed);
      }
      if (b.wants(l.lm_head))
        linear_weight_grad(a.logits.data(), VOCAB_CHUNK, hidden, hp, n, width, all.k, b.of(l.lm_head) + v0 * all.k,
                           b.g.packed);
    }
  }
  if (!lora) return;
  kernels().scale(lora->scale, b.g.dlow.data(), pack.scored() * rank_p);
  linear_input_grad(b.g.dlow.data(), rank_p, pack.scored(), {p.weights.at(lora->a), rank_p, all.k}, b.g.dhidden.data(), hp,
                    true, b.g.packed);
  linear_weight_grad(b.g.dlow.data(), rank_p, a.hidden.data(), hp, pack.scored(), rank_p, all.k, b.of(lora->a), b.g.packed);
}

void score_values_back(const Back& b, const Pack& pack, const float* d_value) {
  const Layout& l = b.pass.layout();
  const Kernels& k = kernels();
  const float* w = b.pass.weights.at(l.score);
  b.g.grow(l, pack.tokens(), pack.scored());
  for (int64_t r = 0; r < pack.scored(); r++) {
    float* d = b.g.dhidden.data() + r * l.hidden_p;
    std::fill(d, d + l.hidden_p, 0.0f);
    k.axpy(d_value[r], w, d, l.config.hidden);
    if (b.wants(l.score)) k.axpy(d_value[r], b.pass.acts.hidden.data() + r * l.hidden_p, b.of(l.score), l.config.hidden);
    if (b.wants(l.score_bias)) *b.of(l.score_bias) += d_value[r];
  }
}

}  // namespace trinity
