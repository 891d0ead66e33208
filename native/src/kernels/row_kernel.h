// One row times panels: decoding a single sequence. Bound by memory, so the weights are read once, in order, a few
// panels side by side: more requests are under way at a time than one panel alone would keep. The chain of every
// number is that of the tiles.
#pragma once
#include "../kernels.h"
#include "half_kernel.h"
#include "simd.h"

namespace trinity {
namespace TRINITY_ISA {

template <int P>
static void row_panels(const GemmBlock& g, int p) {
  const float* b[P];
  vf acc[P][NV];
#pragma GCC unroll 4
  for (int q = 0; q < P; q++) {
    b[q] = g.b + (p + q) * g.b_ps;
    const float* c = g.c + (p + q) * g.c_ps;
#pragma GCC unroll 4
    for (int v = 0; v < NV; v++) acc[q][v] = g.accumulate ? load(c + v * VL) : vf{};
  }
  const float* a = g.a;
  for (int k = 0; k < g.k; k++, a += g.a_ks) {
    const vf x = splat(*a);
#pragma GCC unroll 4
    for (int q = 0; q < P; q++) {
      // The processor's own fetching ahead stops at every page of memory.
      __builtin_prefetch(b[q] + AHEAD, 0, 3);
#pragma GCC unroll 4
      for (int v = 0; v < NV; v++) acc[q][v] += x * load(b[q] + v * VL);
      b[q] += g.b_ks;
    }
  }
#pragma GCC unroll 4
  for (int q = 0; q < P; q++)
#pragma GCC unroll 4
    for (int v = 0; v < NV; v++) store(g.c + (p + q) * g.c_ps + v * VL, acc[q][v]);
}

static void row_block(const GemmBlock& g) {
  if (g.half) return half_row(g);
  int p = 0;
  for (; p + 4 <= g.panels; p += 4) row_panels<4>(g, p);
  for (; p < g.panels; p++) row_panels<1>(g, p);
}

}  // namespace TRINITY_ISA
}  // namespace trinity
