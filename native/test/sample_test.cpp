// The sampler on random models: sequences computed in random pieces, in random company, on scattered pages, must score
// every token with the bits of the training pass. Runs under sanitizers (scripts/sanitize-native.sh).
#include <algorithm>
#include <numeric>

#include "../src/pool.h"
#include "../src/sample/sampler.h"
#include "check.h"

using namespace trinity;
using test::between;

static Config random_config() {
  Config c;
  c.kv_heads = between(1, 5);
  c.heads = c.kv_heads * (test::bits() & 1 ? 1 : between(2, 3));
  c.head_dim = 2 * between(1, 20);
  c.hidden = between(3, 50);
  c.layers = between(1, 3);
  c.inner = between(3, 50);
  c.vocab = test::bits() % 4 ? between(3, 60) : between(1020, 1030);  // around a chunk of the vocabulary
  c.max_len = 128;
  c.tied = test::bits() & 1;
  c.qkv_bias = test::bits() & 1;
  c.out_bias = test::bits() & 1;
  c.mlp_bias = test::bits() & 1;
  c.qk_norm = test::bits() & 1;
  c.trainable = test::bits() & 1;
  const int pairs = test::bits() & 1 ? c.head_dim / 2 : between(1, c.head_dim / 2);
  for (int i = 0; i < pairs; i++) c.inv_freq.push_back(1.0f / static_cast<float>(i + 1));
  if (test::bits() & 1) {
    c.near = {0};
    for (int i = 0; i < pairs; i++) c.near_freq.push_back(0.5f / static_cast<float>(i + 1));
  }
  c.norm_before = test::bits() % 4;
  c.norm_after = !c.norm_before || (test::bits() & 1);
  c.norm_unit = test::bits() & 1 ? 1.0f : 0.0f;
  c.fused = test::bits() & 1;
  c.gelu = test::bits() & 1;
  c.embed_scale = test::bits() & 1 ? 3.0f : 1.0f;
  c.attention_scale = 1.0f / std::sqrt(static_cast<float>(c.head_dim));
  c.attention_cap = test::bits() & 1 ? 0.5f : 0.0f;
  c.logit_cap = test::bits() & 1 ? 2.0f : 0.0f;
  c.experts = between(1, 6);
  c.active = between(1, c.experts);
  c.expert_inner = between(3, 40);
  c.norm_active = test::bits() & 1;
  // No norm is behind experts.
  for (int i = 0; i < c.layers && !c.norm_after; i++)
    if (test::bits() & 1) c.sparse.push_back(i);
  for (int i = 0; i < c.layers; i++) c.windows.push_back(test::bits() & 1 ? between(1, 40) : 0);
  return c;
}

// Values with all their bits, or exact in bfloat16 or half precision (subnormal ones too).
static Weights random_weights(const Config& c) {
  auto layout = std::make_shared<const Layout>(c);
  Weights w = Weights::allocate(layout);
  const int kind = between(0, 2);
  for (const Param& p : layout->params) {
    std::vector<float> values(p.rows * p.cols);
    for (float& v : values) {
      v = test::uniform() * 0.5f;
      if (kind == 1) v = std::round(v * 128) / 128;
      if (kind == 2) v = test::bits() % 9 ? std::round(v * 1024) / 1024 : std::round(v * 32) * 0x1p-24f;
    }
    pack_param(p, layout->nr, values.data(), w.writable(p.at));
  }
  return w;
}

struct Sequence {
  std::vector<int32_t> tokens, pages;
  int32_t done = 0;
  std::vector<float> scores;
};

static void step(Sampler& sampler, const Weights& w, std::vector<Sequence>& all, const std::vector<int>& chosen) {
  std::vector<int32_t> ids, segments, pages, outs, draws, banned{0}, tokens, top_tokens;
  std::vector<float> floats;
  int32_t row = 0, top = 0;
  const int32_t vocab = w.layout->config.vocab;
  // Of every 32 tokens the upper half may be drawn, and the first two.
  const std::vector<int32_t> biased{vocab - 1}, allowed((vocab + 31) / 32, static_cast<int32_t>(0xffff0003u));
  const std::vector<float> bias{2.0f};
  for (int s : chosen) {
    Sequence& q = all[s];
    const int32_t left = static_cast<int32_t>(q.tokens.size()) - q.done;
    const int32_t rows = test::bits() & 1 ? 1 : between(1, std::min(left, 90));
    segments.insert(segments.end(), {rows, q.done, static_cast<int32_t>(pages.size()), static_cast<int32_t>(q.pages.size())});
    pages.insert(pages.end(), q.pages.begin(), q.pages.end());
    for (int32_t i = 0; i < rows; i++, row++) {
      const size_t next = q.done + i + 1;
      ids.push_back(q.tokens[q.done + i]);
      outs.insert(outs.end(), {row, next < q.tokens.size() ? q.tokens[next] : -1});
    }
    const int32_t out = static_cast<int32_t>(outs.size() / OUT_INTS) - 1, count = between(0, std::min(4, vocab));
    const int32_t top_k = between(0, 3), bans = vocab > 1 ? between(0, 1) : 0;
    draws.insert(draws.end(), {out, between(0, 1), top_k, between(0, 99), 0, s, q.done, 0, between(0, 1), 0, bans, top, count,
                               0, between(0, 1), between(-1, 0)});
    const auto either = [](float a, float b) { return test::bits() & 1 ? a : b; };
    floats.insert(floats.end(), {either(1, 0.6f), either(0, 0.1f), either(1, 1.3f), either(0, 0.7f), either(0, -0.4f)});
    top += count;
  }
  const int64_t n_outs = static_cast<int64_t>(outs.size()) / OUT_INTS, n_draws = static_cast<int64_t>(chosen.size());
  std::vector<float> inv_t(n_outs, 1.25f), scores(n_outs), logprobs(n_draws), drawn(n_draws), top_logprobs(top);
  tokens.resize(n_draws);
  top_tokens.resize(top);
  const std::vector<int32_t> history{vocab - 1};
  StepArgs a{row, n_draws, static_cast<int64_t>(pages.size()), 0, n_outs, n_draws, 1, 1, top, 1,
             static_cast<int64_t>(allowed.size()),
             ids.data(), segments.data(), pages.data(), nullptr, outs.data(), draws.data(), history.data(), banned.data(),
             biased.data(), allowed.data(), inv_t.data(), floats.data(), bias.data(), scores.data(), logprobs.data(), drawn.data(), top_logprobs.data(),
             tokens.data(), top_tokens.data()};
  sampler.step(w, a);
  int64_t out = 0;
  for (int64_t i = 0; i < n_draws; i++) {
    Sequence& q = all[chosen[i]];
    for (int32_t r = 0; r < segments[SEGMENT_INTS * i]; r++, out++) q.scores.push_back(scores[out]);
    q.done += segments[SEGMENT_INTS * i];
    const int32_t* d = draws.data() + DRAW_INTS * i;
    test::near("a token of the vocabulary", tokens[i] >= 0 && tokens[i] < vocab, 1, 0);
    test::near("a banned token", d[10] && tokens[i] == 0, 0, 0);
    const uint32_t word = static_cast<uint32_t>(allowed[tokens[i] / 32]);
    test::near("a token that may be drawn", d[15] < 0 || (word >> (tokens[i] % 32) & 1), 1, 0);
    for (int32_t j = 1; j < d[12]; j++) test::near("best first", top_logprobs[d[11] + j] <= top_logprobs[d[11] + j - 1], 1, 0);
  }
}

// Every token of every sequence, in random pieces and company.
static void sample_all(Sampler& sampler, const Weights& w, std::vector<Sequence>& all) {
  for (;;) {
    std::vector<int> chosen, open;
    for (int s = 0; s < static_cast<int>(all.size()); s++)
      if (all[s].done < static_cast<int32_t>(all[s].tokens.size())) open.push_back(s);
    if (open.empty()) break;
    for (int s : open)
      if (test::bits() % 3) chosen.push_back(s);
    if (chosen.empty()) chosen.push_back(open[0]);
    step(sampler, w, all, chosen);
  }
}

// Near what 32 bits give, and the same bits in other pieces and company.
static void in_bfloat16(const Weights& w, const std::vector<Sequence>& exact) {
  std::vector<Sequence> all[2] = {exact, exact};
  for (std::vector<Sequence>& again : all) {
    Sampler sampler(w, static_cast<int>(exact.size()) * 4, w.layout->config.max_len);
    sampler.use_bfloat16();
    for (Sequence& q : again) q.done = 0, q.scores.clear();
    sample_all(sampler, w, again);
  }
  const bool routed = !w.layout->config.sparse.empty();  // a token that goes to another expert is far off
  for (size_t s = 0; s < exact.size(); s++)
    for (size_t i = 0; i + 1 < exact[s].tokens.size(); i++) {
      test::same("in bfloat16, in other company", all[0][s].scores[i], all[1][s].scores[i]);
      if (!routed) test::near("in bfloat16", all[0][s].scores[i], exact[s].scores[i], 0.25);
    }
}

// `many`: enough rows in a step that every thread takes some of the sequences through all of it.
static void sequences(bool many) {
  const Config c = random_config();
  const Weights w = random_weights(c);
  const int count = many ? between(110, 150) : between(1, 5);
  std::vector<Sequence> all(count);
  std::vector<int32_t> pages(count * 4);
  std::iota(pages.begin(), pages.end(), 0);
  for (size_t i = pages.size(); i-- > 1;) std::swap(pages[i], pages[test::bits() % (i + 1)]);
  Pack pack;
  pack.starts.push_back(0);
  for (Sequence& q : all) {
    const int32_t length = many && test::bits() % 16 ? between(2, 5) : between(2, 100);
    for (int32_t i = 0; i < length; i++) {
      q.tokens.push_back(between(0, c.vocab - 1));
      pack.ids.push_back(q.tokens[i]);
      pack.positions.push_back(i);
      if (i == 0) continue;
      pack.rows.push_back(pack.starts.back() + i - 1);
      pack.targets.push_back(q.tokens[i]);
      pack.inv_t.push_back(1.25f);
    }
    for (int32_t i = 0; i * KEYS < length; i++) q.pages.push_back(pages.back()), pages.pop_back();
    pack.starts.push_back(pack.starts.back() + length);
  }
  Sampler sampler(w, count * 4, c.max_len);
  sample_all(sampler, w, all);
  std::vector<float> logprob(pack.scored()), entropy(pack.scored());
  sampler.score(w, pack, logprob.data(), entropy.data());
  size_t at = 0;
  for (const Sequence& q : all)
    for (size_t i = 0; i + 1 < q.tokens.size(); i++) test::same("sampled and trained", q.scores[i], logprob[at++]);
  in_bfloat16(w, all);
}

int main() {
  set_pool_threads(3);
  for (int i = 0; i < 60; i++) sequences(i % 6 == 5);
  std::printf("sampler, %s: %d failures\n", kernels().name, test::failures());
  return test::failures() ? 1 : 0;
}
