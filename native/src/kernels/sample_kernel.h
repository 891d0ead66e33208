// Drawing from a row of logits: unnormalized probabilities and their sums over blocks.
#pragma once
#include "../kernels.h"
#include "simd.h"

namespace trinity {
namespace TRINITY_ISA {

static_assert(DRAW_BLOCK % VL == 0, "a block is whole vectors");

static void exp_blocks(const float* logits, int64_t n, float inv_t, float peak, float* out, float* sums) {
  const vf t = splat(inv_t), base = splat(peak);
  for (int64_t b = 0; b < n; b += DRAW_BLOCK) {
    const int64_t end = b + DRAW_BLOCK < n ? b + DRAW_BLOCK : n;
    vf total = vf{};
    int64_t i = b;
    for (; i + VL <= end; i += VL) {
      const vf e = vexp(load(logits + i) * t - base);
      store(out + i, e);
      total += e;
    }
    if (i < end) {
      const int width = static_cast<int>(end - i);
      const vf e = vexp(load_part(logits + i, width, -__builtin_inff()) * t - base);
      store_part(out + i, width, e);
      total += e;
    }
    *sums++ = sum(total);
  }
}

}  // namespace TRINITY_ISA
}  // namespace trinity
