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

  // The panels with their copy.
  Panels of(Panels wide) const {
    wide.half = at_.at(wide.data);
    wide.brain = brain_;
    return wide;
  }
  size_t bytes() const { return data_.bytes(); }

 private:
  bool brain_ = false;  // bfloat16, else half precision
  Buffer data_;
  std::unordered_map<const float*, const uint16_t*> at_;
};

}  // namespace trinity
