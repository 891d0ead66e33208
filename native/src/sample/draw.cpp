#include "draw.h"

#include <algorithm>
#include <cmath>

namespace trinity {
namespace {

uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace

float log_prob(float logit, float inv_t, const SoftmaxState& state) {
  // As scoring for training writes it: the product is rounded before the difference, also where the compiler fuses.
  volatile float scaled = logit * inv_t;
  return (scaled - state.max) - log_sum(state);
}

double uniform(uint64_t seed, int32_t index, int32_t position) {
  const uint64_t stream = mix(mix(seed) + static_cast<uint32_t>(index));
  return static_cast<double>(mix(stream + static_cast<uint32_t>(position)) >> 11) * 0x1.0p-53;
}

const float* Drawer::adjust(const float* logits, int64_t vocab, const DrawParams& p) {
  const bool counted = p.presence != 0 || p.frequency != 0;
  if (p.penalty == 1.0f && !counted && p.biased_count == 0 && p.banned_count == 0 && !p.allowed) return logits;
  row_.assign(logits, logits + vocab);
  for (int32_t i = 0; i < p.biased_count; i++) row_[p.biased[i]] += p.bias[i];
  seen_.resize(vocab, 0);
  if (p.penalty != 1.0f) {
    for (int32_t i = 0; i < p.history_count; i++) {
      const int32_t t = p.history[i];
      if (seen_[t]) continue;
      seen_[t] = 1;
      row_[t] = row_[t] > 0 ? row_[t] / p.penalty : row_[t] * p.penalty;
    }
    for (int32_t i = 0; i < p.history_count; i++) seen_[p.history[i]] = 0;
  }
  if (counted) penalize_drawn(p);
  for (int32_t i = 0; i < p.banned_count; i++) row_[p.banned[i]] = -INFINITY;
  if (p.allowed)
    for (int64_t t = 0; t < vocab; t++)
      if (!(p.allowed[t / 32] >> (t % 32) & 1)) row_[t] = -INFINITY;
  return row_.data();
}

void Drawer::penalize_drawn(const DrawParams& p) {
  const int32_t first = p.history_count - std::min(p.history_count, p.position);
  for (int32_t i = first; i < p.history_count; i++) seen_[p.history[i]]++;
  for (int32_t i = first; i < p.history_count; i++) {
    const int32_t t = p.history[i];
    if (seen_[t] == 0) continue;
    row_[t] -= p.frequency * static_cast<float>(seen_[t]);
    row_[t] -= p.presence;
    seen_[t] = 0;
  }
}

int32_t Drawer::from_all(int64_t vocab, double u, double* total) const {
  double all = 0;
  for (float s : sums_) all += s;
  *total = all;
  double left = u * all;
  int64_t block = 0;
  const int64_t last = static_cast<int64_t>(sums_.size()) - 1;
  while (block < last && left >= sums_[block]) left -= sums_[block++];
  // Rounding may leave a little past the end: then the last possible token before it is meant.
  int32_t token = -1;
  for (int64_t i = block * DRAW_BLOCK; i < std::min(vocab, (block + 1) * DRAW_BLOCK); i++) {
    if (weights_[i] <= 0) continue;
    token = static_cast<int32_t>(i);
    left -= weights_[i];
    if (left < 0) return token;
  }
  for (int64_t i = block * DRAW_BLOCK; token < 0 && i-- > 0;)
    if (weights_[i] > 0) token = static_cast<int32_t>(i);
  return token;
}

int32_t Drawer::from_some(int64_t vocab, const DrawParams& p, double u, double* total) {
  kept_.clear();
  // The peak has weight 1, so min-p is a plain bound.
  const float least = std::max(p.min_p, 1e-37f);
  for (int64_t i = 0; i < vocab; i++)
    if (weights_[i] >= least) kept_.push_back({weights_[i], static_cast<int32_t>(i)});
  if (p.top_k > 0 && static_cast<size_t>(p.top_k) < kept_.size()) {
    std::nth_element(kept_.begin(), kept_.begin() + p.top_k - 1, kept_.end(), likelier);
    kept_.resize(p.top_k);
  }
  double sum = 0;
  for (const Candidate& c : kept_) sum += c.weight;
  if (p.top_p < 1.0f) {
    const double bound = p.top_p * sum;
    // Tokens below this make up less than 1 - top_p together: the nucleus lies among the others.
    const double tail = (sum - bound) / static_cast<double>(kept_.size());
    kept_.erase(std::remove_if(kept_.begin(), kept_.end(), [&](const Candidate& c) { return c.weight < tail; }), kept_.end());
    const auto less = [](const Candidate& a, const Candidate& b) { return likelier(b, a); };
    std::make_heap(kept_.begin(), kept_.end(), less);
    auto end = kept_.end();
    for (sum = 0; end != kept_.begin();) {
      std::pop_heap(kept_.begin(), end, less);
      sum += (--end)->weight;
      if (sum >= bound) break;
    }
    kept_.erase(kept_.begin(), end);
  }
  *total = sum;
  double left = u * sum;
  for (const Candidate& c : kept_) {
    left -= c.weight;
    if (left < 0) return c.token;
  }
  return kept_.empty() ? -1 : kept_.back().token;
}

Drawn Drawer::draw(const float* logits, int64_t vocab, const SoftmaxState& state, const DrawParams& p) {
  const Drawn broken{-1, NAN, NAN}, nothing{-2, NAN, NAN};
  if (!std::isfinite(state.max + log_sum(state))) return broken;
  const float* scores = adjust(logits, vocab, p);
  Drawn out = broken;
  if (p.greedy) {
    out.token = static_cast<int32_t>(std::max_element(scores, scores + vocab) - scores);
    if (scores[out.token] == -INFINITY) return nothing;
    out.drawn = 0;
  } else {
    const float peak = scores == logits ? state.max : *std::max_element(scores, scores + vocab) * p.inv_t;
    if (peak == -INFINITY) return nothing;
    if (!std::isfinite(peak)) return broken;
    weights_.resize(vocab);
    sums_.resize((vocab + DRAW_BLOCK - 1) / DRAW_BLOCK);
    kernels().exp_blocks(scores, vocab, p.inv_t, peak, weights_.data(), sums_.data());
    const double u = uniform(p.seed, p.index, p.position);
    const bool some = p.min_p > 0 || p.top_k > 0 || p.top_p < 1.0f;
    double total;
    out.token = some ? from_some(vocab, p, u, &total) : from_all(vocab, u, &total);
    if (out.token < 0) return broken;
    out.drawn = static_cast<float>(std::log(weights_[out.token] / total));
  }
  out.logprob = log_prob(logits[out.token], p.inv_t, state);
  return out;
}

void Drawer::top(const float* logits, int64_t vocab, const SoftmaxState& state, float inv_t, int32_t count, int32_t* tokens,
                 float* logprobs) {
  kept_.clear();
  for (int64_t i = 0; i < vocab; i++) {
    const Candidate c{logits[i], static_cast<int32_t>(i)};
    if (kept_.size() < static_cast<size_t>(count)) {
      kept_.push_back(c);
      std::push_heap(kept_.begin(), kept_.end(), likelier);
    } else if (likelier(c, kept_.front())) {
      std::pop_heap(kept_.begin(), kept_.end(), likelier);
      kept_.back() = c;
      std::push_heap(kept_.begin(), kept_.end(), likelier);
    }
  }
  std::sort_heap(kept_.begin(), kept_.end(), likelier);
  for (int32_t i = 0; i < count; i++) {
    tokens[i] = kept_[i].token;
    logprobs[i] = log_prob(kept_[i].weight, inv_t, state);
  }
}

}  // namespace trinity
