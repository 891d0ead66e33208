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

  Ref add(const std::string& name, int64_t rows, int64_t cols, Form form, bool live) {
    size_t& end = live ? out_.live_size : out_.frozen_size;
    const int nr = out_.nr;
    const size_t size = form == Form::panels ? pad_to(rows, nr) * cols
                        : form == Form::rows ? rows * pad_to(cols, nr)
                                             : pad_to(cols, nr);
    const Ref at{end, live};
    out_.params.push_back({name, rows, cols, form, at, size});
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
        Lora lora = factors(module, adapter, ".lora_A.weight", Form::panels, k, ".lora_B.weight", p.rows);
        lora.first = first;
        l.lora.push_back(lora);
      }
      first += pad_to(p.rows, out_.nr);
    }
    return l;
  }

  // The adapter of a module that is no part of a layer.
  std::vector<Lora> apart(const std::string& module, const char* a, Form form, int64_t in, const char* b, int64_t rows) {
    std::vector<Lora> found;
    for (const Adapter& adapter : c_.adapters)
      if (adapter.module == module) found.push_back(factors(module, adapter, a, form, in, b, rows));
    return found;
  }

  bool base_live() const { return c_.trainable && c_.adapters.empty(); }

 private:
  Lora factors(const std::string& module, const Adapter& adapter, const char* a, Form form, int64_t in, const char* b, int64_t rows) {
    align(true);
    const Ref first = add(module + a, adapter.rank, in, form, true);
    align(true);
    const Ref second = add(module + b, rows, adapter.rank, Form::panels, true);
    const int64_t n = pad_to(rows, out_.nr), rank_p = pad_to(adapter.rank, out_.nr);
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
    l.norm1 = b.vec(prefix + (c.norm_after ? "post_attention_layernorm.weight" : "input_layernorm.weight"), c.hidden, live);
    l.qkv = b.linear(prefix, {{"self_attn.q_proj", q}, {"self_attn.k_proj", kv}, {"self_attn.v_proj", kv}}, c.hidden, c.qkv_bias);
    if (c.qk_norm) {
      l.q_norm = b.vec(prefix + "self_attn.q_norm.weight", c.norm_width(c.heads), live);
      l.k_norm = b.vec(prefix + "self_attn.k_norm.weight", c.norm_width(c.kv_heads), live);
    }
    l.out = b.linear(prefix, {{"self_attn.o_proj", c.hidden}}, q, c.out_bias);
    l.norm2 = b.vec(prefix + (c.norm_after ? "post_feedforward_layernorm.weight" : "post_attention_layernorm.weight"), c.hidden, live);
    l.gate_up = b.linear(prefix, {{"mlp.gate_proj", c.inner}, {"mlp.up_proj", c.inner}}, c.hidden, c.mlp_bias);
    l.down = b.linear(prefix, {{"mlp.down_proj", c.hidden}}, c.inner, c.mlp_bias);
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
  const auto kinds = [](const Config& c) { return std::tuple(c.qk_norm, c.wide_norm, c.norm_after, c.eps, c.rope_scale); };
  return sizes(*this) == sizes(o) && kinds(*this) == kinds(o) && inv_freq == o.inv_freq && windows == o.windows &&
         unturned == o.unturned;
}

const Param* Layout::find(const std::string& name) const {
  for (const Param& p : params)
    if (p.name == name) return &p;
  return nullptr;
}

}  // namespace trinity
