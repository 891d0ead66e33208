#include "sampler.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "../pool.h"

namespace trinity {

// Logits held at once; more rows are computed in turns.
constexpr int64_t LOGIT_FLOATS = 4 << 20;
// Most rows of a step that reads weights in 16 bits.
constexpr int64_t NARROW_ROWS = 128;
// Weights (bytes) that every thread may read on its own: they stay in the cache that the cores share.
constexpr size_t SHARED_WEIGHTS = 24 << 20;
// Rows of a part of a step: what they compute fits the cache of a core. With fewer than the least for each thread, weights
// are better read together.
constexpr int64_t PART_ROWS = 96, PART_LEAST = 24;

Sampler::Sampler(const Weights& weights, int pages, int max_len)
    : weights_(weights), max_len_(max_len), cache_(*weights.layout, pages) {
  if (!weights.layout->lm_head) throw std::invalid_argument("the model has no language-model head");
}

void Sampler::check_fit(const Weights& next) const {
  const bool same = weights_.layout->config.same_shape(next.layout->config);
  if (!same || !next.layout->lm_head) throw std::invalid_argument("the weights belong to a model of another shape");
}

void Sampler::adopt(const Weights& next) {
  check_fit(next);
  weights_ = next;
}

const Rope& Sampler::rope(const Config& c, int64_t positions) {
  if (!rope_ || rope_->positions() < positions) {
    const int64_t size = std::min<int64_t>(max_len_, std::max<int64_t>(1024, 2 * positions));
    rope_ = std::make_unique<Rope>(c, static_cast<int>(std::max(size, positions)));
  }
  return *rope_;
}

static void expect(bool fine, const char* what) {
  if (!fine) throw std::invalid_argument(what);
}
static bool within(int64_t at, int64_t count, int64_t size) { return at >= 0 && count >= 0 && at <= size - count; }

// The scheduler is trusted to be right, but a mistake in it must not write past the end of memory.
void Sampler::check(const Config& c, const StepArgs& a) const {
  const auto in_vocab = [&](const int32_t* ids, int64_t n) {
    return std::all_of(ids, ids + n, [&](int32_t id) { return id >= 0 && id < c.vocab; });
  };
  const auto is_page = [&](int32_t p) { return p >= 0 && p < cache_.pages(); };
  expect(in_vocab(a.ids, a.rows) && in_vocab(a.history, a.history_count) && in_vocab(a.banned, a.banned_count) &&
             in_vocab(a.biased, a.bias_count), "token id out of range");
  expect(std::all_of(a.pages, a.pages + a.page_count, is_page), "page out of range");
  expect(std::all_of(a.copies, a.copies + 2 * a.copy_count, is_page), "page out of range");
  for (int64_t i = 0; i < a.out_count; i++) {
    expect(within(a.outs[OUT_INTS * i], 1, a.rows) && a.outs[OUT_INTS * i + 1] < c.vocab, "row out of range");
  }
  int32_t out = 0;
  for (int64_t i = 0; i < a.draw_count; i++) {
    const int32_t* d = a.draws + DRAW_INTS * i;
    expect(d[0] >= out && d[0] < a.out_count, "draws are out of order");
    out = d[0];
    expect(within(d[7], d[8], a.history_count) && within(d[9], d[10], a.banned_count) && within(d[11], d[12], a.top_count) &&
               d[12] <= c.vocab && within(d[13], d[14], a.bias_count), "draw out of range");
    expect(d[15] == -1 || within(d[15], (c.vocab + 31) / 32, a.allowed_count), "mask out of range");
  }
}

std::vector<Segment> Sampler::read_segments(const StepArgs& a) const {
  std::vector<Segment> segments;
  int64_t first = 0;
  for (int64_t i = 0; i < a.segment_count; i++) {
    const int32_t* s = a.segments + SEGMENT_INTS * i;
    expect(s[0] > 0 && s[1] >= 0 && s[1] <= max_len_ - s[0] && within(s[2], s[3], a.page_count), "segment out of range");
    expect(static_cast<int64_t>(s[3]) * KEYS >= s[1] + s[0], "a segment has too few pages");
    segments.push_back({first, s[0], s[1], a.pages + s[2]});
    first += s[0];
  }
  expect(first == a.rows, "segments do not add up");
  return segments;
}

void Sampler::step(const Weights& w, const StepArgs& a) {
  const Config& c = w.layout->config;
  check(c, a);
  const std::vector<Segment> segments = read_segments(a);
  int64_t longest = 1;
  for (const Segment& s : segments) longest = std::max<int64_t>(longest, s.start + s.rows);
  cache_.touch(a.pages, a.page_count);
  cache_.touch(a.copies, 2 * a.copy_count);
  parallel_for(static_cast<int>(a.copy_count), [&](int i) { cache_.copy(a.copies[2 * i], a.copies[2 * i + 1]); });
  first_draw_.assign(a.out_count + 1, a.draw_count);
  for (int64_t i = a.draw_count; i-- > 0;) first_draw_[a.draws[DRAW_INTS * i]] = i;
  const Narrow* half = narrow(w, a.rows);
  const Rope& angles = rope(c, longest);
  const std::vector<Part> parts = divide(w, a, segments);
  if (parts_.size() < parts.size()) parts_.resize(parts.size());
  const auto compute = [&](int i) {
    const Part& part = parts[i];
    Bench& bench = parts_[i];
    std::vector<int32_t> wanted;
    for (int64_t o = part.out; o < part.out_end; o++) wanted.push_back(a.outs[OUT_INTS * o] - static_cast<int32_t>(part.row));
    bench.decoder.run(w, half, angles, cache_, part.segments, a.ids + part.row, part.rows, wanted);
    finish_rows(w, half, a, part, bench);
  };
  if (parts.size() == 1) {
    compute(0);
  } else {
    parallel_for(static_cast<int>(parts.size()), [&](int i) {
      const Alone scope;
      compute(i);
    });
  }
  count_memory();
}

// A small model with many rows: every thread takes some of the sequences through the whole step. Nobody waits for anybody
// between two products, and what a thread has computed is in its own cache. A row's numbers do not depend on its company.
std::vector<Sampler::Part> Sampler::divide(const Weights& w, const StepArgs& a, const std::vector<Segment>& segments) const {
  const int64_t threads = pool_threads();
  Part whole{0, a.rows, 0, a.out_count, segments};
  if (threads == 1 || w.bytes() > SHARED_WEIGHTS || a.rows < threads * PART_LEAST) return {whole};
  for (int64_t o = 1; o < a.out_count; o++)
    if (a.outs[OUT_INTS * o] < a.outs[OUT_INTS * (o - 1)]) return {whole};
  const int64_t count = pad_to((a.rows + PART_ROWS - 1) / PART_ROWS, threads);
  std::vector<Part> parts;
  int64_t out = 0;
  for (const Segment& segment : segments) {
    // Where the share of those before ends, the next one begins.
    const int64_t share = segment.first * count / a.rows;
    if (parts.empty() || share >= static_cast<int64_t>(parts.size())) parts.push_back({segment.first, 0, out, out, {}});
    Part& part = parts.back();
    part.segments.push_back({part.rows, segment.rows, segment.start, segment.pages});
    part.rows += segment.rows;
    while (out < a.out_count && a.outs[OUT_INTS * out] < part.row + part.rows) out++;
    part.out_end = out;
  }
  // A sequence with a long piece of prompt would keep one thread busy and the others waiting.
  for (const Part& part : parts)
    if (part.rows * 4 > a.rows * 5 / threads) return {whole};
  return parts;
}

const Narrow* Sampler::narrow(const Weights& w, int64_t rows) {
  const bool known = narrowed_live_.lock() == w.live && narrowed_frozen_.lock() == w.frozen;
  if (!known) narrow_ = nullptr;
  // With many rows the product takes longer than the reading.
  if (!rounds_ && rows > NARROW_ROWS) return nullptr;
  if (!known) {
    narrow_ = rounds_ ? Narrow::round(w) : Narrow::copy(w);
    narrowed_live_ = w.live;
    narrowed_frozen_ = w.frozen;
  }
  return narrow_.get();
}

void Sampler::finish_rows(const Weights& w, const Narrow* narrow, const StepArgs& a, const Part& part, Bench& bench) {
  const Layout& l = *w.layout;
  const Panels all = narrow ? narrow->of(vocabulary(w)) : vocabulary(w);
  const int64_t block = std::max<int64_t>(16, LOGIT_FLOATS / all.n);
  bench.logits.grow(std::min(block, part.out_end - part.out) * all.n);
  for (int64_t o0 = part.out; o0 < part.out_end; o0 += block) {
    const int64_t n = std::min(block, part.out_end - o0);
    const float* hidden = bench.decoder.hidden() + (o0 - part.out) * l.hidden_p;
    linear(hidden, l.hidden_p, n, all, bench.logits.data(), all.n, false);
    for (const Lora& lora : l.head_lora) {
      bench.low.grow(n * lora.rank_p);
      adapter_low(w, lora, all.k, hidden, l.hidden_p, n, bench.low.data());
      linear(bench.low.data(), lora.rank_p, n, adapter_out(w, lora, 0, all.n), bench.logits.data(), all.n, true);
    }
    parallel_for(static_cast<int>(n), [&](int i) {
      cap_logits(l.config, bench.logits.data() + i * all.n, all.n);
      finish_row(l.config, a, o0 + i, bench.logits.data() + i * all.n, first_draw_[o0 + i]);
    });
  }
}

void Sampler::finish_row(const Config& c, const StepArgs& a, int64_t out, const float* logits, int64_t first_draw) {
  static thread_local Drawer drawer;
  const float inv_t = a.out_inv_t[out];
  SoftmaxState state;
  for (int64_t v0 = 0; v0 < c.vocab; v0 += VOCAB_CHUNK)
    kernels().softmax_fold(logits + v0, std::min<int64_t>(VOCAB_CHUNK, c.vocab - v0), inv_t, &state);
  const int32_t target = a.outs[OUT_INTS * out + 1];
  if (target >= 0) a.scores[out] = log_prob(logits[target], inv_t, state);
  for (int64_t i = first_draw; i < a.draw_count && a.draws[DRAW_INTS * i] == out; i++) {
    const int32_t* d = a.draws + DRAW_INTS * i;
    const float* f = a.draw_floats + DRAW_FLOATS * i;
    const uint64_t seed = static_cast<uint64_t>(static_cast<uint32_t>(d[4])) << 32 | static_cast<uint32_t>(d[3]);
    const uint32_t* allowed = d[15] < 0 ? nullptr : reinterpret_cast<const uint32_t*>(a.allowed) + d[15];
    const DrawParams p{d[1] != 0, inv_t, f[0], f[1], f[2], f[3], f[4], d[2], seed, d[5], d[6], a.history + d[7], d[8],
                       a.banned + d[9], d[10], a.biased + d[13], a.bias + d[13], d[14], allowed};
    const Drawn drawn = drawer.draw(logits, c.vocab, state, p);
    a.tokens[i] = drawn.token;
    a.logprobs[i] = drawn.logprob;
    a.drawn[i] = drawn.drawn;
    if (d[12] > 0) drawer.top(logits, c.vocab, state, inv_t, d[12], a.top_tokens + d[11], a.top_logprobs + d[11]);
  }
}

void Sampler::score(const Weights& w, const Pack& pack, float* logprob, float* entropy) {
  int64_t longest = 1;
  for (int64_t s = 0; s < pack.sequences(); s++) longest = std::max(longest, pack.starts[s + 1] - pack.starts[s]);
  const Pass pass{w, rope(w.layout->config, longest), acts_};
  forward(pass, pack);
  score_tokens(pass, pack, {logprob, entropy});
  count_memory();
}

void Sampler::count_memory() {
  size_t total = acts_.bytes() + (rope_ ? rope_->bytes() : 0) + (narrow_ ? narrow_->bytes() : 0);
  for (const Bench& bench : parts_) total += bench.decoder.bytes() + bench.logits.bytes() + bench.low.bytes();
  activation_bytes_ = total;
}

uint64_t checksum(const Weights& w) {
  constexpr size_t CHUNK = 1 << 16;
  uint64_t total = 0;
  for (const Buffer* arena : {w.frozen.get(), w.live.get()}) {
    std::vector<uint64_t> part((arena->size() + CHUNK - 1) / CHUNK);
    parallel_for(static_cast<int>(part.size()), [&](int i) {
      // Four chains side by side: one would wait for its own multiplication all the time.
      uint64_t lane[4] = {1, 2, 3, 4};
      const float* data = arena->data() + i * CHUNK;
      const size_t n = std::min(CHUNK, arena->size() - i * CHUNK);
      for (size_t j = 0; j < n; j++) {
        uint32_t bits;
        std::memcpy(&bits, data + j, sizeof bits);
        lane[j % 4] = (lane[j % 4] ^ bits) * 0x9fb21c651e98df25ull;
      }
      uint64_t h = n;
      for (uint64_t x : lane) h = ((h ^ x) * 0x9e3779b97f4a7c15ull) ^ (h >> 29);
      part[i] = h;
    });
    for (uint64_t h : part) total = ((total ^ h) * 0x9e3779b97f4a7c15ull) ^ (total >> 31);
  }
  return total;
}

}  // namespace trinity
