#include "backward.h"
#include "experts.h"
#include "kernels.h"

namespace trinity {
namespace {

// From gradients of the shares to those of the router's logits, in place of the probabilities.
void choose_back(const Config& c, const int32_t* chosen, const float* share, const float* d_share, float* probs) {
  std::vector<float> d(c.active);
  float all = 0, pull = 0, mean = 0;
  for (int j = 0; j < c.active; j++) {
    all += probs[chosen[j]];
    pull += d_share[j] * share[j];
  }
  for (int j = 0; j < c.active; j++) {
    d[j] = c.norm_active ? (d_share[j] - pull) / all : d_share[j];
    mean += d[j] * probs[chosen[j]];
  }
  for (int j = 0; j < c.active; j++) d[j] *= probs[chosen[j]];
  for (int e = 0; e < c.experts; e++) probs[e] *= -mean;
  for (int j = 0; j < c.active; j++) probs[chosen[j]] += d[j];
}

}  // namespace

void experts_back(const Back& b, const Layer& layer, Routing& routing, const float* in, int64_t m, const float* dout, float* din) {
  const Layout& l = b.pass.layout();
  const Config& c = l.config;
  Activations& a = b.pass.acts;
  Gradients& g = b.g;
  const int64_t hp = l.hidden_p, ep = l.expert_p, wide = 2 * ep, total = routing.rows();
  g.drows.grow(total * hp);
  g.dact.grow(total * ep);
  a.act.grow(total * ep);
  gather_rows(l, routing, in, a.rows);
  std::vector<float> d_share(total);
  parallel_rows(m, 16, [&](int64_t t0, int64_t t1) {
    for (int64_t i = t0 * c.active; i < t1 * c.active; i++) {
      const int64_t r = routing.row[i];
      const float* d = dout + i / c.active * hp;
      d_share[i] = kernels().dot(d, routing.made.data() + r * hp, c.hidden);
      for (int64_t n = 0; n < hp; n++) g.drows[r * hp + n] = routing.share[i] * d[n];
    }
    for (int64_t t = t0; t < t1; t++)
      choose_back(c, routing.chosen.data() + t * c.active, routing.share.data() + t * c.active, d_share.data() + t * c.active,
                  routing.probs.data() + t * l.experts_p);
  });
  const auto gate_back = c.gelu ? kernels().geglu_back : kernels().swiglu_back;
  for (int e = 0; e < c.experts; e++) {
    const int64_t first = routing.starts[e], n = routing.starts[e + 1] - first;
    if (n == 0) continue;
    const Expert& expert = layer.experts[e];
    float *d = g.drows.data() + first * hp, *dact = g.dact.data() + first * ep, *act = a.act.data() + first * ep,
          *gate_up = routing.gate_up.data() + first * wide;
    input_back(b, expert.down, n, d, hp, dact, ep);
    parallel_rows(n, 16, [&](int64_t t0, int64_t t1) {
      gate_back(gate_up + t0 * wide, wide, static_cast<int>(ep), t1 - t0, dact + t0 * ep, ep, act + t0 * ep, ep);
    });
    params_back(b, expert.down, n, act, ep, d, hp);
    params_back(b, expert.gate_up, n, a.rows.data() + first * hp, hp, gate_up, wide);
    input_back(b, expert.gate_up, n, gate_up, wide, d, hp);
  }
  params_back(b, layer.router, m, in, hp, routing.probs.data(), l.experts_p);
  input_back(b, layer.router, m, routing.probs.data(), l.experts_p, din, hp);
  parallel_rows(m, 16, [&](int64_t t0, int64_t t1) {
    for (int64_t i = t0 * c.active; i < t1 * c.active; i++)
      kernels().axpy(1.0f, g.drows.data() + routing.row[i] * hp, din + i / c.active * hp, hp);
  });
}

}  // namespace trinity
