#include "ops.h"

#include <algorithm>

#include "kernels.h"
#include "pool.h"

namespace trinity {

void embed(const Weights& w, const int32_t* ids, int64_t m, float* x, bool adapter, Buffer& low) {
  const Layout& l = *w.layout;
  const float* table = w.at(l.embed);
  const int64_t n = l.config.hidden, ld = l.hidden_p;
  const bool panels = l.lm_head && l.config.tied;
  parallel_rows(m, 32, [&](int64_t first, int64_t last) {
    for (int64_t t = first; t < last; t++) {
      float* row = x + t * ld;
      if (panels) {
        const float* column = table + ids[t] / l.nr * n * l.nr + ids[t] % l.nr;
        for (int64_t i = 0; i < n; i++) row[i] = column[i * l.nr];
      } else {
        std::memcpy(row, table + ids[t] * ld, n * sizeof(float));
      }
    }
  });
  for (const Lora& part : l.embed_lora) {
    if (!adapter) break;
    embed_low(w, part, ids, m, low);
    linear(low.data(), part.rank_p, m, adapter_out(w, part, 0, part.n), x, ld, true);
  }
  if (l.config.embed_scale == 1) return;
  parallel_rows(m, 32, [&](int64_t first, int64_t last) {
    kernels().scale(l.config.embed_scale, x + first * ld, (last - first) * ld);
  });
}

void embed_low(const Weights& w, const Lora& part, const int32_t* ids, int64_t m, Buffer& low) {
  low.grow(static_cast<size_t>(m * part.rank_p));
  const float* a = w.at(part.a);
  const int64_t ld = w.layout->vocab_p;
  parallel_rows(m, 64, [&](int64_t first, int64_t last) {
    for (int64_t t = first; t < last; t++)
      for (int64_t r = 0; r < part.rank_p; r++)
        low[t * part.rank_p + r] = r < part.rank ? part.scale * a[r * ld + ids[t]] : 0.0f;
  });
}

void copy_rows(const float* from, int64_t width, int64_t m, float* to) {
  parallel_rows(m, 128, [&](int64_t first, int64_t last) {
    std::memcpy(to + first * width, from + first * width, (last - first) * width * sizeof(float));
  });
}

void norm_rows(const Weights& w, Ref weight, const float* x, int64_t m, float* y, float* rstd) {
  const Config& c = w.layout->config;
  const int64_t ld = w.layout->hidden_p;
  parallel_rows(m, 32, [&](int64_t first, int64_t last) {
    kernels().rmsnorm(x + first * ld, ld, w.at(weight), c.norm_unit, c.eps, last - first, c.hidden, y + first * ld, ld,
                      rstd ? rstd + first : nullptr, 1);
  });
}

void add_norm_rows(const Weights& w, Ref weight, const float* branch, int64_t m, float* normed, float* rstd, float* x) {
  const Config& c = w.layout->config;
  const int64_t ld = w.layout->hidden_p;
  parallel_rows(m, 32, [&](int64_t first, int64_t last) {
    kernels().rmsnorm(branch + first * ld, ld, w.at(weight), c.norm_unit, c.eps, last - first, c.hidden, normed + first * ld, ld,
                      rstd ? rstd + first : nullptr, 1);
    kernels().axpy(1.0f, normed + first * ld, x + first * ld, (last - first) * ld);
  });
}

void project(const Weights& w, const Linear& l, Panels panels, const float* x, int64_t ldx, int64_t m, float* y, int64_t ldy,
             bool accumulate, bool adapter, Buffer& low) {
  linear(x, ldx, m, panels, y, ldy, accumulate);
  if (l.bias) {
    parallel_rows(m, 64, [&](int64_t first, int64_t last) {
      kernels().add_bias(y + first * ldy, ldy, w.at(l.bias), last - first, static_cast<int>(l.n));
    });
  }
  if (!adapter) return;
  for (const Lora& part : l.lora) {
    low.grow(static_cast<size_t>(m * part.rank_p));
    adapter_low(w, part, l.k, x, ldx, m, low.data());
    linear(low.data(), part.rank_p, m, adapter_out(w, part, 0, part.n), y + part.first, ldy, true);
  }
}

void rotate_heads(const Weights& w, const Layer& layer, const Rope& rope, const int32_t* positions, int64_t m, float* qkv,
                  float* q_rstd, float* k_rstd) {
  const Layout& l = *w.layout;
  const Config& c = l.config;
  const int64_t ld = l.qkv_width();
  const Kernels& k = kernels();
  const auto norm = [&](float* x, Ref weight, int heads, float* rstd, int64_t t) {
    const int groups = c.norm_groups(heads), width = c.norm_width(heads);
    k.rmsnorm(x, width, w.at(weight), c.norm_unit, c.eps, groups, width, x, width, rstd ? rstd + t * groups : nullptr, 1);
  };
  parallel_rows(m, 16, [&](int64_t first, int64_t last) {
    for (int64_t t = first; c.qk_norm && t < last; t++) {
      norm(qkv + t * ld, layer.q_norm, c.heads, q_rstd, t);
      norm(qkv + t * ld + l.q_p, layer.k_norm, c.kv_heads, k_rstd, t);
    }
    if (!layer.turned) return;
    float* base = qkv + first * ld;
    const Turns turns = rope.of(layer);
    k.rope(base, ld, positions + first, last - first, c.heads, c.head_dim, c.turned(), turns.cosines, turns.sines, 1.0f);
    k.rope(base + l.q_p, ld, positions + first, last - first, c.kv_heads, c.head_dim, c.turned(), turns.cosines, turns.sines, 1.0f);
  });
}

void gate(const float* gate_up, bool gelu, int64_t inner, int64_t m, float* act) {
  const auto gated = gelu ? kernels().geglu : kernels().swiglu;
  parallel_rows(m, 16, [&](int64_t first, int64_t last) {
    gated(gate_up + first * 2 * inner, 2 * inner, static_cast<int>(inner), last - first, act + first * inner, inner);
  });
}

void adapter_low(const Weights& w, const Lora& part, int64_t k, const float* x, int64_t ldx, int64_t m, float* low) {
  linear(x, ldx, m, {w.at(part.a), part.rank_p, k}, low, part.rank_p, false);
  kernels().scale(part.scale, low, m * part.rank_p);
}

Panels adapter_out(const Weights& w, const Lora& part, int64_t first, int64_t n) {
  return {w.at(part.b) + first * part.rank, n, part.rank};
}

Panels vocabulary(const Weights& w) {
  const Layout& l = *w.layout;
  return {w.at(l.lm_head), l.vocab_p, l.config.hidden};
}

}  // namespace trinity
