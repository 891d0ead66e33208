#include "weights.h"

#include <cmath>

#include "kernels.h"
#include "pool.h"

namespace trinity {

namespace {

// Calls f(the piece as a matrix of its own, its first element in the file, its first in the arena).
template <typename F>
void each_piece(const Param& p, int nr, F&& f) {
  Param one = p;
  one.pieces.clear();
  int64_t plain = 0, packed = 0;
  for (int64_t rows : p.pieces) {
    one.rows = rows;
    f(one, plain, packed);
    plain += rows * p.cols;
    packed += pad_to(rows, nr) * p.cols;
  }
}

// `scale`: of cosines and sines.
Buffer table_of(const std::vector<float>& inv_freq, int positions, float scale) {
  const size_t n = inv_freq.size(), half = n * positions;
  Buffer out(2 * half);
  float* table = out.data();
  parallel_for((positions + 255) / 256, [&](int block) {
    for (int p = block * 256; p < positions && p < block * 256 + 256; p++)
      for (size_t i = 0; i < n; i++) {
        const float angle = static_cast<float>(p) * inv_freq[i];
        table[p * n + i] = scale * static_cast<float>(std::cos(static_cast<double>(angle)));
        table[half + p * n + i] = scale * static_cast<float>(std::sin(static_cast<double>(angle)));
      }
  });
  return out;
}

}  // namespace

void pack_param(const Param& p, int nr, const float* values, float* block) {
  if (!p.pieces.empty())
    return each_piece(p, nr, [&](const Param& one, int64_t plain, int64_t packed) {
      pack_param(one, nr, values + plain, block + packed);
    });
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
  if (!p.pieces.empty())
    return each_piece(p, nr, [&](const Param& one, int64_t plain, int64_t packed) {
      unpack_param(one, nr, block + packed, values + plain);
    });
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
    : far_(table_of(c.inv_freq, positions, c.rope_scale)),
      near_(table_of(c.near_freq, positions, 1.0f)),
      positions_(positions) {}

}  // namespace trinity
