// Copies of weights in 16 bits.
//
// Weights that came from a 16-bit checkpoint and have not been trained since are exact in 16 bits. A step of few rows is
// bound by reading weights, so it then reads a copy of half the width; every number stays the same.
#pragma once
#include <unordered_map>

#include "../weights.h"

namespace trinity {

class Narrow {
 public:
  // Null where some weight needs more than 16 bits, or an adapter adds to them.
  static std::unique_ptr<Narrow> copy(const Weights& w);

  // Rounded to bfloat16, for products in it. Routers and adapters are not: their products stay in 32 bits.
  static std::unique_ptr<Narrow> round(const Weights& w);

  // The panels with their copy.
  Panels of(Panels wide) const {
    const auto found = at_.find(wide.data);
    if (found == at_.end()) return wide;
    if (rounded_) {
      wide.pairs = reinterpret_cast<const uint32_t*>(found->second);
    } else {
      wide.half = found->second;
      wide.brain = brain_;
    }
    return wide;
  }
  size_t bytes() const { return data_.bytes(); }

 private:
  bool brain_ = false;  // bfloat16, else half precision
  bool rounded_ = false;  // pairs of k in a word
  Buffer data_;
  std::unordered_map<const float*, const uint16_t*> at_;
};

}  // namespace trinity
