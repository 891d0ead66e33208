// Weights that came from a 16-bit checkpoint and have not been trained since are exact in 16 bits. Decoding one sequence
// is bound by reading weights, so it then reads a copy of half the width; every number stays the same.
#pragma once
#include <unordered_map>

#include "../weights.h"

namespace trinity {

class Narrow {
 public:
  // Null where some weight needs more than 16 bits, or an adapter adds to them.
  static std::unique_ptr<Narrow> of(const Weights& w);

  // One row: y (+)= x · wᵀ + bias
  void project(const Weights& w, const Linear& l, const float* x, float* y, bool accumulate) const;
  void vocabulary(const Weights& w, const float* x, float* y) const;
  size_t bytes() const { return data_.bytes(); }

 private:
  void product(const float* wide, int64_t n, int64_t k, const float* x, float* y, bool accumulate) const;

  bool brain_ = false;  // bfloat16, else half precision
  Buffer data_;
  std::unordered_map<const float*, const uint16_t*> at_;
};

}  // namespace trinity
