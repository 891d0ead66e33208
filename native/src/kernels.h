// The table of kernels of one instruction set. Kernels work on ranges and never start threads; the callers in src/
// divide the work so that no sum is ever split by the number of threads.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace trinity {

// Keys per attention block: softmax statistics are merged once per block, so every path must use the same size.
constexpr int KEYS = 32;
// Queries per attention block in training: whole tiles for every instruction set.
constexpr int QUERIES = 84;
// Rows of one gemm_block call: as many as keep the packed rows in the second-level cache.
constexpr int MC = 168;
// The same where the right-hand side must be packed as well, once per block of rows.
constexpr int MC_PACKING = 520;
// Longest block of the inner dimension, and the same where rows or panels are packed.
constexpr int KC_MAX = 512, KC_PACKING = 256;
// Longest block of the inner dimension of a product in bfloat16 (even), and words that one of a single row fetches ahead.
constexpr int BRAIN_K = 512, BRAIN_AHEAD = 384;
// Panels of a row-major right-hand side that are packed together.
constexpr int B_GROUP = 8;
// Heads that attention_row takes side by side.
constexpr int ROW_HEADS = 4;
// Vocabulary columns whose softmax statistics are folded at once: one constant for every path, because folding rounds.
constexpr int VOCAB_CHUNK = 1024;
// Tokens whose probabilities are summed at once when one is drawn.
constexpr int DRAW_BLOCK = 64;

// Blocks of k of about the same length, no longer than `limit`.
static inline int block_length(int64_t k, int limit) {
  const int64_t count = k > limit ? (k + limit - 1) / limit : 1;
  return static_cast<int>(((k + count - 1) / count + 31) / 32 * 32);
}

// C[m x panels*NR] (+)= A[m x k] · B. Element (i, k) of A: a[i*a_rs + k*a_ks]; row k of B's panel p: b + p*b_ps + k*b_ks
// (NR floats); row i of C's panel p: c + i*c_rs + p*c_ps (NR floats).
struct GemmBlock {
  const float* a;
  ptrdiff_t a_rs, a_ks;
  const float* b;
  ptrdiff_t b_ps, b_ks;
  float* c;
  ptrdiff_t c_rs, c_ps;
  int m, panels, k;
  bool accumulate;
  float* scratch;
  // In place of b where not null: the same panels in 16 bits (bfloat16 or half precision), b_ps and b_ks in elements.
  const uint16_t* half = nullptr;
  bool brain = false;
  // In place of a where not null: `tile_rows` rows packed by pack_tiles in blocks of block_length(k, KC_PACKING), one after
  // the other; the rows of this call are tiles [first_tile, last_tile).
  const float* tiles = nullptr;
  int tile_rows = 0, first_tile = 0, last_tile = 0;
  // In place of b where not null: panels of its transpose, [k/NR][turned_k][NR]; b's first panel is their `first_panel`.
  const float* turned = nullptr;
  int64_t turned_k = 0;
  int first_panel = 0;
};

// C[m x panels*NR] (+)= A[m x k] · B, both rounded to bfloat16 (see brain_kernel.h). Row i of A: a + i*a_rs; B's panel p, pairs of
// its k: b + p*b_ps; row i of C's panel p: c + i*c_rs + p*c_ps. scratch: m * BRAIN_K / 2 words.
struct BrainBlock {
  const float* a;
  ptrdiff_t a_rs;
  const uint32_t* b;
  ptrdiff_t b_ps;
  float* c;
  ptrdiff_t c_rs, c_ps;
  int m, panels, k;
  bool accumulate;
  uint32_t* scratch;
};

// One head of one sequence. q, k, v: row t at base + t*ld, already rotated. o: row t at o + t*ldo.
struct AttentionHead {
  const float* q;
  const float* k;
  const float* v;
  ptrdiff_t ld;
  float* o;
  ptrdiff_t ldo;
  float* lse;  // row t at lse[t*lds]
  ptrdiff_t lds;
  int dim;
  float scale;
  int window = 0;  // keys that a query sees, its own included; 0: all before it
  float cap = 0;   // scores become cap · tanh(score / cap); 0: they stay
};

// One query of each of some heads, side by side in q and out, against the first `visible` keys of the cache, less the first
// `hidden` (of the first page). A page: packed keys, then values, [KEYS][pad(dim)], `gap` floats further on those of the next
// head. `next` is what will be read afterward: fetched on the way.
struct AttentionRow {
  const float* q;
  const float* const* pages;
  int visible, dim;
  float scale;
  float* out;
  const float* next;
  int hidden = 0;
  float cap = 0;
  int heads = 1;
  ptrdiff_t gap = 0;
};

// Gradients of the query heads [0, group) that share one key/value head. Rows as in AttentionHead; dq, dk, dv are
// written (not added to); q, o, dout, dq, lse of head h start h*dim (lse: h) further on.
struct AttentionGroup {
  const float *q, *k, *v;
  ptrdiff_t ld;
  const float *o, *dout;
  ptrdiff_t ldo;
  const float* lse;
  ptrdiff_t lds;
  float *dq, *dk, *dv;
  ptrdiff_t ldd;
  int length, dim, group;
  float scale;
  int first = 0;  // queries before this one have no gradient, and none is written for them
  int window = 0;
  float cap = 0;
};

// The first block of keys that a query with this window sees.
static inline int first_block(int query, int window) {
  return window > 0 && query >= window ? (query + 1 - window) / KEYS * KEYS : 0;
}

// Running softmax statistics of one row of logits/T: maximum, Σ e^(l-max), Σ e^(l-max)·(l-max), Σ e^2(l-max).
struct SoftmaxState {
  float max = -INFINITY, sum = 0, weighted = 0, squares = 0;
};

// Of one row: log of the partition sum, entropy and Σp², and the gradients by its log-probs (all of them together), by its
// entropy and by Σp². d(loss)/d(logit) = inv_t·p·(-g_lp - g_ent·(log p + H) + 2·g_sq·(p - Σp²)) with p = e^(logit·inv_t - lse)
struct SoftmaxBack {
  float lse, entropy, squares, g_logprob, g_entropy, g_squares;
};

// The largest term is 1, so the sum is no less, whatever rounding made of it; NaN stays NaN. Static: this header is
// compiled for several instruction sets.
static inline float log_sum(const SoftmaxState& s) { return std::log(s.sum < 1 ? 1.0f : s.sum); }

// AdamW with everything that does not depend on the element worked out: keep = 1 - lr·decay, step = lr / (1 - β1^t),
// root = 1 / √(1 - β2^t), mix = 1 - β.
struct AdamArgs {
  float keep, step, root, beta2, mix1, mix2, eps, grad_scale;
};

struct Kernels {
  const char* name;
  int nr, mr, gr;  // columns of a panel; most rows of a tile of attention, of a product
  bool widens_f16;  // panels of half precision can be read; those of bfloat16 always can

  void (*gemm_block)(const GemmBlock&);
  // Rows of tiles [first, last) of a transposed matrix (element (row, k) at a[k*ld + row]) as gemm_block reads them:
  // [tile][kc][GR]. `out`: where tile 0 begins.
  void (*pack_tiles)(const float* a, ptrdiff_t ld, int rows, int first, int last, int kc, float* out);
  // Panels of a matrix (rows [n0, n0 + count), whole panels) into panels [q0, q1) of its transpose, [count][NR] each.
  void (*transpose_panels)(const float* w, int64_t k, int64_t n0, int64_t count, int64_t q0, int64_t q1, float* out);
  double (*fma_peak)(int64_t rounds, float* sink);
  // Products in bfloat16, by plain code, and a panel of theirs, [(k+1)/2][NR] words, from one of 32 bits.
  void (*brain_block)(const BrainBlock&);
  void (*pair_panel)(const float* panel, int64_t k, uint32_t* out);

  // y = x / rms(x) · (w + unit) over `n` columns; rstd[row] is kept for the backward pass (may be null).
  void (*rmsnorm)(const float* x, ptrdiff_t ldx, const float* w, float unit, float eps, int64_t rows, int n, float* y,
                  ptrdiff_t ldy, float* rstd, ptrdiff_t lds);
  // dx += or = gradient through the norm; the weight gradient is a separate pass over columns.
  void (*rmsnorm_back)(const float* x, ptrdiff_t ldx, const float* w, float unit, const float* rstd, ptrdiff_t lds,
                       const float* dy, ptrdiff_t lddy, int64_t rows, int n, float* dx, ptrdiff_t lddx, bool add);
  // dw[c] += Σ_rows dy·x·rstd for columns [c0, c1)
  void (*rmsnorm_weight)(const float* x, ptrdiff_t ldx, const float* rstd, ptrdiff_t lds, const float* dy, ptrdiff_t lddy,
                         int64_t rows, int c0, int c1, float* dw);
  // Rotates pairs (i, i + turned/2) of every head; `direction` -1 undoes it. Tables: [position][turned/2].
  void (*rope)(float* x, ptrdiff_t ld, const int32_t* positions, int64_t rows, int heads, int dim, int turned,
               const float* cosines, const float* sines, float direction);
  void (*swiglu)(const float* gate_up, ptrdiff_t ldg, int up, int64_t rows, float* act, ptrdiff_t lda);
  // From d(act): d(gate) and d(up) in place of gate and up, and act again (the input of the down projection).
  void (*swiglu_back)(float* gate_up, ptrdiff_t ldg, int up, int64_t rows, const float* dact, ptrdiff_t ldd, float* act,
                      ptrdiff_t lda);
  // The same with GELU by tanh in place of SiLU.
  void (*geglu)(const float* gate_up, ptrdiff_t ldg, int up, int64_t rows, float* act, ptrdiff_t lda);
  void (*geglu_back)(float* gate_up, ptrdiff_t ldg, int up, int64_t rows, const float* dact, ptrdiff_t ldd, float* act,
                     ptrdiff_t lda);
  void (*squash)(float* x, int64_t n, float cap);  // x = cap · tanh(x / cap)
  void (*add_bias)(float* y, ptrdiff_t ld, const float* bias, int64_t rows, int n);
  // out[c] += Σ_rows y[row][c], columns [c0, c1)
  void (*column_sum)(const float* y, ptrdiff_t ld, int64_t rows, int c0, int c1, float* out);
  void (*axpy)(float scale, const float* x, float* y, int64_t n);  // y += scale·x
  void (*scale)(float scale, float* x, int64_t n);
  float (*dot)(const float* a, const float* b, int64_t n);

  // Attention. pack_keys: rows [0, n) of k (n ≤ KEYS) to NR-wide panels of kᵀ, [KEYS/NR][dim][NR], zero past n.
  void (*pack_keys)(const float* k, ptrdiff_t ld, int n, int dim, float* out);
  // Up to QUERIES rows against one block of keys, of which row i may see the first visible[i] (≤ KEYS) less the first
  // hidden[i] (null: none are).
  // state: [rows] max, then [rows] sum; acc: [rows][ldacc] unnormalized output. The caller starts from
  // max = -inf, sum = 0, acc = 0 and divides at the end (attention_finish). `next`: keys that will be read after
  // this block, where it is a page of the cache (v in one run): fetched on the way. Null: nothing is.
  void (*attention_block)(const float* q, ptrdiff_t ldq, float scale, float cap, int rows, int dim, const float* kt, const float* v,
                          ptrdiff_t ldv, const int* visible, const int* hidden, float* max, float* sum, float* acc, ptrdiff_t ldacc,
                          float* scratch, const float* next);
  // out = acc / sum; lse = max + log(sum) (may be null)
  void (*attention_finish)(const float* max, const float* sum, const float* acc, ptrdiff_t ldacc, int rows, int dim,
                           float* out, ptrdiff_t ldo, float* lse, ptrdiff_t lds);
  // The same numbers for queries that have their keys for themselves. scratch: ROW_HEADS * (dim + pad(dim) + KEYS) floats.
  void (*attention_row)(const AttentionRow& row, float* scratch);
  // Queries [q0, q0 + n) of one head; kt: packed keys of all blocks.
  void (*attention)(const AttentionHead& head, int q0, int n, const float* kt, float* scratch);
  void (*attention_back)(const AttentionGroup& group, float* scratch);

  // out[i] = e^(logits[i]·inv_t - peak), and the sum of every DRAW_BLOCK of them.
  void (*exp_blocks)(const float* logits, int64_t n, float inv_t, float peak, float* out, float* sums);
  // Folds `n` logits (scaled by inv_t) into the row's state.
  void (*softmax_fold)(const float* logits, int64_t n, float inv_t, SoftmaxState* state);
  // logits → what d(loss)/d(logits) has of every token; the caller adds inv_t·g where a log-prob was taken
  void (*softmax_back)(float* logits, int64_t n, float inv_t, const SoftmaxBack& g);

  double (*sum_squares)(const float* x, int64_t n);  // NaN or inf when any is
  // w_out may equal w_in; the gradient is zeroed. n is a multiple of 16.
  void (*adamw)(const AdamArgs& a, const float* w_in, float* w_out, float* g, float* m, float* v, int64_t n);
};

// Chosen once, at load: the widest set that the machine has, or the one TRINITY_NATIVE_ISA names.
const Kernels& kernels();
// kernels().brain_block, or the same by an instruction where the machine has one (and TRINITY_NATIVE_ISA names none).
void (*brain_products())(const BrainBlock&);

static inline int64_t pad_to(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

}  // namespace trinity
