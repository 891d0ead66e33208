#include "weights.h"

#include <cmath>

#include "kernels.h"
#include "pool.h"

namespace trinity {

void pack_param(const Param& p, int nr, const float* values, float* block) {
  if (p.form != Form::panels) {
    const int64_t ld = pad_to(p.cols, nr);
    for (int64_t r = 0; r < p.rows; r++) std::memcpy(block + r * ld, values + r * p.cols, p.cols * sizeof(float));
    return;
  }
  const int64_t panels = pad_to(p.rows, nr) / nr;
  parallel_for(static_cast<int>(panels), [&](int q) {
    float* out = block + static_cast<int64_t>(q) * p.cols * nr;
    for (int j = 0; j < nr && static_cast<int64_t>(q) * nr + j < p.rows; j++) {
      const float* row = values + (static_cast<int64_t>(q) * nr + j) * p.cols;
      for (int64_t k = 0; k < p.cols; k++) out[k * nr + j] = row[k];
    }
  });
}

void unpack_param(const Param& p, int nr, const float* block, float* values) {
  if (p.form != Form::panels) {
    const int64_t ld = pad_to(p.cols, nr);
    for (int64_t r = 0; r < p.rows; r++) std::memcpy(values + r * p.cols, block + r * ld, p.cols * sizeof(float));
    return;
  }
  const int64_t panels = pad_to(p.rows, nr) / nr;
  parallel_for(static_cast<int>(panels), [&](int q) {
    const float* in = block + static_cast<int64_t>(q) * p.cols * nr;
    for (int j = 0; j < nr && static_cast<int64_t>(q) * nr + j < p.rows; j++) {
      float* row = values + (static_cast<int64_t>(q) * nr + j) * p.cols;
      for (int64_t k = 0; k < p.cols; k++) row[k] = in[k * nr + j];
    }
  });
}

Rope::Rope(const Config& c, int positions)
    : table_(c.inv_freq.size() * positions * 2), half_(c.inv_freq.size() * positions), positions_(positions) {
  const std::vector<float>& inv_freq = c.inv_freq;
  const size_t n = inv_freq.size();
  float* table = table_.data();
  const size_t half = half_;
  parallel_for((positions + 255) / 256, [&](int block) {
    for (int p = block * 256; p < positions && p < block * 256 + 256; p++)
      for (size_t i = 0; i < n; i++) {
        const float angle = static_cast<float>(p) * inv_freq[i];
        table[p * n + i] = c.rope_scale * static_cast<float>(std::cos(static_cast<double>(angle)));
        table[half + p * n + i] = c.rope_scale * static_cast<float>(std::sin(static_cast<double>(angle)));
      }
  });
}

}  // namespace trinity
