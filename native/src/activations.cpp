#include "activations.h"

#include <algorithm>

namespace trinity {

std::vector<int64_t> Pack::by_length() const {
  std::vector<int64_t> order(sequences());
  for (size_t i = 0; i < order.size(); i++) order[i] = static_cast<int64_t>(i);
  std::stable_sort(order.begin(), order.end(),
                   [this](int64_t a, int64_t b) { return before(a) + length(a) > before(b) + length(b); });
  return order;
}

std::vector<std::vector<int64_t>> Pack::families() const {
  std::vector<std::vector<int64_t>> all;
  std::vector<int64_t> place(sequences());
  for (int64_t s = 0; s < sequences(); s++) {
    place[s] = after(s) < 0 ? static_cast<int64_t>(all.size()) : place[after(s)];
    if (after(s) < 0) all.emplace_back();
    all[place[s]].push_back(s);
  }
  const auto size = [this](const std::vector<int64_t>& family) {
    int64_t total = 0;
    for (int64_t s : family) total += before(s) + length(s);
    return total;
  };
  std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return size(a) > size(b); });
  return all;
}

void LayerActs::grow(const Layout& l, int64_t m) {
  const Config& c = l.config;
  rstd1.grow(m);
  rstd2.grow(m);
  // Kernels read whole panels, so the last row of a narrow head reaches past its end.
  qkv.grow(m * l.qkv_width() + l.nr);
  attn.grow(m * l.q_p + l.nr);
  lse.grow(m * c.heads);
  mid.grow(m * l.hidden_p);
  gate_up.grow(m * 2 * l.inner_p);
  if (c.norm_after) {
    branch1.grow(m * l.hidden_p);
    branch2.grow(m * l.hidden_p);
    after1.grow(m);
    after2.grow(m);
  }
  if (c.qk_norm) {
    raw.grow(m * (l.q_p + l.kv_p));
    q_rstd.grow(m * c.heads);
    k_rstd.grow(m * c.kv_heads);
  }
}

size_t LayerActs::bytes() const {
  size_t total = routing.bytes();
  for (const Buffer* b : {&rstd1, &qkv, &raw, &q_rstd, &k_rstd, &attn, &lse, &mid, &rstd2, &gate_up, &branch1, &branch2, &after1, &after2})
    total += b->bytes();
  return total;
}

void Activations::grow(const Layout& l, int64_t m, int64_t scored) {
  const Config& c = l.config;
  x.resize(c.layers + 1);
  layers.resize(c.checkpointing || !c.trainable ? 1 : c.layers);
  // Nothing goes back through a model that only scores: two inputs take turns.
  for (size_t i = 0; i < x.size(); i++)
    if (c.trainable || i < 2) x[i].grow(m * l.hidden_p);
  for (LayerActs& layer : layers) layer.grow(l, m);
  // Rows that answers share are scored once for each of them.
  normed.grow(std::max(m, scored) * l.hidden_p);
  act.grow(m * l.inner_p);
  final_rstd.grow(std::max(m, scored));
}

size_t Activations::bytes() const {
  size_t total = 0;
  for (const Buffer& b : x) total += b.bytes();
  for (const LayerActs& l : layers) total += l.bytes();
  for (const Buffer* b : {&normed, &act, &final_rstd, &low, &rows, &hidden, &head_low, &lse, &entropy, &squares, &logits}) total += b->bytes();
  return total;
}

}  // namespace trinity
