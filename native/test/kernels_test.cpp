// Kernels and products against plain loops in double precision, over random shapes. Runs under sanitizers
// (scripts/sanitize-native.sh): buffers have exactly the size that the code promises to need.
#include <algorithm>
#include <cstring>
#include <memory>

#include "../src/gemm.h"
#include "../src/kernels.h"
#include "../src/pool.h"
#include "check.h"

using namespace trinity;
using test::between;

// Plain allocations: a sanitizer sees every element past the end.
struct Floats {
  std::unique_ptr<float[]> data;
  size_t n;
  explicit Floats(size_t n) : data(new float[n]()), n(n) { test::fill(data.get(), n); }
  void clear() { std::fill(data.get(), data.get() + n, 0.0f); }
  float* p() { return data.get(); }
  float& operator[](size_t i) { return data[i]; }
};

static float panel(Floats& w, int64_t row, int64_t col, int64_t k) {
  const int nr = kernels().nr;
  return w[row / nr * nr * k + col * nr + row % nr];
}

static void products() {
  const int nr = kernels().nr;
  const int64_t m = between(1, 200), n = pad_to(between(1, 150), nr), k = between(1, 600), kp = pad_to(k, nr);
  Floats x(m * kp), w(n * k), y(m * n), once(n);
  const bool accumulate = test::bits() & 1;
  Floats before(m * n);
  std::copy(y.p(), y.p() + m * n, before.p());
  linear(x.p(), kp, m, {w.p(), n, k}, y.p(), n, accumulate);
  for (int64_t i = 0; i < m; i += between(1, 9))
    for (int64_t j = 0; j < n; j += between(1, 9)) {
      double want = accumulate ? before[i * n + j] : 0;
      for (int64_t c = 0; c < k; c++) want += static_cast<double>(x[i * kp + c]) * panel(w, j, c, k);
      test::near("linear", y[i * n + j], want, 1e-5);
    }
  // The same row alone gives the same bits.
  const int64_t row = between(0, static_cast<int>(m - 1));
  std::copy(before.p() + row * n, before.p() + row * n + n, once.p());
  linear(x.p() + row * kp, kp, 1, {w.p(), n, k}, once.p(), n, accumulate);
  for (int64_t j = 0; j < n; j++) test::same("a row alone", once[j], y[row * n + j]);

  Floats dx(m * kp), dw(n * k);
  Buffer packed;
  linear_input_grad(y.p(), n, m, {w.p(), n, k}, dx.p(), kp, false, packed);
  for (int64_t i = 0; i < m; i += between(1, 9))
    for (int64_t c = 0; c < kp; c += between(1, 9)) {
      double want = 0;
      for (int64_t j = 0; j < n && c < k; j++) want += static_cast<double>(y[i * n + j]) * panel(w, j, c, k);
      test::near("linear_input_grad", dx[i * kp + c], want, 1e-4);
    }
  dw.clear();
  linear_weight_grad(y.p(), n, x.p(), kp, m, n, k, dw.p(), packed);
  for (int64_t j = 0; j < n; j += between(1, 9))
    for (int64_t c = 0; c < k; c += between(1, 9)) {
      double want = 0;
      for (int64_t i = 0; i < m; i++) want += static_cast<double>(y[i * n + j]) * x[i * kp + c];
      test::near("linear_weight_grad", panel(dw, j, c, k), want, 1e-4);
    }
}

// Gradients large enough for threads to pack operands together: the bits of one thread alone.
static void large_gradients() {
  const int nr = kernels().nr;
  const int64_t m = between(1030, 1300), n = pad_to(between(60, 100), nr), k = between(520, 600), kp = pad_to(k, nr);
  Floats x(m * kp), w(n * k), dy(m * n), dx(m * kp), dw(n * k), dx1(m * kp), dw1(n * k);
  dw.clear();
  dw1.clear();
  Buffer packed;
  linear_input_grad(dy.p(), n, m, {w.p(), n, k}, dx.p(), kp, false, packed);
  linear_weight_grad(dy.p(), n, x.p(), kp, m, n, k, dw.p(), packed);
  const Alone scope;
  linear_input_grad(dy.p(), n, m, {w.p(), n, k}, dx1.p(), kp, false, packed);
  linear_weight_grad(dy.p(), n, x.p(), kp, m, n, k, dw1.p(), packed);
  for (size_t i = 0; i < dx.n; i++) test::same("input gradient", dx[i], dx1[i]);
  for (size_t i = 0; i < dw.n; i++) test::same("weight gradient", dw[i], dw1[i]);
  for (int64_t j = 0; j < n; j += between(1, 9))
    for (int64_t c = 0; c < k; c += between(1, 99)) {
      double want = 0;
      for (int64_t i = 0; i < m; i++) want += static_cast<double>(dy[i * n + j]) * x[i * kp + c];
      test::near("weight gradient", panel(dw, j, c, k), want, 1e-4);
    }
}

// o = softmax(scale·q·kᵀ, capped or not, causal, with a window or none)·v of one head, and its gradients, against double loops.
static void attention() {
  const Kernels& kern = kernels();
  const int length = between(1, 150), dim = 2 * between(1, 40), group = between(1, 3), pad = static_cast<int>(pad_to(dim, kern.nr));
  const int ld = (group + 2) * dim, ldo = group * dim, window = test::bits() & 1 ? between(1, 100) : 0;
  const float cap = test::bits() & 1 ? 0.3f : 0.0f;
  Floats qkv(length * ld + kern.nr), out(length * ldo), dout(length * ldo + kern.nr), lse(length * group), d(length * ld);
  const float scale = 1.0f / std::sqrt(static_cast<float>(dim));
  const int blocks = (length + KEYS - 1) / KEYS;
  const float *k = qkv.p() + group * dim, *v = k + dim;
  Floats kt(static_cast<size_t>(blocks) * KEYS * dim);
  for (int b = 0; b < blocks; b++)
    kern.pack_keys(k + b * KEYS * ld, ld, std::min(KEYS, length - b * KEYS), dim, kt.p() + static_cast<size_t>(b) * KEYS * dim);
  Floats work(QUERIES * (KEYS + pad) + std::max(dim, KEYS) * kern.mr);
  for (int h = 0; h < group; h++) {
    AttentionHead head{qkv.p() + h * dim, k, v, ld, out.p() + h * dim, ldo, lse.p() + h, group, dim, scale, window, cap};
    for (int q0 = 0; q0 < length; q0 += QUERIES) kern.attention(head, q0, std::min(QUERIES, length - q0), kt.p(), work.p());
  }
  Floats scratch(static_cast<size_t>(2) * blocks * KEYS * (dim + pad) + QUERIES * (pad + 2 * KEYS) + std::max(dim, KEYS) * kern.mr);
  AttentionGroup g{qkv.p(), k, v, ld, out.p(), dout.p(), ldo, lse.p(), group, d.p(), d.p() + group * dim, d.p() + (group + 1) * dim,
                   ld, length, dim, group, scale, 0, window, cap};
  kern.attention_back(g, scratch.p());

  std::vector<double> want(length * ld, 0.0);
  for (int h = 0; h < group; h++)
    for (int i = 0; i < length; i++) {
      const float* q = qkv.p() + i * ld + h * dim;
      std::vector<double> s(i + 1), slope(i + 1, 1.0), o(dim, 0.0);
      const int low = window > 0 ? std::max(0, i + 1 - window) : 0;
      double top = -1e30, sum = 0;
      for (int j = low; j <= i; j++) {
        for (int c = 0; c < dim; c++) s[j] += static_cast<double>(q[c]) * k[j * ld + c] * scale;
        if (cap > 0) {
          const double t = std::tanh(s[j] / cap);
          s[j] = cap * t;
          slope[j] = 1 - t * t;
        }
        top = std::max(top, s[j]);
      }
      for (int j = low; j <= i; j++) sum += (s[j] = std::exp(s[j] - top));
      for (int j = low; j <= i; j++)
        for (int c = 0; c < dim; c++) o[c] += (s[j] / sum) * v[j * ld + c];
      double pull = 0;
      for (int c = 0; c < dim; c++) {
        test::near("attention", out[i * ldo + h * dim + c], o[c], 2e-5);
        pull += o[c] * dout[i * ldo + h * dim + c];
      }
      for (int j = low; j <= i; j++) {
        const double p = s[j] / sum;
        double dp = 0;
        for (int c = 0; c < dim; c++) dp += static_cast<double>(dout[i * ldo + h * dim + c]) * v[j * ld + c];
        const double ds = p * (dp - pull) * slope[j] * scale;
        for (int c = 0; c < dim; c++) {
          want[i * ld + h * dim + c] += ds * k[j * ld + c];
          want[j * ld + group * dim + c] += ds * q[c];
          want[j * ld + (group + 1) * dim + c] += p * dout[i * ldo + h * dim + c];
        }
      }
    }
  for (int i = 0; i < length * ld; i++) test::near("attention_back", d[i], want[i], 1e-4);
}

// Queries of some heads that have their keys for themselves: the bits of a block with one row each.
static void attention_alone() {
  const Kernels& kern = kernels();
  const int length = between(1, 150), dim = 2 * between(1, 40), pad = static_cast<int>(pad_to(dim, kern.nr)), heads = between(1, 7);
  const int pages = (length + KEYS - 1) / KEYS, gap = KEYS * (dim + pad), page = heads * gap;
  Floats cache(pages * page), q(heads * dim), out(heads * dim), want(dim), acc(pad), row(ROW_HEADS * (dim + pad + KEYS));
  Floats work(QUERIES * KEYS + std::max(dim, KEYS) * kern.mr);
  std::vector<const float*> at;
  for (int i = 0; i < pages; i++) at.push_back(cache.p() + i * page);
  const float cap = test::bits() & 1 ? 0.5f : 0.0f;
  const int hidden = test::bits() & 1 ? between(0, std::min(length, KEYS) - 1) : 0, none = 0;
  kern.attention_row({q.p(), at.data(), length, dim, 0.3f, out.p(), at[0], hidden, cap, heads, gap}, row.p());
  for (int h = 0; h < heads; h++) {
    float max = -INFINITY, sum = 0;
    acc.clear();
    for (int i = 0; i < pages; i++) {
      const int visible = std::min(KEYS, length - i * KEYS);
      const float* keys = at[i] + h * gap;
      kern.attention_block(q.p() + h * dim, dim, 0.3f, cap, 1, dim, keys, keys + KEYS * dim, pad, &visible, i == 0 ? &hidden : &none,
                           &max, &sum, acc.p(), pad, work.p(), nullptr);
    }
    kern.attention_finish(&max, &sum, acc.p(), pad, 1, dim, want.p(), dim, nullptr, 0);
    for (int d = 0; d < dim; d++) test::same("attention of one query", out[h * dim + d], want[d]);
  }
}

// Panels in 16 bits: the bits of the same panels at full width.
static void narrow_products() {
  const int nr = kernels().nr;
  const int64_t m = test::bits() & 1 ? 1 : between(2, 60), n = pad_to(between(1, 300), nr), k = between(1, 600), kp = pad_to(k, nr);
  const bool brain = !kernels().widens_f16 || (test::bits() & 1);
  Floats x(m * kp), w(n * k), wide(m * n), narrow(m * n);
  std::vector<uint16_t> half(n * k);
  for (int64_t i = 0; i < n * k; i++) {
    // Multiples of 1/8 up to 7/8 with a sign: exact in both.
    const int eighths = between(-7, 7);
    w[i] = static_cast<float>(eighths) / 8;
    uint32_t bits;
    std::memcpy(&bits, &w[i], sizeof bits);
    half[i] = brain ? static_cast<uint16_t>(bits >> 16)
                    : static_cast<uint16_t>(eighths == 0 ? 0 : (bits >> 16 & 0x8000) | (((bits >> 23 & 0xff) - 112) << 10) | (bits >> 13 & 0x3ff));
  }
  std::copy(wide.p(), wide.p() + m * n, narrow.p());
  const bool accumulate = test::bits() & 1;
  linear(x.p(), kp, m, {w.p(), n, k}, wide.p(), n, accumulate);
  linear(x.p(), kp, m, {w.p(), n, k, half.data(), brain}, narrow.p(), n, accumulate);
  for (int64_t i = 0; i < m * n; i++) test::same("product with 16-bit panels", narrow[i], wide[i]);
}

static float rounded(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const uint32_t low = bits & 0xffff, even = bits >> 16 & 1;
  bits = (bits & 0xffff0000u) + (low > 0x8000 || (low == 0x8000 && even) ? 0x10000 : 0);
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// In bfloat16: the bits of plain sums, the second of each pair first, by plain code and by the instruction where there is one.
static void brain_products_of() {
  const int nr = kernels().nr;
  const int64_t m = test::bits() & 1 ? 1 : between(2, 60), n = pad_to(between(1, 300), nr), k = between(1, 1100), kp = pad_to(k, nr);
  Floats x(m * kp), w(n * k), y(m * n), again(m * n);
  std::vector<uint32_t> pairs(n * ((k + 1) / 2)), scratch(m * BRAIN_K / 2);
  const int64_t words = (k + 1) / 2 * nr;
  for (int64_t p = 0; p < n / nr; p++) kernels().pair_panel(w.p() + p * k * nr, k, pairs.data() + p * words);
  const bool accumulate = test::bits() & 1;
  std::vector<float> want(m * n);
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) {
      const auto part = [&](int64_t at) {
        return at < k ? rounded(x[i * kp + at]) * rounded(w[j / nr * k * nr + at * nr + j % nr]) : 0.0f;
      };
      float sum = accumulate ? y[i * n + j] : 0.0f;
      for (int64_t at = 0; at < k; at += 2) sum += part(at + 1), sum += part(at);
      want[i * n + j] = sum;
    }
  std::copy(y.p(), y.p() + m * n, again.p());
  Panels panels{w.p(), n, k};
  panels.pairs = pairs.data();
  linear(x.p(), kp, m, panels, y.p(), n, accumulate);
  kernels().brain_block({x.p(), kp, pairs.data(), words, again.p(), n, nr, static_cast<int>(m), static_cast<int>(n / nr),
                         static_cast<int>(k), accumulate, scratch.data()});
  for (int64_t i = 0; i < m * n; i++) {
    test::same("product in bfloat16", y[i], want[i]);
    test::same("product in bfloat16, plain", again[i], want[i]);
  }
}

static void vocabulary() {
  const Kernels& kern = kernels();
  const int n = between(1, 3000);
  Floats logits(n);
  for (int i = 0; i < n; i++) logits[i] *= 20;
  const float inv_t = 0.5f + std::fabs(test::uniform());
  SoftmaxState s;
  for (int at = 0; at < n; at += VOCAB_CHUNK) kern.softmax_fold(logits.p() + at, std::min(VOCAB_CHUNK, n - at), inv_t, &s);
  double top = -1e30, sum = 0, entropy = 0, squares = 0;
  for (int i = 0; i < n; i++) top = std::max(top, static_cast<double>(logits[i]) * inv_t);
  for (int i = 0; i < n; i++) sum += std::exp(logits[i] * static_cast<double>(inv_t) - top);
  const double lse = top + std::log(sum);
  for (int i = 0; i < n; i++) {
    const double logp = logits[i] * static_cast<double>(inv_t) - lse;
    entropy -= std::exp(logp) * logp;
    squares += std::exp(2 * logp);
  }
  test::near("softmax_fold: log-sum-exp", s.max + std::log(s.sum), lse, 1e-6);
  test::near("softmax_fold: entropy", std::log(s.sum) - s.weighted / s.sum, entropy, 2e-5);
  test::near("softmax_fold: squares", s.squares / s.sum / s.sum, squares, 2e-5);
  Floats d(n);
  std::copy(logits.p(), logits.p() + n, d.p());
  const auto narrow = [](double x) { return static_cast<float>(x); };
  kern.softmax_back(d.p(), n, inv_t, {narrow(lse), narrow(entropy), narrow(squares), 0.7f, -0.3f, 0.4f});
  for (int i = 0; i < n; i++) {
    const double logp = logits[i] * static_cast<double>(inv_t) - lse, p = std::exp(logp);
    test::near("softmax_back", d[i], -inv_t * p * (0.7 - 0.3 * (logp + entropy) - 0.8 * (p - squares)), 2e-5);
  }
}

static void rows() {
  const Kernels& kern = kernels();
  const int n = between(1, 100), m = between(1, 20);
  Floats x(m * n), w(n), y(m * n), rstd(m), dy(m * n), dx(m * n), dw(n);
  const float unit = test::bits() & 1 ? 1.0f : 0.0f;
  kern.rmsnorm(x.p(), n, w.p(), unit, 1e-5f, m, n, y.p(), n, rstd.p(), 1);
  dw.clear();
  kern.rmsnorm_back(x.p(), n, w.p(), unit, rstd.p(), 1, dy.p(), n, m, n, dx.p(), n, false);
  kern.rmsnorm_weight(x.p(), n, rstd.p(), 1, dy.p(), n, m, 0, n, dw.p());
  std::vector<double> dwant(n, 0.0);
  for (int r = 0; r < m; r++) {
    double square = 0, pull = 0;
    for (int i = 0; i < n; i++) square += static_cast<double>(x[r * n + i]) * x[r * n + i];
    const double inv = 1 / std::sqrt(square / n + 1e-5);
    for (int i = 0; i < n; i++) pull += static_cast<double>(dy[r * n + i]) * (w[i] + unit) * x[r * n + i];
    for (int i = 0; i < n; i++) {
      test::near("rmsnorm", y[r * n + i], x[r * n + i] * inv * (w[i] + unit), 1e-5);
      test::near("rmsnorm_back", dx[r * n + i], dy[r * n + i] * (w[i] + unit) * inv - x[r * n + i] * pull * inv * inv * inv / n, 1e-4);
      dwant[i] += dy[r * n + i] * x[r * n + i] * inv;
    }
  }
  for (int i = 0; i < n; i++) test::near("rmsnorm_weight", dw[i], dwant[i], 1e-5);

  const int up = static_cast<int>(pad_to(between(1, 60), kern.nr));
  Floats gu(m * 2 * up), act(m * up), again(m * up), dact(m * up);
  for (size_t i = 0; i < gu.n; i++) gu[i] *= 30;
  Floats kept(gu.n);
  std::copy(gu.p(), gu.p() + gu.n, kept.p());
  kern.swiglu(gu.p(), 2 * up, up, m, act.p(), up);
  kern.swiglu_back(gu.p(), 2 * up, up, m, dact.p(), up, again.p(), up);
  for (int r = 0; r < m; r++)
    for (int i = 0; i < up; i++) {
      const double gate = kept[r * 2 * up + i], lift = kept[r * 2 * up + up + i], s = 1 / (1 + std::exp(-gate));
      test::near("swiglu", act[r * up + i], gate * s * lift, 1e-5);
      test::near("swiglu_back: act", again[r * up + i], gate * s * lift, 1e-5);
      test::near("swiglu_back: gate", gu[r * 2 * up + i], dact[r * up + i] * lift * (s + gate * s * (1 - s)), 2e-5);
      test::near("swiglu_back: up", gu[r * 2 * up + up + i], dact[r * up + i] * gate * s, 2e-5);
    }
  std::copy(kept.p(), kept.p() + gu.n, gu.p());
  kern.geglu(gu.p(), 2 * up, up, m, act.p(), up);
  kern.geglu_back(gu.p(), 2 * up, up, m, dact.p(), up, again.p(), up);
  for (int r = 0; r < m; r++)
    for (int i = 0; i < up; i++) {
      const double gate = kept[r * 2 * up + i], lift = kept[r * 2 * up + up + i], root = std::sqrt(2 / M_PI);
      const double t = std::tanh(root * (gate + 0.044715 * gate * gate * gate)), gelu = gate * (1 + t) / 2;
      const double slope = (1 + t) / 2 + gate * (1 - t * t) / 2 * root * (1 + 3 * 0.044715 * gate * gate);
      test::near("geglu", act[r * up + i], gelu * lift, 2e-5);
      test::near("geglu_back: act", again[r * up + i], gelu * lift, 2e-5);
      test::near("geglu_back: gate", gu[r * 2 * up + i], dact[r * up + i] * lift * slope, 5e-5);
      test::near("geglu_back: up", gu[r * 2 * up + up + i], dact[r * up + i] * gelu, 2e-5);
    }
  Floats capped(n);
  kern.squash(std::copy(x.p(), x.p() + n, capped.p()) - n, n, 0.7f);
  for (int i = 0; i < n; i++) test::near("squash", capped[i], 0.7 * std::tanh(x[i] / 0.7), 1e-6);
}

// Pairs of a part of each head turn; turning back undoes it.
static void turns() {
  const int heads = between(1, 3), dim = 2 * between(2, 40), turned = 2 * between(1, dim / 2), half = turned / 2, ld = heads * dim;
  Floats x(ld), cosines(3 * half), sines(3 * half), y(ld);
  for (int i = 0; i < 3 * half; i++) sines[i] = std::sqrt(1 - cosines[i] * cosines[i]);
  std::copy(x.p(), x.p() + ld, y.p());
  const int32_t position = 2;
  kernels().rope(y.p(), ld, &position, 1, heads, dim, turned, cosines.p(), sines.p(), 1.0f);
  for (int h = 0; h < heads; h++)
    for (int i = 0; i < dim; i++) {
      const float *from = x.p() + h * dim, c = i < turned ? cosines[2 * half + i % half] : 1, s = i < turned ? sines[2 * half + i % half] : 0;
      const float other = i < half ? -from[i + half] : i < turned ? from[i - half] : 0;
      test::near("rope", y[h * dim + i], from[i] * c + other * s, 1e-5);
    }
  kernels().rope(y.p(), ld, &position, 1, heads, dim, turned, cosines.p(), sines.p(), -1.0f);
  for (int i = 0; i < ld; i++) test::near("rope, undone", y[i], x[i], 1e-5);
}

static void steps() {
  const Kernels& kern = kernels();
  const int n = 16 * between(1, 40);
  Floats w(n), g(n), m(n), v(n), out(n);
  for (int i = 0; i < n; i++) v[i] = std::fabs(v[i]);
  std::vector<double> want(n);
  const AdamArgs a{0.99f, 0.01f, 1.5f, 0.95f, 0.1f, 0.05f, 1e-8f, 0.5f};
  double squares = 0;
  for (int i = 0; i < n; i++) {
    squares += static_cast<double>(g[i]) * g[i];
    const double grad = g[i] * 0.5, m1 = m[i] + (grad - m[i]) * 0.1, v1 = v[i] * 0.95 + grad * grad * 0.05;
    want[i] = w[i] * 0.99 - 0.01 * m1 / (std::sqrt(v1) * 1.5 + 1e-8);
  }
  test::near("sum_squares", kern.sum_squares(g.p(), n), squares, 1e-5);
  kern.adamw(a, w.p(), out.p(), g.p(), m.p(), v.p(), n);
  for (int i = 0; i < n; i++) test::near("adamw", out[i], want[i], 1e-5), test::same("gradient is cleared", g[i], 0.0f);
}

int main() {
  set_pool_threads(3);
  large_gradients();
  for (int i = 0; i < 12; i++) {
    products();
    attention();
    attention_alone();
    narrow_products();
    brain_products_of();
    vocabulary();
    rows();
    turns();
    steps();
  }
  std::printf("%s: %d failures\n", kernels().name, test::failures());
  return test::failures() ? 1 : 0;
}
