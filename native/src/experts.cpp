#include "experts.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops.h"

namespace trinity {
namespace {

// Logits of a token's experts to probabilities, the likeliest experts and their shares.
void choose(const Config& c, float* probs, int32_t* chosen, float* share) {
  const float top = *std::max_element(probs, probs + c.experts);
  float sum = 0;
  for (int e = 0; e < c.experts; e++) sum += probs[e] = std::exp(probs[e] - top);
  for (int e = 0; e < c.experts; e++) probs[e] /= sum;
  float all = 0;
  for (int j = 0; j < c.active; j++) {
    int best = -1;
    for (int e = 0; e < c.experts; e++) {
      const bool taken = std::find(chosen, chosen + j, e) != chosen + j;
      if (!taken && (best < 0 || probs[e] > probs[best])) best = e;
    }
    chosen[j] = best;
    share[j] = probs[best];
    all += probs[best];
  }
  for (int j = 0; c.norm_active && j < c.active; j++) share[j] /= all;
}

void sort_rows(const Config& c, int64_t m, Routing& r) {
  r.starts.assign(c.experts + 1, 0);
  for (int32_t e : r.chosen) r.starts[e + 1]++;
  for (int e = 0; e < c.experts; e++) r.starts[e + 1] += r.starts[e];
  std::vector<int64_t> next(r.starts.begin(), r.starts.end() - 1);
  r.row.resize(m * c.active);
  r.token.resize(m * c.active);
  for (int64_t i = 0; i < m * c.active; i++) {
    const int64_t row = next[r.chosen[i]]++;
    r.row[i] = static_cast<int32_t>(row);
    r.token[row] = static_cast<int32_t>(i / c.active);
  }
}

}  // namespace

void gather_rows(const Layout& l, const Routing& routing, const float* in, Buffer& rows) {
  const int64_t hp = l.hidden_p;
  rows.grow(routing.rows() * hp);
  parallel_rows(routing.rows(), 64, [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; r++) std::memcpy(rows.data() + r * hp, in + routing.token[r] * hp, hp * sizeof(float));
  });
}

void experts_forward(const Layout& l, const Layer& layer, const Product& product, const float* in, int64_t m, Routing& routing,
                     Buffer& rows, Buffer& act, float* out) {
  const Config& c = l.config;
  const int64_t hp = l.hidden_p, total = m * c.active, wide = 2 * l.expert_p;
  routing.probs.grow(m * l.experts_p);
  routing.share.grow(total);
  routing.gate_up.grow(total * wide);
  routing.made.grow(total * hp);
  act.grow(total * l.expert_p);
  routing.chosen.resize(total);
  product(layer.router, in, hp, m, routing.probs.data(), l.experts_p);
  parallel_rows(m, 16, [&](int64_t first, int64_t last) {
    for (int64_t t = first; t < last; t++)
      choose(c, routing.probs.data() + t * l.experts_p, routing.chosen.data() + t * c.active, routing.share.data() + t * c.active);
  });
  sort_rows(c, m, routing);
  gather_rows(l, routing, in, rows);
  for (int e = 0; e < c.experts; e++) {
    const int64_t first = routing.starts[e], n = routing.starts[e + 1] - first;
    if (n == 0) continue;
    float* gate_up = routing.gate_up.data() + first * wide;
    product(layer.experts[e].gate_up, rows.data() + first * hp, hp, n, gate_up, wide);
    gate(gate_up, c.gelu, l.expert_p, n, act.data() + first * l.expert_p);
    product(layer.experts[e].down, act.data() + first * l.expert_p, l.expert_p, n, routing.made.data() + first * hp, hp);
  }
  // A token's experts are always added in the order of their probabilities: company changes nothing.
  parallel_rows(m, 16, [&](int64_t first, int64_t last) {
    for (int64_t i = first * c.active; i < last * c.active; i++)
      kernels().axpy(routing.share[i], routing.made.data() + routing.row[i] * hp, out + i / c.active * hp, hp);
  });
}

}  // namespace trinity
