#include "decoder.h"

#include <algorithm>
#include <cmath>

#include "../kernels.h"
#include "../pool.h"

namespace trinity {

// Rows whose keys are stored before the first of them is read: the lines of the cache that they go to are there by then.
constexpr int TOGETHER = 4;

void Decoder::plan(const Layout& l, const std::vector<Segment>& segments) {
  positions_.clear();
  page_.clear();
  tasks_.clear();
  // Heads of a row that are computed together: all, unless that leaves threads without work.
  const int kv_heads = l.config.kv_heads, threads = pool_threads();
  const bool alone = l.config.heads == kv_heads, many = static_cast<int>(segments.size()) >= 2 * threads;
  const int heads = many ? kv_heads : (kv_heads + threads - 1) / threads;
  for (size_t s = 0; s < segments.size(); s++) {
    const Segment& segment = segments[s];
    for (int32_t i = 0; i < segment.rows; i++) {
      positions_.push_back(segment.start + i);
      page_.push_back(segment.pages[(segment.start + i) / KEYS]);
    }
    if (alone && segment.rows == 1) {
      Task* last = tasks_.empty() ? nullptr : &tasks_.back();
      if (many && last && last->heads > 0 && last->segments < TOGETHER)
        last->segments++;
      else
        for (int32_t kv = 0; kv < kv_heads; kv += heads)
          tasks_.push_back({static_cast<int32_t>(s), kv, 0, 1, std::min(heads, kv_heads - kv), 1});
      continue;
    }
    for (int32_t first = 0; first < segment.rows; first += QUERIES)
      for (int32_t kv = 0; kv < kv_heads; kv++)
        tasks_.push_back({static_cast<int32_t>(s), kv, first, std::min(QUERIES, segment.rows - first), 0, 1});
  }
}

// Keys and values of some rows of one segment into the cache, one head.
void Decoder::store(const Layout& l, KvCache& cache, int layer, int kv, int64_t first, int64_t count) {
  const int64_t ld = l.qkv_width();
  for (int64_t t = first; t < first + count; t++) {
    const float* key = qkv_.data() + t * ld + l.q_p + kv * l.config.head_dim;
    cache.write(page_[t], positions_[t] % KEYS, layer, kv, key, key + l.kv_p);
  }
}

void Decoder::attend_alone(const Layout& l, KvCache& cache, int layer, const std::vector<Segment>& segments, const Task& task) {
  const Config& c = l.config;
  const int64_t ld = l.qkv_width(), dim = c.head_dim;
  const int window = l.layers[layer].window;
  const int end = task.segment + task.segments;
  for (int s = task.segment; s < end; s++)
    for (int h = 0; h < task.heads; h++) store(l, cache, layer, task.kv + h, segments[s].first, 1);
  static thread_local std::vector<const float*> pages;
  float* scratch = thread_scratch(ROW_HEADS * (dim + pad_to(dim, l.nr) + KEYS));
  for (int s = task.segment; s < end; s++) {
    const Segment& segment = segments[s];
    const int low = first_block(segment.start, window);
    pages.clear();
    for (int k0 = low; k0 <= segment.start; k0 += KEYS) pages.push_back(cache.keys(segment.pages[k0 / KEYS], layer, task.kv));
    const size_t after = std::min<size_t>(s + 1, segments.size() - 1);
    AttentionRow row{qkv_.data() + segment.first * ld + task.kv * dim, pages.data(), segment.start + 1 - low, c.head_dim,
                     c.attention_scale, attn_.data() + segment.first * l.q_p + task.kv * dim,
                     cache.keys(segments[after].pages[0], layer, task.kv)};
    row.hidden = window > 0 ? std::max(0, segment.start + 1 - window - low) : 0;
    row.cap = c.attention_cap;
    row.heads = task.heads;
    row.gap = static_cast<ptrdiff_t>(cache.head_gap());
    kernels().attention_row(row, scratch);
  }
}

void Decoder::attend(const Layout& l, KvCache& cache, int layer, const std::vector<Segment>& segments) {
  const Config& c = l.config;
  const Kernels& k = kernels();
  const int64_t ld = l.qkv_width();
  const int group = c.heads / c.kv_heads, dim = c.head_dim;
  const int64_t wide = pad_to(dim, k.nr);
  const float scale = c.attention_scale, cap = c.attention_cap;
  const int window = l.layers[layer].window;
  // Tasks of a long segment read what others of it store.
  for (const Segment& segment : segments) {
    if (segment.rows <= QUERIES) continue;
    parallel_rows(segment.rows, 32, [&](int64_t first, int64_t last) {
      for (int kv = 0; kv < c.kv_heads; kv++) store(l, cache, layer, kv, segment.first + first, last - first);
    });
  }
  parallel_for(static_cast<int>(tasks_.size()), [&](int index) {
    const Task& task = tasks_[index];
    if (task.heads > 0) return attend_alone(l, cache, layer, segments, task);
    const Segment& segment = segments[task.segment];
    const int64_t row = segment.first + task.first;
    // Those of a short one store their own, and find it in the nearest cache.
    if (segment.rows <= QUERIES) store(l, cache, layer, task.kv, row, task.rows);
    const Task& after = tasks_[std::min<size_t>(index + 1, tasks_.size() - 1)];
    const float* next_task = cache.keys(segments[after.segment].pages[0], layer, after.kv);
    const int begin = segment.start + task.first;  // position of the first query
    const int64_t head = task.kv * group;
    const float* q = qkv_.data() + row * ld + head * dim;
    float* out = attn_.data() + row * l.q_p + head * dim;
    const size_t work_size = QUERIES * KEYS + std::max(dim, KEYS) * k.mr;
    float* work = thread_scratch(work_size + QUERIES * wide);
    float* acc = work + work_size;
    float max[QUERIES], sum[QUERIES];
    int visible[QUERIES], hidden[QUERIES];
    // All queries see the same keys: `stride` is the way from one to the next.
    const auto run = [&](const float* q, ptrdiff_t stride, int rows, bool same, float* out, ptrdiff_t ldo) {
      std::fill(max, max + rows, -INFINITY);
      std::fill(sum, sum + rows, 0.0f);
      std::fill(acc, acc + rows * wide, 0.0f);
      const int end = same ? begin + 1 : begin + rows;
      for (int k0 = first_block(begin, window); k0 < end; k0 += KEYS) {
        for (int i = 0; i < rows; i++) {
          const int seen = (same ? begin : begin + i) + 1 - k0;
          visible[i] = std::clamp(seen, 0, KEYS);
          hidden[i] = std::clamp(seen - window, 0, KEYS);
        }
        const int32_t* page = segment.pages + k0 / KEYS;
        const float* next = k0 + KEYS < end ? cache.keys(page[1], layer, task.kv) : next_task;
        k.attention_block(q, stride, scale, cap, rows, dim, cache.keys(*page, layer, task.kv), cache.values(*page, layer, task.kv),
                          wide, visible, window > 0 ? hidden : nullptr, max, sum, acc, wide, work, next);
      }
      k.attention_finish(max, sum, acc, wide, rows, dim, out, ldo, nullptr, 0);
    };
    if (task.rows == 1) {  // the heads of the group are the rows
      for (int h = 0; h < group; h += QUERIES)
        run(q + h * dim, dim, std::min(QUERIES, group - h), true, out + h * dim, dim);
    } else {
      for (int h = 0; h < group; h++) run(q + h * dim, ld, task.rows, false, out + h * dim, l.q_p);
    }
  });
}

void Decoder::run(const Weights& w, const Narrow* narrow, const Rope& rope, KvCache& cache,
                  const std::vector<Segment>& segments, const int32_t* ids, int64_t m, const std::vector<int32_t>& wanted) {
  const Layout& l = *w.layout;
  const Config& c = l.config;
  const int64_t hp = l.hidden_p, ld = l.qkv_width();
  x_.grow(m * hp);
  normed_.grow(m * hp);
  if (c.norm_after) branch_.grow(m * hp);
  qkv_.grow(m * ld + l.nr);
  attn_.grow(m * l.q_p + l.nr);
  gate_up_.grow(m * 2 * l.inner_p);
  act_.grow(m * l.inner_p);
  hidden_.grow(wanted.size() * hp);
  plan(l, segments);
  const auto panels = [&](const Linear& linear) { return narrow ? narrow->of(w.panels(linear)) : w.panels(linear); };
  const auto product = [&](const Linear& linear, const float* in, int64_t ldin, float* out, int64_t ldout, bool accumulate) {
    project(w, linear, panels(linear), in, ldin, m, out, ldout, accumulate, true, low_);
  };
  const Product some = [&](const Linear& linear, const float* in, int64_t ldin, int64_t rows, float* out, int64_t ldout) {
    project(w, linear, panels(linear), in, ldin, rows, out, ldout, false, true, low_);
  };

  // As in forward_layer: products take norms and are added, or their norms are.
  const auto input = [&](Ref norm) {
    if (!norm) return static_cast<const float*>(x_.data());
    norm_rows(w, norm, x_.data(), m, normed_.data(), nullptr);
    return static_cast<const float*>(normed_.data());
  };
  const auto add = [&](const Linear& linear, const float* in, int64_t ldin, Ref norm) {
    product(linear, in, ldin, norm ? branch_.data() : x_.data(), hp, !norm);
    if (norm) add_norm_rows(w, norm, branch_.data(), m, normed_.data(), nullptr, x_.data());
  };

  embed(w, ids, m, x_.data(), true, low_);
  for (int i = 0; i < c.layers; i++) {
    const Layer& layer = l.layers[i];
    product(layer.qkv, input(layer.attention.before), hp, qkv_.data(), ld, false);
    rotate_heads(w, layer, rope, positions_.data(), m, qkv_.data(), nullptr, nullptr);
    attend(l, cache, i, segments);
    add(layer.out, attn_.data(), l.q_p, layer.attention.after);
    if (!layer.experts.empty()) {
      experts_forward(l, layer, some, input(layer.feed.before), m, routing_, rows_, act_, x_.data());
      continue;
    }
    product(layer.gate_up, input(layer.feed.before), hp, gate_up_.data(), 2 * l.inner_p, false);
    gate(gate_up_.data(), c.gelu, l.inner_p, m, act_.data());
    add(layer.down, act_.data(), l.inner_p, layer.feed.after);
  }
  parallel_rows(static_cast<int64_t>(wanted.size()), 32, [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; r++)
      kernels().rmsnorm(x_.data() + wanted[r] * hp, hp, w.at(l.final_norm), c.norm_unit, c.eps, 1, c.hidden,
                        hidden_.data() + r * hp, hp, nullptr, 1);
  });
}

size_t Decoder::bytes() const {
  size_t total = routing_.bytes();
  for (const Buffer* b : {&x_, &normed_, &branch_, &qkv_, &attn_, &gate_up_, &act_, &low_, &rows_, &hidden_}) total += b->bytes();
  return total;
}

}  // namespace trinity
