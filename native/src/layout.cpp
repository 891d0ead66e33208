#include "layout.h"

#include <algorithm>
#include <tuple>

#include "kernels.h"

namespace trinity {
namespace {

struct Part {
  const char* path;  // module path within the layer
  int64_t rows;
};

class Builder {
 public:
  explicit Builder(Layout& layout) : out_(layout), c_(layout.config) {}

  Ref add(const std::string& name, int64_t rows, int64_t cols, Form form, bool live, const std::vector<int64_t>& pieces = {}) {
    size_t& end = live ? out_.live_size : out_.frozen_size;
    const int nr = out_.nr;
    int64_t padded = pieces.empty() ? pad_to(rows, nr) : 0;
    for (int64_t piece : pieces) padded += pad_to(piece, nr);
    const size_t size = form == Form::panels ? padded * cols
                        : form == Form::rows ? rows * pad_to(cols, nr)
                                             : pad_to(cols, nr);
    const Ref at{end, live};
    out_.params.push_back({name, rows, cols, form, at, size, pieces});
    end += size;
    return at;
  }

  // Every product starts on a cache line.
  void align(bool live) {
    size_t& end = live ? out_.live_size : out_.frozen_size;
    end = pad_to(end, 16);
  }

  Ref vec(const std::string& name, int64_t n, bool live) {
    align(live);
    return add(name, 1, n, Form::vec, live);
  }

  Linear linear(const std::string& prefix, const std::vector<Part>& parts, int64_t k, bool bias) {
    Linear l;
    l.k = k;
    const bool live = base_live();
    align(live);
    for (const Part& p : parts) {
      const Ref at = add(prefix + p.path + ".weight", p.rows, k, Form::panels, live);
      if (!l.weight) l.weight = at;
      l.n += pad_to(p.rows, out_.nr);
    }
    align(live);
    for (const Part& p : parts) {
      if (!bias) break;
      const Ref at = add(prefix + p.path + ".bias", 1, p.rows, Form::vec, live);
      if (!l.bias) l.bias = at;
    }
    int64_t first = 0;
    for (const Part& p : parts) {
      const std::string module = prefix + p.path;
      for (const Adapter& adapter : c_.adapters) {
        if (adapter.module != module) continue;
        Lora lora = factors(module, adapter, ".lora_A.weight", Form::panels, k, ".lora_B.weight", {p.rows});
        lora.first = first;
        l.lora.push_back(lora);
      }
      first += pad_to(p.rows, out_.nr);
    }
    return l;
  }

  // The same where the file has the parts as one matrix, under `path`.
  Linear joined(const std::string& module, const std::vector<Part>& parts, int64_t k) {
    Linear l;
    l.k = k;
    std::vector<int64_t> pieces;
    int64_t rows = 0;
    for (const Part& p : parts) {
      pieces.push_back(p.rows);
      rows += p.rows;
      l.n += pad_to(p.rows, out_.nr);
    }
    align(base_live());
    l.weight = add(module + ".weight", rows, k, Form::panels, base_live(), pieces);
    for (const Adapter& adapter : c_.adapters)
      if (adapter.module == module) l.lora.push_back(factors(module, adapter, ".lora_A.weight", Form::panels, k, ".lora_B.weight", pieces));
    return l;
  }

  // The adapter of a module that is no part of a layer.
  std::vector<Lora> apart(const std::string& module, const char* a, Form form, int64_t in, const char* b, int64_t rows) {
    std::vector<Lora> found;
    for (const Adapter& adapter : c_.adapters)
      if (adapter.module == module) found.push_back(factors(module, adapter, a, form, in, b, {rows}));
    return found;
  }

  bool base_live() const { return c_.trainable && c_.adapters.empty(); }

 private:
  Lora factors(const std::string& module, const Adapter& adapter, const char* a, Form form, int64_t in, const char* b,
               const std::vector<int64_t>& pieces) {
    align(true);
    const Ref first = add(module + a, adapter.rank, in, form, true);
    align(true);
    int64_t rows = 0, n = 0;
    for (int64_t piece : pieces) rows += piece, n += pad_to(piece, out_.nr);
    const Ref second = add(module + b, rows, adapter.rank, Form::panels, true, pieces);
    const int64_t rank_p = pad_to(adapter.rank, out_.nr);
    return {first, second, 0, n, adapter.rank, rank_p, adapter.scale};
  }

  Layout& out_;
  const Config& c_;
};

}  // namespace

Layout::Layout(const Config& given) : config(given), nr(kernels().nr) {
  const Config& c = config;
  const int64_t q = static_cast<int64_t>(c.heads) * c.head_dim, kv = static_cast<int64_t>(c.kv_heads) * c.head_dim;
  hidden_p = pad_to(c.hidden, nr);
  q_p = pad_to(q, nr);
  kv_p = pad_to(kv, nr);
  inner_p = pad_to(c.inner, nr);
  vocab_p = pad_to(c.vocab, nr);
  expert_p = pad_to(c.expert_inner, nr);
  experts_p = pad_to(c.experts, nr);

  Builder b(*this);
  const bool live = b.base_live();
  const bool scores_tokens = c.head == HeadKind::lm;
  b.align(live);
  // A tied embedding is stored the way the product at the other end of the model reads it.
  embed = b.add("model.embed_tokens.weight", c.vocab, c.hidden, c.tied && scores_tokens ? Form::panels : Form::rows, live);
  embed_lora = b.apart("model.embed_tokens", ".lora_embedding_A", Form::rows, c.vocab, ".lora_embedding_B", c.hidden);
  for (int i = 0; i < c.layers; i++) {
    const std::string prefix = "model.layers." + std::to_string(i) + ".";
    Layer l;
    l.window = c.windows.empty() ? 0 : c.windows[i];
    l.turned = std::find(c.unturned.begin(), c.unturned.end(), i) == c.unturned.end();
    l.near = std::find(c.near.begin(), c.near.end(), i) != c.near.end();
    const auto norm = [&](bool there, const char* name) { return there ? b.vec(prefix + name + ".weight", c.hidden, live) : Ref{}; };
    const bool both = c.norm_before && c.norm_after;
    l.attention = {norm(c.norm_before, "input_layernorm"), norm(c.norm_after, "post_attention_layernorm")};
    const std::vector<Part> three{{"self_attn.q_proj", q}, {"self_attn.k_proj", kv}, {"self_attn.v_proj", kv}};
    l.qkv = c.fused ? b.joined(prefix + "self_attn.qkv_proj", three, c.hidden) : b.linear(prefix, three, c.hidden, c.qkv_bias);
    if (c.qk_norm) {
      l.q_norm = b.vec(prefix + "self_attn.q_norm.weight", c.norm_width(c.heads), live);
      l.k_norm = b.vec(prefix + "self_attn.k_norm.weight", c.norm_width(c.kv_heads), live);
    }
    l.out = b.linear(prefix, {{"self_attn.o_proj", c.hidden}}, q, c.out_bias);
    l.feed = {norm(c.norm_before, both ? "pre_feedforward_layernorm" : "post_attention_layernorm"),
              norm(c.norm_after, "post_feedforward_layernorm")};
    const auto two = [](int64_t inner) { return std::vector<Part>{{"gate_proj", inner}, {"up_proj", inner}}; };
    if (std::find(c.sparse.begin(), c.sparse.end(), i) != c.sparse.end()) {
      l.router = b.linear(prefix, {{"mlp.gate", c.experts}}, c.hidden, false);
      for (int e = 0; e < c.experts; e++) {
        const std::string own = prefix + "mlp.experts." + std::to_string(e) + ".";
        l.experts.push_back({b.linear(own, two(c.expert_inner), c.hidden, false), b.linear(own, {{"down_proj", c.hidden}}, c.expert_inner, false)});
      }
    } else {
      l.gate_up = c.fused ? b.joined(prefix + "mlp.gate_up_proj", two(c.inner), c.hidden) : b.linear(prefix + "mlp.", two(c.inner), c.hidden, c.mlp_bias);
      l.down = b.linear(prefix, {{"mlp.down_proj", c.hidden}}, c.inner, c.mlp_bias);
    }
    layers.push_back(l);
  }
  final_norm = b.vec("model.norm.weight", c.hidden, live);
  if (scores_tokens) {
    b.align(live);
    lm_head = c.tied ? embed : b.add("lm_head.weight", c.vocab, c.hidden, Form::panels, live);
    head_lora = b.apart("lm_head", ".lora_A.weight", Form::panels, c.hidden, ".lora_B.weight", c.vocab);
  } else {
    // A new head is trained even where the rest is frozen under an adapter.
    score = b.vec("score.weight", c.hidden, c.trainable);
    if (c.head == HeadKind::value) score_bias = b.vec("score.bias", 1, c.trainable);
  }
  b.align(false);
  b.align(true);
}

bool Config::same_shape(const Config& o) const {
  const auto sizes = [](const Config& c) { return std::tuple(c.hidden, c.layers, c.heads, c.kv_heads, c.head_dim, c.inner, c.vocab); };
  const auto kinds = [](const Config& c) {
    return std::tuple(c.qk_norm, c.wide_norm, c.norm_before, c.norm_after, c.norm_unit, c.eps, c.rope_scale, c.fused, c.gelu,
                      c.embed_scale, c.attention_scale, c.attention_cap, c.logit_cap, c.experts, c.active, c.expert_inner,
                      c.norm_active);
  };
  const auto places = [](const Config& c) { return std::tie(c.inv_freq, c.near_freq, c.near, c.windows, c.unturned, c.sparse); };
  return sizes(*this) == sizes(o) && kinds(*this) == kinds(o) && places(*this) == places(o);
}

const Param* Layout::find(const std::string& name) const {
  for (const Param& p : params)
    if (p.name == name) return &p;
  return nullptr;
}

}  // namespace trinity
