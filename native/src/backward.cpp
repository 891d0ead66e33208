#include "backward.h"

#include <algorithm>
#include <cmath>

#include "kernels.h"
#include "pool.h"

namespace trinity {

void Gradients::grow(const Layout& l, int64_t m, int64_t scored) {
  dx.grow(m * l.hidden_p);
  dnorm.grow(m * l.hidden_p);
  dqkv.grow(m * l.qkv_width());
  dattn.grow(m * l.q_p + l.nr);
  dact.grow(m * l.inner_p);
  dhidden.grow(scored * l.hidden_p);
}

size_t Gradients::bytes() const {
  size_t total = 0;
  for (const Buffer* b : {&dx, &dqkv, &dattn, &dact, &dnorm, &dhidden, &dlow, &drows, &packed}) total += b->bytes();
  return total;
}

namespace {

// Columns in slices: every sum over tokens belongs to one task.
template <typename F>
void parallel_columns(int64_t columns, F&& body) {
  parallel_rows(columns, 64, [&](int64_t first, int64_t last) { body(static_cast<int>(first), static_cast<int>(last)); });
}

void head_norms_back(const Back& b, const Layer& layer, const LayerActs& acts, int64_t m) {
  const Layout& l = b.pass.layout();
  const Config& c = l.config;
  const Kernels& k = kernels();
  const int64_t wide = l.q_p + l.kv_p, ld = l.qkv_width();
  const auto each = [&](Ref weight, int heads, int64_t first, const float* rstd) {
    const int groups = c.norm_groups(heads), width = c.norm_width(heads);
    if (b.wants(weight)) {
      parallel_rows(width, 32, [&](int64_t c0, int64_t c1) {
        for (int64_t t = 0; t < m; t++)
          k.rmsnorm_weight(acts.raw.data() + t * wide + first, width, rstd + t * groups, 1, b.g.dqkv.data() + t * ld + first,
                           width, groups, static_cast<int>(c0), static_cast<int>(c1), b.of(weight));
      });
    }
    parallel_rows(m, 16, [&](int64_t t0, int64_t t1) {
      for (int64_t t = t0; t < t1; t++) {
        float* d = b.g.dqkv.data() + t * ld + first;
        k.rmsnorm_back(acts.raw.data() + t * wide + first, width, b.pass.weights.at(weight), c.norm_unit, rstd + t * groups, 1, d,
                       width, groups, width, d, width, false);
      }
    });
  };
  each(layer.q_norm, c.heads, 0, acts.q_rstd.data());
  each(layer.k_norm, c.kv_heads, l.q_p, acts.k_rstd.data());
}

void rotate_back(const Back& b, const Layer& layer, const Pack& pack) {
  const Layout& l = b.pass.layout();
  const Config& c = l.config;
  const Turns turns = b.pass.rope.of(layer);
  const int64_t ld = l.qkv_width();
  parallel_rows(pack.tokens(), 16, [&](int64_t t0, int64_t t1) {
    float* base = b.g.dqkv.data() + t0 * ld;
    const int32_t* at = pack.positions.data() + t0;
    kernels().rope(base, ld, at, t1 - t0, c.heads, c.head_dim, c.turned(), turns.cosines, turns.sines, -1.0f);
    kernels().rope(base + l.q_p, ld, at, t1 - t0, c.kv_heads, c.head_dim, c.turned(), turns.cosines, turns.sines, -1.0f);
  });
}

// dB from the adapter's inner activations, then dA: the rows of its inner gradients that belong to a token's column.
void embed_adapter_back(const Back& b, const Pack& pack, const Lora& part) {
  const Layout& l = b.pass.layout();
  const Weights& w = b.pass.weights;
  const int64_t m = pack.tokens();
  Buffer& low = b.g.dlow;
  embed_low(w, part, pack.ids.data(), m, low);
  linear_weight_grad(b.g.dx.data(), l.hidden_p, low.data(), part.rank_p, m, part.n, part.rank, b.of(part.b), b.g.packed);
  linear_input_grad(b.g.dx.data(), l.hidden_p, m, adapter_out(w, part, 0, part.n), low.data(), part.rank_p, false, b.g.packed);
  float* grad = b.of(part.a);
  parallel_rows(part.rank, 1, [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; r++)
      for (int64_t t = 0; t < m; t++)
        if (pack.ids[t] != l.config.pad_id) grad[r * l.vocab_p + pack.ids[t]] += part.scale * low[t * part.rank_p + r];
  });
}

void embed_back(const Back& b, const Pack& pack) {
  const Layout& l = b.pass.layout();
  if (l.config.embed_scale != 1) {
    parallel_rows(pack.tokens(), 32, [&](int64_t t0, int64_t t1) {
      kernels().scale(l.config.embed_scale, b.g.dx.data() + t0 * l.hidden_p, (t1 - t0) * l.hidden_p);
    });
  }
  for (const Lora& part : l.embed_lora) embed_adapter_back(b, pack, part);
  if (!b.wants(l.embed)) return;
  float* grad = b.of(l.embed);
  const bool panels = l.lm_head && l.config.tied;
  const int64_t n = l.config.hidden, ld = l.hidden_p;
  parallel_columns(n, [&](int c0, int c1) {
    for (int64_t t = 0; t < pack.tokens(); t++) {
      const int64_t id = pack.ids[t];
      if (id == l.config.pad_id) continue;
      const float* d = b.g.dx.data() + t * ld;
      float* row = panels ? grad + id / l.nr * n * l.nr + id % l.nr : grad + id * ld;
      const int64_t stride = panels ? l.nr : 1;
      for (int c = c0; c < c1; c++) row[c * stride] += d[c];
    }
  });
}

// From the gradient of what the feed-forward part gave to that of what it took. The gate's kernel turns gate|up into its gradient and
// gives the down product's input back.
void gated_back(const Back& b, const Layer& layer, LayerActs& acts, const float* in, int64_t m, const float* dout, float* din) {
  const Layout& l = b.pass.layout();
  const int64_t hp = l.hidden_p, ip = l.inner_p;
  float *gate_up = acts.gate_up.data(), *act = b.pass.acts.act.data(), *dact = b.g.dact.data();
  input_back(b, layer.down, m, dout, hp, dact, ip);
  const auto gate_back = l.config.gelu ? kernels().geglu_back : kernels().swiglu_back;
  parallel_rows(m, 16, [&](int64_t t0, int64_t t1) {
    gate_back(gate_up + t0 * 2 * ip, 2 * ip, static_cast<int>(ip), t1 - t0, dact + t0 * ip, ip, act + t0 * ip, ip);
  });
  params_back(b, layer.down, m, act, ip, dout, hp);
  params_back(b, layer.gate_up, m, in, hp, gate_up, 2 * ip);
  input_back(b, layer.gate_up, m, gate_up, 2 * ip, din, hp);
}

void layer_back(const Back& b, const Pack& pack, int i) {
  const Pass& p = b.pass;
  const Layout& l = p.layout();
  const Layer& layer = l.layers[i];
  const Config& c = l.config;
  Activations& a = p.acts;
  Gradients& g = b.g;
  const int64_t m = pack.tokens(), hp = l.hidden_p;
  const float* x = a.x[i].data();
  LayerActs& acts = a.layer(i);
  p.check();
  // Where what comes last is normed or weighed, it is needed too; what it is added to is free until the attention's half.
  const bool whole = c.norm_after || !layer.experts.empty();
  if (c.checkpointing) forward_layer(p, pack, i, x, whole ? g.dnorm.data() : nullptr);
  // Gradient of a product's output: that of the layer, or through the norm that comes after it.
  const auto output = [&](Ref norm, const Buffer& branch, const Buffer& rstd) {
    if (!norm) return static_cast<const float*>(g.dx.data());
    norm_back(b, norm, branch.data(), rstd.data(), g.dx.data(), m, g.dnorm.data(), false);
    return static_cast<const float*>(g.dnorm.data());
  };
  // What a product took.
  const auto input = [&](const float* rows, Ref norm) {
    if (!norm) return rows;
    norm_rows(p.weights, norm, rows, m, a.normed.data(), nullptr);
    return static_cast<const float*>(a.normed.data());
  };
  // Adds the gradient of that, which is in g.dnorm, to the layer's.
  const auto add = [&](Ref norm, const float* rows, const Buffer& rstd) {
    if (norm) return norm_back(b, norm, rows, rstd.data(), g.dnorm.data(), m, g.dx.data());
    parallel_rows(m, 32, [&](int64_t t0, int64_t t1) {
      kernels().axpy(1.0f, g.dnorm.data() + t0 * hp, g.dx.data() + t0 * hp, (t1 - t0) * hp);
    });
  };

  // The feed-forward half.
  const float* dout = output(layer.feed.after, acts.branch2, acts.after2);
  const float* in = input(acts.mid.data(), layer.feed.before);
  if (layer.experts.empty())
    gated_back(b, layer, acts, in, m, dout, g.dnorm.data());
  else
    experts_back(b, layer, acts.routing, in, m, dout, g.dnorm.data());
  add(layer.feed.before, acts.mid.data(), acts.rstd2);

  // The attention half.
  p.check();
  dout = output(layer.attention.after, acts.branch1, acts.after1);
  params_back(b, layer.out, m, acts.attn.data(), l.q_p, dout, hp);
  input_back(b, layer.out, m, dout, hp, g.dattn.data(), l.q_p);
  attention_backward(b, pack, layer.window, acts);
  if (layer.turned) rotate_back(b, layer, pack);
  if (c.qk_norm) head_norms_back(b, layer, acts, m);
  params_back(b, layer.qkv, m, input(x, layer.attention.before), hp, g.dqkv.data(), l.qkv_width());
  input_back(b, layer.qkv, m, g.dqkv.data(), l.qkv_width(), g.dnorm.data(), hp);
  add(layer.attention.before, x, acts.rstd1);
}

}  // namespace

void norm_back(const Back& b, Ref weight, const float* x, const float* rstd, const float* dy, int64_t m, float* dx, bool add) {
  const Layout& l = b.pass.layout();
  const int64_t ld = l.hidden_p;
  const int n = l.config.hidden;
  if (b.wants(weight)) {
    parallel_columns(n, [&](int c0, int c1) {
      kernels().rmsnorm_weight(x, ld, rstd, 1, dy, ld, m, c0, c1, b.of(weight));
    });
  }
  parallel_rows(m, 32, [&](int64_t t0, int64_t t1) {
    kernels().rmsnorm_back(x + t0 * ld, ld, b.pass.weights.at(weight), l.config.norm_unit, rstd + t0, 1, dy + t0 * ld, ld,
                           t1 - t0, n, dx + t0 * ld, ld, add);
  });
}

void input_back(const Back& b, const Linear& l, int64_t m, const float* dy, int64_t lddy, float* dx, int64_t lddx) {
  const Weights& w = b.pass.weights;
  linear_input_grad(dy, lddy, m, w.panels(l), dx, lddx, false, b.g.packed);
  for (const Lora& part : l.lora) {
    b.g.dlow.grow(m * part.rank_p);
    linear_input_grad(dy + part.first, lddy, m, adapter_out(w, part, 0, part.n), b.g.dlow.data(), part.rank_p,
                      false, b.g.packed);
    kernels().scale(part.scale, b.g.dlow.data(), m * part.rank_p);
    linear_input_grad(b.g.dlow.data(), part.rank_p, m, {w.at(part.a), part.rank_p, l.k}, dx, lddx, true,
                      b.g.packed);
  }
}

void params_back(const Back& b, const Linear& l, int64_t m, const float* x, int64_t ldx, const float* dy, int64_t lddy) {
  const Weights& w = b.pass.weights;
  if (b.wants(l.weight)) linear_weight_grad(dy, lddy, x, ldx, m, l.n, l.k, b.of(l.weight), b.g.packed);
  if (b.wants(l.bias)) {
    parallel_columns(l.n, [&](int c0, int c1) { kernels().column_sum(dy, lddy, m, c0, c1, b.of(l.bias)); });
  }
  for (const Lora& part : l.lora) {
    Buffer& low = b.g.dlow;
    low.grow(m * part.rank_p);
    adapter_low(w, part, l.k, x, ldx, m, low.data());
    linear_weight_grad(dy + part.first, lddy, low.data(), part.rank_p, m, part.n, part.rank, b.of(part.b), b.g.packed);
    linear_input_grad(dy + part.first, lddy, m, adapter_out(w, part, 0, part.n), low.data(), part.rank_p, false,
                      b.g.packed);
    kernels().scale(part.scale, low.data(), m * part.rank_p);
    linear_weight_grad(low.data(), part.rank_p, x, ldx, m, part.rank_p, l.k, b.of(part.a), b.g.packed);
  }
}

namespace {

// Gradients of a sequence by itself: what it gives to queries, keys and values is written.
void attention_alone_back(const Back& b, const Pack& pack, int window, const LayerActs& acts, int64_t s, int64_t kv, float* scratch) {
  const Layout& l = b.pass.layout();
  const Config& c = l.config;
  const int64_t ld = l.qkv_width(), first = pack.starts[s];
  const int group = c.heads / c.kv_heads;
  const int64_t q = kv * group * c.head_dim, k = l.q_p + kv * c.head_dim, v = k + l.kv_p;
  const float* base = acts.qkv.data() + first * ld;
  float* d = b.g.dqkv.data() + first * ld;
  AttentionGroup g{base + q, base + k, base + v, ld,
                   acts.attn.data() + first * l.q_p + q, b.g.dattn.data() + first * l.q_p + q, l.q_p,
                   acts.lse.data() + first * c.heads + kv * group, c.heads,
                   d + q, d + k, d + v, ld, static_cast<int>(pack.length(s)), c.head_dim, group,
                   c.attention_scale, 0, window, c.attention_cap};
  kernels().attention_back(g, scratch);
}

// Gradients of a sequence that goes on from others: its own are written, those of the shared keys and values are added
// to what is there. Rows [q of the group | k | v] of all of them stand side by side for the kernel.
void attention_after_back(const Back& b, const Pack& pack, int window, const LayerActs& acts, int64_t s, int64_t kv, float* scratch,
                          float* rows, float* drows, int64_t wide) {
  const Layout& l = b.pass.layout();
  const Config& c = l.config;
  const int64_t ld = l.qkv_width(), before = pack.before(s), own = pack.length(s), hd = c.head_dim;
  const int group = c.heads / c.kv_heads;
  const int64_t q = kv * group * hd, k = l.q_p + kv * hd, v = k + l.kv_p, origin = pack.starts[s] - before;
  pack.along(s, [&](int64_t start, int64_t at, int64_t n) {
    for (int64_t t = 0; t < n; t++) {
      const float* from = acts.qkv.data() + (start + t) * ld;
      float* to = rows + (at + t) * wide;
      if (at == before) std::memcpy(to, from + q, group * hd * sizeof(float));
      std::memcpy(to + group * hd, from + k, hd * sizeof(float));
      std::memcpy(to + (group + 1) * hd, from + v, hd * sizeof(float));
    }
  });
  AttentionGroup g{rows, rows + group * hd, rows + (group + 1) * hd, wide,
                   acts.attn.data() + origin * l.q_p + q, b.g.dattn.data() + origin * l.q_p + q, l.q_p,
                   acts.lse.data() + origin * c.heads + kv * group, c.heads,
                   drows, drows + group * hd, drows + (group + 1) * hd, wide, static_cast<int>(before + own), c.head_dim,
                   group, c.attention_scale, static_cast<int>(before), window, c.attention_cap};
  kernels().attention_back(g, scratch);
  pack.along(s, [&](int64_t start, int64_t at, int64_t n) {
    for (int64_t t = 0; t < n; t++) {
      float* to = b.g.dqkv.data() + (start + t) * ld;
      const float* from = drows + (at + t) * wide;
      if (at < before) {
        for (int64_t i = 0; i < hd; i++) to[k + i] += from[group * hd + i];
        for (int64_t i = 0; i < hd; i++) to[v + i] += from[(group + 1) * hd + i];
      } else {
        std::memcpy(to + q, from, group * hd * sizeof(float));
        std::memcpy(to + k, from + group * hd, hd * sizeof(float));
        std::memcpy(to + v, from + (group + 1) * hd, hd * sizeof(float));
      }
    }
  });
}

}  // namespace

void attention_backward(const Back& b, const Pack& pack, int window, const LayerActs& acts) {
  const Layout& l = b.pass.layout();
  const Config& c = l.config;
  const int64_t pad = pad_to(c.head_dim, l.nr), wide = (c.heads / c.kv_heads + 2) * c.head_dim;
  const auto families = pack.families();
  // One task: a family and a key/value head. Its members add to the same keys, one after the other, and always in the
  // same order; each has written its own before those that go on from it add to them.
  parallel_for(static_cast<int>(families.size() * c.kv_heads), [&](int task) {
    const std::vector<int64_t>& family = families[task / c.kv_heads];
    const int64_t kv = task % c.kv_heads;
    int64_t longest = 0;
    for (int64_t s : family) longest = std::max(longest, pack.before(s) + pack.length(s));
    const int64_t keys = pad_to(longest, KEYS);
    const int64_t work = 2 * keys * (c.head_dim + pad) + QUERIES * (pad + 2 * KEYS) + std::max(c.head_dim, KEYS) * kernels().mr;
    const int64_t rows = family.size() > 1 ? longest * wide + l.nr : 0;
    float* scratch = thread_scratch(work + 2 * rows);
    attention_alone_back(b, pack, window, acts, family[0], kv, scratch);
    for (size_t i = 1; i < family.size(); i++)
      attention_after_back(b, pack, window, acts, family[i], kv, scratch, scratch + work, scratch + work + rows, wide);
  });
}

void backward(const Back& b, const Pack& pack) {
  const Layout& l = b.pass.layout();
  Activations& a = b.pass.acts;
  const int64_t hp = l.hidden_p, m = pack.tokens(), n = pack.scored();
  const float* last = a.x[l.config.layers].data();
  b.g.grow(l, m, n);
  // The final norm was taken on scored rows alone: gather them for the weight, scatter the rest.
  parallel_rows(n, 64, [&](int64_t r0, int64_t r1) {
    for (int64_t r = r0; r < r1; r++)
      std::memcpy(a.normed.data() + r * hp, last + pack.rows[r] * hp, hp * sizeof(float));
  });
  if (b.wants(l.final_norm)) {
    parallel_columns(l.config.hidden, [&](int c0, int c1) {
      kernels().rmsnorm_weight(a.normed.data(), hp, a.final_rstd.data(), 1, b.g.dhidden.data(), hp, n, c0, c1,
                               b.of(l.final_norm));
    });
  }
  std::memset(b.g.dx.data(), 0, m * hp * sizeof(float));
  const auto through_norm = [&](int64_t r, bool add) {
    kernels().rmsnorm_back(a.normed.data() + r * hp, hp, b.pass.weights.at(l.final_norm), l.config.norm_unit,
                           a.final_rstd.data() + r, 1, b.g.dhidden.data() + r * hp, hp, 1, l.config.hidden, b.g.dx.data() + pack.rows[r] * hp, hp,
                           add);
  };
  parallel_rows(n, 32, [&](int64_t r0, int64_t r1) {
    for (int64_t r = r0; r < r1; r++)
      if (!pack.again[r]) through_norm(r, false);
  });
  for (int64_t r = 0; r < n; r++)
    if (pack.again[r]) through_norm(r, true);
  for (int i = l.config.layers - 1; i >= 0; i--) layer_back(b, pack, i);
  embed_back(b, pack);
}

}  // namespace trinity
