#include "forward.h"

#include <algorithm>
#include <cmath>

#include "kernels.h"
#include "pool.h"

namespace trinity {

void attention_forward(const Pass& p, const Pack& pack, LayerActs& acts) {
  const Layout& l = p.layout();
  const Config& c = l.config;
  const int64_t ld = l.qkv_width();
  const int group = c.heads / c.kv_heads;
  const Kernels& k = kernels();
  const std::vector<int64_t> order = pack.by_length();
  // One task: a sequence and a key/value head. Its keys are packed once for all query heads of the group.
  parallel_for(static_cast<int>(pack.sequences() * c.kv_heads), [&](int task) {
    const int64_t s = order[task / c.kv_heads], kv = task % c.kv_heads;
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
                         1.0f / std::sqrt(static_cast<float>(c.head_dim))};
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
  norm_rows(x, hp, w.at(layer.norm1), c.eps, m, c.hidden, a.normed.data(), acts.rstd1.data());
  project(w, layer.qkv, a.normed.data(), hp, m, acts.qkv.data(), l.qkv_width(), false, p.adapter, a.low);
  if (c.qk_norm && c.trainable) {
    const int64_t wide = l.q_p + l.kv_p;
    parallel_rows(m, 64, [&](int64_t first, int64_t last) {
      for (int64_t t = first; t < last; t++)
        std::memcpy(acts.raw.data() + t * wide, acts.qkv.data() + t * l.qkv_width(), wide * sizeof(float));
    });
  }
  rotate_heads(w, layer, p.rope, pack.positions.data(), m, acts.qkv.data(), acts.q_rstd.data(), acts.k_rstd.data());
  attention_forward(p, pack, acts);
  std::memcpy(acts.mid.data(), x, m * hp * sizeof(float));
  project(w, layer.out, acts.attn.data(), l.q_p, m, acts.mid.data(), hp, true, p.adapter, a.low);

  p.check();
  norm_rows(acts.mid.data(), hp, w.at(layer.norm2), c.eps, m, c.hidden, a.normed.data(), acts.rstd2.data());
  project(w, layer.gate_up, a.normed.data(), hp, m, acts.gate_up.data(), 2 * l.inner_p, false, p.adapter, a.low);
  if (!out) return;
  gate(acts.gate_up.data(), l, m, a.act.data());
  std::memcpy(out, acts.mid.data(), m * hp * sizeof(float));
  project(w, layer.down, a.act.data(), l.inner_p, m, out, hp, true, p.adapter, a.low);
}

void forward(const Pass& p, const Pack& pack) {
  const Layout& l = p.layout();
  Activations& a = p.acts;
  const int64_t m = pack.tokens(), hp = l.hidden_p;
  a.grow(l, m);
  const auto x = [&](int i) { return a.x[l.config.trainable ? i : i % 2].data(); };
  embed(p.weights, pack.ids.data(), m, x(0));
  for (int i = 0; i < l.config.layers; i++) forward_layer(p, pack, i, x(i), x(i + 1));

  const int64_t n = pack.scored();
  a.hidden.grow(n * hp);
  const float* last = x(l.config.layers);
  parallel_rows(n, 32, [&](int64_t first, int64_t end) {
    for (int64_t r = first; r < end; r++)
      kernels().rmsnorm(last + pack.rows[r] * hp, hp, p.weights.at(l.final_norm), l.config.eps, 1, l.config.hidden,
                        a.hidden.data() + r * hp, hp, a.final_rstd.data() + r, 1);
  });
}

}  // namespace trinity
