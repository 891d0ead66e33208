#include "forward.h"

#include <algorithm>
#include <cmath>

#include "kernels.h"
#include "pool.h"

namespace trinity {

namespace {

// `n` rows of `width` floats, one after the other.
void gather(const float* from, int64_t ld, int64_t n, int64_t width, float* to, int64_t ldt) {
  for (int64_t t = 0; t < n; t++) std::memcpy(to + t * ldt, from + t * ld, width * sizeof(float));
}

// A sequence that goes on from others: keys and values of all of them stand side by side for the kernel, which is the
// same, so that its numbers are those of the whole sequence.
void attention_after(const Pass& p, const Pack& pack, int window, LayerActs& acts, int64_t s, int64_t kv) {
  const Layout& l = p.layout();
  const Config& c = l.config;
  const Kernels& k = kernels();
  const int64_t ld = l.qkv_width(), pad = pad_to(c.head_dim, k.nr), before = pack.before(s), own = pack.length(s);
  const int64_t total = before + own, blocks = (total + KEYS - 1) / KEYS, group = c.heads / c.kv_heads;
  const size_t keys = blocks * KEYS * c.head_dim, rows = total * pad + k.nr;
  float* kt = thread_scratch(keys + QUERIES * (KEYS + pad) + std::max(c.head_dim, KEYS) * k.mr + 2 * rows);
  float* work = kt + keys;
  float* values = work + QUERIES * (KEYS + pad) + std::max(c.head_dim, KEYS) * k.mr;
  float* queries = values + rows;  // first the keys, then the queries of one head after the other
  const float* mine = acts.qkv.data() + pack.starts[s] * ld;
  const auto all = [&](int64_t column, float* to) {
    pack.along(s, [&](int64_t start, int64_t at, int64_t n) {
      gather(acts.qkv.data() + start * ld + column, ld, n, c.head_dim, to + at * pad, pad);
    });
  };
  all(l.q_p + kv * c.head_dim, queries);
  for (int64_t b = 0; b < blocks; b++)
    k.pack_keys(queries + b * KEYS * pad, pad, std::min<int64_t>(KEYS, total - b * KEYS), c.head_dim,
                kt + b * KEYS * c.head_dim);
  all(l.q_p + l.kv_p + kv * c.head_dim, values);
  const int64_t origin = pack.starts[s] - before;  // row 0 of the whole sequence, if it stood there
  for (int64_t h = kv * group; h < (kv + 1) * group; h++) {
    gather(mine + h * c.head_dim, ld, own, c.head_dim, queries + before * pad, pad);
    AttentionHead head{queries, nullptr, values, pad,
                       acts.attn.data() + origin * l.q_p + h * c.head_dim, l.q_p,
                       acts.lse.data() + origin * c.heads + h, c.heads, c.head_dim,
                       c.attention_scale, window, c.attention_cap};
    for (int64_t q0 = before; q0 < total; q0 += QUERIES)
      k.attention(head, static_cast<int>(q0), static_cast<int>(std::min<int64_t>(QUERIES, total - q0)), kt, work);
  }
}

}  // namespace

void attention_forward(const Pass& p, const Pack& pack, int window, LayerActs& acts) {
  const Layout& l = p.layout();
  const Config& c = l.config;
  const int64_t ld = l.qkv_width();
  const int group = c.heads / c.kv_heads;
  const Kernels& k = kernels();
  const std::vector<int64_t> order = pack.by_length();
  // One task: a sequence and a key/value head. Its keys are packed once for all query heads of the group.
  parallel_for(static_cast<int>(pack.sequences() * c.kv_heads), [&](int task) {
    const int64_t s = order[task / c.kv_heads], kv = task % c.kv_heads;
    if (pack.after(s) >= 0) return attention_after(p, pack, window, acts, s, kv);
    const int64_t first = pack.starts[s];
    const int length = static_cast<int>(pack.length(s));
    const int64_t blocks = (length + KEYS - 1) / KEYS;
    const size_t keys = blocks * KEYS * c.head_dim;
    float* kt = thread_scratch(keys + QUERIES * (KEYS + pad_to(c.head_dim, k.nr)) + std::max(c.head_dim, KEYS) * k.mr);
    float* work = kt + keys;
    const float* base = acts.qkv.data() + first * ld;
    const float* key = base + l.q_p + kv * c.head_dim;
    for (int64_t b = 0; b < blocks; b++)
      k.pack_keys(key + b * KEYS * ld, ld, std::min<int>(KEYS, length - b * KEYS), c.head_dim, kt + b * KEYS * c.head_dim);
    for (int64_t h = kv * group; h < (kv + 1) * group; h++) {
      AttentionHead head{base + h * c.head_dim, key, base + l.q_p + l.kv_p + kv * c.head_dim, ld,
                         acts.attn.data() + first * l.q_p + h * c.head_dim, l.q_p,
                         acts.lse.data() + first * c.heads + h, c.heads, c.head_dim,
                         c.attention_scale, window, c.attention_cap};
      for (int q0 = 0; q0 < length; q0 += QUERIES) k.attention(head, q0, std::min(QUERIES, length - q0), kt, work);
    }
  });
}

void forward_layer(const Pass& p, const Pack& pack, int i, const float* x, float* out) {
  const Layout& l = p.layout();
  const Config& c = l.config;
  const Layer& layer = l.layers[i];
  const Weights& w = p.weights;
  Activations& a = p.acts;
  LayerActs& acts = a.layer(i);
  const int64_t m = pack.tokens(), hp = l.hidden_p;

  p.check();
  // What a product of the layer takes: the norm of these rows, or the rows themselves.
  const auto input = [&](const float* rows, Ref norm, Buffer& rstd) {
    if (!norm) return rows;
    norm_rows(w, norm, rows, m, a.normed.data(), rstd.data());
    return static_cast<const float*>(a.normed.data());
  };
  // Adds what a product gives, or its norm, to the rows.
  const auto add = [&](const Linear& linear, const float* in, int64_t ldin, Ref norm, Buffer& branch, Buffer& rstd, float* rows) {
    project(w, linear, in, ldin, m, norm ? branch.data() : rows, hp, !norm, p.adapter, a.low);
    if (norm) add_norm_rows(w, norm, branch.data(), m, a.normed.data(), rstd.data(), rows);
  };
  project(w, layer.qkv, input(x, layer.attention.before, acts.rstd1), hp, m, acts.qkv.data(), l.qkv_width(), false, p.adapter, a.low);
  if (c.qk_norm && c.trainable) {
    const int64_t wide = l.q_p + l.kv_p;
    parallel_rows(m, 64, [&](int64_t first, int64_t last) {
      for (int64_t t = first; t < last; t++)
        std::memcpy(acts.raw.data() + t * wide, acts.qkv.data() + t * l.qkv_width(), wide * sizeof(float));
    });
  }
  rotate_heads(w, layer, p.rope, pack.positions.data(), m, acts.qkv.data(), acts.q_rstd.data(), acts.k_rstd.data());
  attention_forward(p, pack, layer.window, acts);
  copy_rows(x, hp, m, acts.mid.data());
  add(layer.out, acts.attn.data(), l.q_p, layer.attention.after, acts.branch1, acts.after1, acts.mid.data());

  p.check();
  const float* inner = input(acts.mid.data(), layer.feed.before, acts.rstd2);
  if (!layer.experts.empty()) {
    const Product product = [&](const Linear& linear, const float* in, int64_t ldin, int64_t rows, float* to, int64_t ldto) {
      project(w, linear, in, ldin, rows, to, ldto, false, p.adapter, a.low);
    };
    copy_rows(acts.mid.data(), hp, m, out);
    return experts_forward(l, layer, product, inner, m, acts.routing, a.rows, a.act, out);
  }
  project(w, layer.gate_up, inner, hp, m, acts.gate_up.data(), 2 * l.inner_p, false, p.adapter, a.low);
  if (!out) return;
  gate(acts.gate_up.data(), c.gelu, l.inner_p, m, a.act.data());
  copy_rows(acts.mid.data(), hp, m, out);
  add(layer.down, a.act.data(), l.inner_p, layer.feed.after, acts.branch2, acts.after2, out);
}

void forward(const Pass& p, const Pack& pack) {
  const Layout& l = p.layout();
  Activations& a = p.acts;
  const int64_t m = pack.tokens(), hp = l.hidden_p;
  a.grow(l, m, pack.scored());
  const auto x = [&](int i) { return a.x[l.config.trainable ? i : i % 2].data(); };
  embed(p.weights, pack.ids.data(), m, x(0), p.adapter, a.low);
  for (int i = 0; i < l.config.layers; i++) forward_layer(p, pack, i, x(i), x(i + 1));

  const int64_t n = pack.scored();
  a.hidden.grow(n * hp);
  const float* last = x(l.config.layers);
  parallel_rows(n, 32, [&](int64_t first, int64_t end) {
    for (int64_t r = first; r < end; r++)
      kernels().rmsnorm(last + pack.rows[r] * hp, hp, p.weights.at(l.final_norm), l.config.norm_unit, l.config.eps, 1,
                        l.config.hidden, a.hidden.data() + r * hp, hp, a.final_rstd.data() + r, 1);
  });
}

}  // namespace trinity
