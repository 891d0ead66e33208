#include "narrow.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "../kernels.h"
#include "../ops.h"
#include "../pool.h"

namespace trinity {
namespace {

constexpr int64_t CHUNK = 1 << 16;

bool to_bf16(float value, uint16_t* out) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  *out = static_cast<uint16_t>(bits >> 16);
  return (bits & 0xffff) == 0;
}

// False unless the value is exact in half precision.
bool to_f16(float value, uint16_t* out) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const uint32_t sign = bits >> 16 & 0x8000, mantissa = bits & 0x7fffff;
  const int exponent = static_cast<int>(bits >> 23 & 0xff) - 127;
  if ((bits & 0x7fffffff) == 0) {
    *out = static_cast<uint16_t>(sign);
    return true;
  }
  if (exponent > 15 || exponent < -24) return false;
  if (exponent >= -14) {
    *out = static_cast<uint16_t>(sign | (exponent + 15) << 10 | mantissa >> 13);
    return (mantissa & 0x1fff) == 0;
  }
  const int shift = 13 + (-14 - exponent);
  const uint32_t whole = mantissa | 0x800000;
  *out = static_cast<uint16_t>(sign | whole >> shift);
  return (whole & ((1u << shift) - 1)) == 0;
}

struct Matrix {
  const float* data;
  int64_t n, k;
  int64_t size() const { return n * k; }
};

// All that products read, less routers unless asked for; `adapted`: one of them has an adapter.
std::vector<Matrix> matrices_of(const Weights& w, bool routers, bool* adapted) {
  const Layout& l = *w.layout;
  std::vector<Matrix> all;
  *adapted = !l.embed_lora.empty() || !l.head_lora.empty();
  for (const Layer& layer : l.layers) {
    std::vector<const Linear*> parts{&layer.qkv, &layer.out, &layer.gate_up, &layer.down};
    if (routers) parts.push_back(&layer.router);
    for (const Expert& expert : layer.experts) parts.insert(parts.end(), {&expert.gate_up, &expert.down});
    for (const Linear* part : parts) {
      if (!part->lora.empty()) *adapted = true;
      if (part->weight) all.push_back({w.at(part->weight), part->n, part->k});
    }
  }
  const Panels vocabulary = trinity::vocabulary(w);
  all.push_back({vocabulary.data, vocabulary.n, vocabulary.k});
  return all;
}

bool convert(const std::vector<Matrix>& matrices, bool (*to)(float, uint16_t*), uint16_t* out) {
  std::atomic<bool> exact{true};
  for (const Matrix& m : matrices) {
    parallel_for(static_cast<int>((m.size() + CHUNK - 1) / CHUNK), [&](int c) {
      bool all = exact.load(std::memory_order_relaxed);
      for (int64_t i = c * CHUNK; all && i < std::min(m.size(), (c + 1) * CHUNK); i++) all = to(m.data[i], out + i);
      if (!all) exact = false;
    });
    if (!exact) return false;
    out += m.size();
  }
  return true;
}

}  // namespace

std::unique_ptr<Narrow> Narrow::copy(const Weights& w) {
  bool adapted;
  const std::vector<Matrix> matrices = matrices_of(w, true, &adapted);
  if (adapted) return nullptr;
  int64_t total = 0;
  for (const Matrix& m : matrices) total += m.size();

  // A look at a few before the memory is taken: trained weights show at once.
  std::vector<uint16_t> few(CHUNK);
  const std::vector<Matrix> first{{matrices[0].data, 1, std::min<int64_t>(CHUNK, matrices[0].size())}};
  const bool brain = convert(first, to_bf16, few.data());
  if (!brain && !(kernels().widens_f16 && convert(first, to_f16, few.data()))) return nullptr;

  auto narrow = std::make_unique<Narrow>();
  narrow->brain_ = brain;
  narrow->data_.grow(static_cast<size_t>(total + 1) / 2);
  uint16_t* out = reinterpret_cast<uint16_t*>(narrow->data_.data());
  if (!convert(matrices, brain ? to_bf16 : to_f16, out)) return nullptr;
  for (const Matrix& m : matrices) {
    narrow->at_[m.data] = out;
    out += m.size();
  }
  return narrow;
}

std::unique_ptr<Narrow> Narrow::round(const Weights& w) {
  bool adapted;
  const int64_t nr = w.layout->nr;
  const std::vector<Matrix> matrices = matrices_of(w, false, &adapted);
  const auto words = [](const Matrix& m) { return m.n * ((m.k + 1) / 2); };
  int64_t total = 0;
  for (const Matrix& m : matrices) total += words(m);
  auto narrow = std::make_unique<Narrow>();
  narrow->rounded_ = true;
  // What is fetched ahead of the last row may lie behind it, but is never read.
  narrow->data_.grow(static_cast<size_t>(total));
  uint32_t* out = reinterpret_cast<uint32_t*>(narrow->data_.data());
  for (const Matrix& m : matrices) {
    const int64_t panel = (m.k + 1) / 2 * nr;
    parallel_for(static_cast<int>(m.n / nr), [&](int p) { kernels().pair_panel(m.data + p * m.k * nr, m.k, out + p * panel); });
    narrow->at_[m.data] = reinterpret_cast<const uint16_t*>(out);
    out += words(m);
  }
  return narrow;
}

}  // namespace trinity

