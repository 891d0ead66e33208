#include "gemm.h"

#include <algorithm>

#include "kernels.h"
#include "pool.h"

namespace trinity {
namespace {

size_t scratch_floats(int64_t m) {
  const Kernels& k = kernels();
  return static_cast<size_t>(pad_to(m, k.mr) + k.nr * B_GROUP) * KC_MAX;
}

// Cuts the output into tiles, each computed whole by one task. `most`: rows of a tile at most. Where rows are the cheap
// side to cut (`least` rows of a tile are enough), they are cut first: a tile packs its rows once for all its columns.
void grid(GemmBlock whole, int64_t m, int64_t panels, int64_t most, int64_t least, int per_thread) {
  const int threads = pool_threads();
  const int mr = kernels().mr;
  // Below a few microseconds of work a second thread costs more than it brings.
  const bool tiny = m * panels * kernels().nr * whole.k < 256 * 1024;
  const int64_t want = threads == 1 || tiny ? 1 : static_cast<int64_t>(threads) * per_thread;
  const int64_t limit = most / mr * mr;
  int64_t row_blocks = std::max((m + limit - 1) / limit, std::min(want, m / (least * mr)));
  const int64_t rows = pad_to((m + row_blocks - 1) / row_blocks, mr);
  row_blocks = (m + rows - 1) / rows;
  int64_t column_blocks = row_blocks >= want ? 1 : std::min<int64_t>(panels, (want + row_blocks - 1) / row_blocks);
  const int64_t width = (panels + column_blocks - 1) / column_blocks;
  column_blocks = (panels + width - 1) / width;
  parallel_for(static_cast<int>(row_blocks * column_blocks), [&](int task) {
    const int64_t rb = task / column_blocks, cb = task % column_blocks;
    GemmBlock g = whole;
    g.m = static_cast<int>(std::min(rows, m - rb * rows));
    g.panels = static_cast<int>(std::min(width, panels - cb * width));
    g.a += rb * rows * g.a_rs;
    g.b += cb * width * g.b_ps;
    g.c += rb * rows * g.c_rs + cb * width * g.c_ps;
    g.scratch = thread_scratch(scratch_floats(g.m));
    kernels().gemm_block(g);
  });
}

}  // namespace

void linear(const float* x, int64_t ldx, int64_t m, Panels w, float* y, int64_t ldy, bool accumulate) {
  const int nr = kernels().nr;
  GemmBlock g{x, ldx, 1, w.data, w.k * nr, nr, y, ldy, nr, 0, 0, static_cast<int>(w.k), accumulate, nullptr};
  grid(g, m, w.n / nr, MC, 4, 4);
}

void linear_input_grad(const float* dy, int64_t lddy, int64_t m, Panels w, float* dx, int64_t lddx, bool accumulate,
                       Buffer& transposed) {
  const int nr = kernels().nr;
  const int64_t panels = pad_to(w.k, nr) / nr;
  transposed.grow(static_cast<size_t>(panels * nr * w.n));
  float* wt = transposed.data();
  parallel_for(static_cast<int>(panels), [&](int q) { kernels().transpose_panels(w.data, w.k, 0, w.n, q, q + 1, wt); });
  GemmBlock g{dy, lddy, 1, wt, w.n * nr, nr, dx, lddx, nr, 0, 0, static_cast<int>(w.n), accumulate, nullptr};
  grid(g, m, panels, MC, 4, 4);
}

void linear_weight_grad(const float* dy, int64_t lddy, const float* x, int64_t ldx, int64_t m, int64_t n, int64_t k,
                        float* dw) {
  const int nr = kernels().nr;
  GemmBlock g{x, 1, ldx, dy, nr, lddy, dw, nr, k * nr, 0, 0, static_cast<int>(m), true, nullptr};
  grid(g, k, n / nr, MC_PACKING, MC_PACKING, 3);
}

}  // namespace trinity
