#include "gemm.h"

#include <algorithm>
#include <cmath>

#include "kernels.h"
#include "pool.h"

namespace trinity {
namespace {

size_t scratch_floats(int64_t m) {
  const Kernels& k = kernels();
  return static_cast<size_t>(pad_to(m, k.gr) + k.nr * B_GROUP) * KC_MAX;
}

// Cuts the output into tiles, each computed whole by one task. A tile packs its rows of A, and where `packs_b` its
// columns of B, so cuts along one side repeat the packing of the other.
void grid(GemmBlock whole, int64_t m, int64_t panels, bool packs_b) {
  const int64_t threads = pool_threads(), mr = kernels().mr, n = panels * kernels().nr;
  // Tasks of about 30 µs: some for each thread, so that one that is held up does not hold up all. Below a few
  // microseconds a second thread costs more than it brings.
  const int64_t work = m * n * whole.k;
  const int64_t each = std::min<int64_t>(4, std::max<int64_t>(1, work / threads / 2500000));
  const int64_t want = threads == 1 || work < 256 * 1024 ? 1 : threads * each;

  const int64_t limit = (packs_b ? MC_PACKING : MC) / mr * mr;
  // With both sides to pack, the cheapest cut has tiles of the matrix's own shape; else rows first, four tiles or more.
  const int64_t ideal = packs_b ? std::llround(std::sqrt(static_cast<double>(want * m) / static_cast<double>(n)))
                                : std::min(want, m / (4 * mr));
  int64_t row_blocks = std::max((m + limit - 1) / limit, ideal);
  // The same number of rows for every thread.
  if (row_blocks > threads && m / row_blocks > 4 * mr) row_blocks = pad_to(row_blocks, threads);
  const int64_t rows = (m + row_blocks - 1) / row_blocks;
  row_blocks = (m + rows - 1) / rows;
  const bool enough = !packs_b && row_blocks >= 2 * threads;
  int64_t column_blocks = enough ? 1 : std::min(panels, (want + row_blocks - 1) / row_blocks);
  int64_t width = (panels + column_blocks - 1) / column_blocks;
  // Tiles are up to two panels wide. A single row is bound by reading the panels, four at a time: in small tasks both
  // threads come to the end together.
  if (m == 1 && want > 1)
    width = panels >= 4 * threads ? 4 : (panels + threads - 1) / threads;
  else if (column_blocks > 1)
    width = pad_to(width, 2);
  column_blocks = (panels + width - 1) / width;
  parallel_for(static_cast<int>(row_blocks * column_blocks), [&](int task) {
    const int64_t rb = task / column_blocks, cb = task % column_blocks;
    GemmBlock g = whole;
    g.m = static_cast<int>(std::min(rows, m - rb * rows));
    g.panels = static_cast<int>(std::min(width, panels - cb * width));
    g.a += rb * rows * g.a_rs;
    g.b += cb * width * g.b_ps;
    if (g.half) g.half += cb * width * g.b_ps;
    g.c += rb * rows * g.c_rs + cb * width * g.c_ps;
    g.scratch = thread_scratch(scratch_floats(g.m));
    kernels().gemm_block(g);
  });
}

}  // namespace

void linear(const float* x, int64_t ldx, int64_t m, Panels w, float* y, int64_t ldy, bool accumulate) {
  const int nr = kernels().nr;
  GemmBlock g{x, ldx, 1, w.data, w.k * nr, nr, y, ldy, nr, 0, 0, static_cast<int>(w.k), accumulate, nullptr, w.half, w.brain};
  grid(g, m, w.n / nr, false);
}

void linear_input_grad(const float* dy, int64_t lddy, int64_t m, Panels w, float* dx, int64_t lddx, bool accumulate,
                       Buffer& transposed) {
  const int nr = kernels().nr;
  const int64_t panels = pad_to(w.k, nr) / nr;
  transposed.grow(static_cast<size_t>(panels * nr * w.n));
  float* wt = transposed.data();
  parallel_for(static_cast<int>(panels), [&](int q) { kernels().transpose_panels(w.data, w.k, 0, w.n, q, q + 1, wt); });
  GemmBlock g{dy, lddy, 1, wt, w.n * nr, nr, dx, lddx, nr, 0, 0, static_cast<int>(w.n), accumulate, nullptr, nullptr, false};
  grid(g, m, panels, false);
}

void linear_weight_grad(const float* dy, int64_t lddy, const float* x, int64_t ldx, int64_t m, int64_t n, int64_t k,
                        float* dw) {
  const int nr = kernels().nr;
  GemmBlock g{x, 1, ldx, dy, nr, lddy, dw, nr, k * nr, 0, 0, static_cast<int>(m), true, nullptr, nullptr, false};
  grid(g, k, n / nr, true);
}

}  // namespace trinity
