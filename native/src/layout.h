// Where every parameter of a model lies in memory. Matrices that read the same input are stored next to each other
// (q|k|v, gate|up), so that one product computes them together.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace trinity {

enum class HeadKind { lm, value, reward };

// A low-rank adapter of one linear module, of the embedding or of the head.
struct Adapter {
  std::string module;  // model.layers.0.self_attn.q_proj, model.embed_tokens, lm_head
  int rank;
  float scale;
};

struct Config {
  int hidden = 0, layers = 0, heads = 0, kv_heads = 0, head_dim = 0, inner = 0, vocab = 0, max_len = 0;
  int pad_id = -1;  // its embedding row is not trained by inputs, as in PyTorch
  float eps = 1e-6f;
  bool tied = false, qkv_bias = false, out_bias = false, mlp_bias = false, qk_norm = false;
  bool wide_norm = false;   // q and k are normed as a whole, not head by head
  bool norm_before = true;  // a layer norms what attention and feed-forward part take
  bool norm_after = false;  // … and what they give
  bool fused = false;       // q, k and v are one matrix of the file, gate and up another
  bool gelu = false;        // the gate's activation: GELU by tanh, else SiLU
  int experts = 0, active = 0, expert_inner = 0;  // of the layers `sparse`: experts, those of a token, their width
  bool norm_active = false;                       // the shares of a token's experts add up to 1
  std::vector<int32_t> sparse;
  float norm_unit = 0;      // what is added to the weights of norms
  float embed_scale = 1;
  float attention_scale = 0;                  // of q · k
  float attention_cap = 0, logit_cap = 0;     // of scores and logits: cap · tanh(x / cap); 0: none
  HeadKind head = HeadKind::lm;
  bool trainable = false;
  bool checkpointing = false;
  std::vector<Adapter> adapters;  // none: every parameter is trained
  std::vector<float> inv_freq;    // of each pair that is rotated: head_dim / 2 of them, or fewer
  std::vector<float> near_freq;   // the same for layers that rotate in their own way, in ascending order: `near`
  std::vector<int32_t> near;
  float rope_scale = 1;           // of cosines and sines
  std::vector<int32_t> windows;   // of each layer: tokens that it sees; 0: all. Empty: no layer has one
  std::vector<int32_t> unturned;  // layers without positions, in ascending order

  int turned() const { return static_cast<int>(2 * inv_freq.size()); }  // dimensions of a head that are rotated
  int norm_groups(int heads) const { return wide_norm ? 1 : heads; }
  int norm_width(int heads) const { return wide_norm ? heads * head_dim : head_dim; }
  // Everything that the numbers of a model depend on but its weights.
  bool same_shape(const Config& other) const;
};

// panels: see gemm.h. rows: row-major, rows padded to NR columns. vec: one padded row.
enum class Form { panels, rows, vec };

// A place in one of the two arenas: `live` is trained, `frozen` is not.
struct Ref {
  static constexpr size_t NONE = ~static_cast<size_t>(0);
  size_t offset = NONE;
  bool live = false;
  explicit operator bool() const { return offset != NONE; }
};

struct Param {
  std::string name;
  int64_t rows, cols;  // as in the file; a vector has one row
  Form form;
  Ref at;
  size_t size;                  // floats in the arena, with padding
  std::vector<int64_t> pieces;  // rows of the matrices that it joins, each padded; empty: it is one
};

struct Lora {
  Ref a, b;          // [rank x in], [out x rank]; of an embedding a: [rank x vocabulary], by rows
  int64_t first, n;  // padded columns of the fused output that it adds to
  int rank;
  int64_t rank_p;  // padded to NR
  float scale;
};

// One product: y = x · wᵀ + bias, and the adapters of its parts.
struct Linear {
  Ref weight, bias;
  int64_t n = 0, k = 0;  // n padded
  std::vector<Lora> lora;
};

// The norms of attention or feed-forward part: of what it takes, of what it gives. None: there is no such norm.
struct Around {
  Ref before, after;
};

struct Expert {
  Linear gate_up, down;
};

struct Layer {
  Around attention, feed;
  Ref q_norm, k_norm;
  Linear qkv, out, gate_up, down;
  Linear router;  // in place of the last two: experts, and what chooses among them
  std::vector<Expert> experts;
  int window = 0;
  bool turned = true, near = false;
};

struct Layout {
  Config config;
  int nr;
  int64_t hidden_p, q_p, kv_p, inner_p, vocab_p, expert_p, experts_p;  // widths padded to NR
  std::vector<Param> params;
  std::vector<Layer> layers;
  Ref embed, final_norm, lm_head, score, score_bias;  // lm_head = embed when tied
  std::vector<Lora> embed_lora, head_lora;            // one at most
  size_t frozen_size = 0, live_size = 0;              // floats

  explicit Layout(const Config& config);
  int64_t qkv_width() const { return q_p + 2 * kv_p; }
  const Param* find(const std::string& name) const;
};

}  // namespace trinity
