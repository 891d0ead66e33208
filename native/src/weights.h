// The numbers of a model. A copy of `Weights` is a snapshot: it shares the memory, and an optimizer that finds its
// memory shared writes the next version elsewhere. So a sampler keeps reading whole, unchanging weights for free.
#pragma once
#include <memory>

#include "buffer.h"
#include "gemm.h"
#include "layout.h"

namespace trinity {

struct Weights {
  std::shared_ptr<const Layout> layout;
  std::shared_ptr<Buffer> frozen, live;

  static Weights allocate(std::shared_ptr<const Layout> layout) {
    Weights w{layout, std::make_shared<Buffer>(layout->frozen_size), std::make_shared<Buffer>(layout->live_size)};
    return w;
  }
  const float* at(Ref r) const { return (r.live ? live : frozen)->data() + r.offset; }
  float* writable(Ref r) { return (r.live ? live : frozen)->data() + r.offset; }
  Panels panels(const Linear& l) const { return {at(l.weight), l.n, l.k}; }
  size_t bytes() const { return frozen->bytes() + live->bytes(); }
};

// Row-major values of one parameter into / out of a block with the layout of that parameter.
void pack_param(const Param& p, int nr, const float* values, float* block);
void unpack_param(const Param& p, int nr, const float* block, float* values);

// Cosines and sines of every position, [position][pairs].
struct Turns {
  const float *cosines, *sines;
};

class Rope {
 public:
  Rope(const Config& c, int positions);
  Turns of(const Layer& layer) const { return layer.near ? turns(near_) : turns(far_); }
  int64_t positions() const { return positions_; }
  size_t bytes() const { return far_.bytes() + near_.bytes(); }

 private:
  static Turns turns(const Buffer& table) { return {table.data(), table.data() + table.size() / 2}; }
  Buffer far_, near_;
  int64_t positions_;
};

}  // namespace trinity
