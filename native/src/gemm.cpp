#include "gemm.h"

#include <algorithm>
#include <cmath>

#include "kernels.h"
#include "pool.h"

namespace trinity {
namespace {

// Below a few microseconds a second thread costs more than it brings.
constexpr int64_t ALONE = 256 * 1024;
// Multiply-adds of a task: about 30 µs.
constexpr int64_t TASK = 2500000;
// A gradient of weights with this many multiply-adds is worth a pass that packs the input for all threads.
constexpr int64_t PACK_TOGETHER = 1 << 24;
// Tokens whose input is packed at once: few enough for the caches.
constexpr int64_t TOKENS = 1024;
// Most rows for which every task turns the weights that it reads by itself.
constexpr int64_t TURN_ROWS = 256;
// Panels of a task of the gradient of weights.
constexpr int64_t WIDTH = 4;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

float* scratch(int64_t m) {
  const Kernels& k = kernels();
  return thread_scratch(static_cast<size_t>(pad_to(m, k.gr) + k.nr * B_GROUP) * KC_PACKING);
}

// Some tasks for each thread, so that one that is held up does not hold up all.
int64_t tasks_for(int64_t work, int64_t most) {
  const int64_t threads = pool_threads();
  if (threads == 1 || work < ALONE) return 1;
  return threads * std::min(most, std::max<int64_t>(1, work / threads / TASK));
}

// Cuts the output into tiles, each computed whole by one task. A tile packs its rows of A, and where `packs_b` its
// columns of B, so cuts along one side repeat the packing of the other.
void grid(GemmBlock whole, int64_t m, int64_t panels, bool packs_b) {
  const int64_t threads = pool_threads(), mr = kernels().mr, n = panels * kernels().nr;
  const int64_t want = tasks_for(m * n * whole.k, 4);

  const int64_t limit = (packs_b ? MC_PACKING : MC) / mr * mr;
  // With both sides to pack, the cheapest cut has tiles of the matrix's own shape; else rows first, four tiles or more.
  const int64_t ideal = whole.turned ? 1
                        : packs_b    ? std::llround(std::sqrt(static_cast<double>(want * m) / static_cast<double>(n)))
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
    g.first_panel = static_cast<int>(cb * width);
    g.c += rb * rows * g.c_rs + cb * width * g.c_ps;
    g.scratch = scratch(g.m);
    kernels().gemm_block(g);
  });
}

// As grid(), in bfloat16.
void brain_grid(const float* x, int64_t ldx, int64_t m, const Panels& w, float* y, int64_t ldy, bool accumulate) {
  const int64_t nr = kernels().nr, panels = w.n / nr, words = (w.k + 1) / 2 * nr;
  const int64_t want = tasks_for(m * w.n * w.k / 2, 4);
  const int64_t row_blocks = std::max(ceil_div(m, MC), std::min(want, m / 24)), rows = ceil_div(m, row_blocks);
  const int64_t width = pad_to(ceil_div(panels, std::min(panels, ceil_div(want, row_blocks))), m == 1 ? 4 : 2);
  const int64_t column_blocks = ceil_div(panels, width);
  const auto run = brain_products();
  parallel_for(static_cast<int>(ceil_div(m, rows) * column_blocks), [&](int task) {
    const int64_t r0 = task / column_blocks * rows, p0 = task % column_blocks * width;
    const int64_t count = std::min(rows, m - r0);
    run({x + r0 * ldx, ldx, w.pairs + p0 * words, words, y + r0 * ldy + p0 * nr, ldy, nr, static_cast<int>(count),
         static_cast<int>(std::min(width, panels - p0)), static_cast<int>(w.k), accumulate,
         reinterpret_cast<uint32_t*>(thread_scratch(static_cast<size_t>(count * BRAIN_K / 2)))});
  });
}

}  // namespace

void linear(const float* x, int64_t ldx, int64_t m, Panels w, float* y, int64_t ldy, bool accumulate) {
  if (w.pairs) return brain_grid(x, ldx, m, w, y, ldy, accumulate);
  const int nr = kernels().nr;
  GemmBlock g{x, ldx, 1, w.data, w.k * nr, nr, y, ldy, nr, 0, 0, static_cast<int>(w.k), accumulate, nullptr};
  g.half = w.half;
  g.brain = w.brain;
  grid(g, m, w.n / nr, false);
}

void linear_input_grad(const float* dy, int64_t lddy, int64_t m, Panels w, float* dx, int64_t lddx, bool accumulate,
                       Buffer& packed) {
  const int nr = kernels().nr;
  const int64_t panels = pad_to(w.k, nr) / nr;
  GemmBlock g{dy, lddy, 1, nullptr, 0, 0, dx, lddx, nr, 0, 0, static_cast<int>(w.n), accumulate, nullptr};
  if (m <= TURN_ROWS) {  // few rows: every task turns the columns that it needs
    g.b = w.data;
    g.turned = w.data;
    g.turned_k = w.k;
    return grid(g, m, panels, true);
  }
  packed.grow(static_cast<size_t>(panels * nr * w.n));
  float* wt = packed.data();
  parallel_for(static_cast<int>(panels), [&](int q) { kernels().transpose_panels(w.data, w.k, 0, w.n, q, q + 1, wt + q * nr * w.n); });
  g.b = wt;
  g.b_ps = w.n * nr;
  g.b_ks = nr;
  grid(g, m, panels, false);
}

void linear_weight_grad(const float* dy, int64_t lddy, const float* x, int64_t ldx, int64_t m, int64_t n, int64_t k,
                        float* dw, Buffer& packed) {
  const Kernels& kern = kernels();
  const int nr = kern.nr, gr = kern.gr;
  GemmBlock whole{x, 1, ldx, dy, nr, lddy, dw, nr, k * nr, 0, 0, static_cast<int>(m), true, nullptr};
  if (pool_threads() == 1 || m * n * k < PACK_TOGETHER) return grid(whole, k, n / nr, true);
  const int64_t tiles = ceil_div(k, gr), panels = n / nr;
  packed.grow(static_cast<size_t>(std::min(m, TOKENS) * tiles * gr + 8));
  float* out = packed.data();
  // Tasks own some rows and columns of the result.
  const int64_t row_blocks = ceil_div(k, MC_PACKING);
  const int64_t width = std::max<int64_t>(2, std::min<int64_t>(WIDTH, pad_to(ceil_div(panels * row_blocks, pool_threads() * 4), 2)));
  const int64_t column_blocks = ceil_div(panels, width);
  for (int64_t m0 = 0; m0 < m; m0 += TOKENS) {
    const int64_t count = std::min(TOKENS, m - m0);
    const int64_t length = block_length(count, KC_PACKING), blocks = ceil_div(count, length), slices = ceil_div(tiles, 22);
    parallel_for(static_cast<int>(blocks * slices), [&](int task) {
      const int64_t b = task / slices, s = task % slices, k0 = b * length;
      kern.pack_tiles(x + (m0 + k0) * ldx, ldx, static_cast<int>(k), static_cast<int>(tiles * s / slices),
                      static_cast<int>(tiles * (s + 1) / slices), static_cast<int>(std::min(length, count - k0)),
                      out + k0 * tiles * gr);
    });
    parallel_for(static_cast<int>(row_blocks * column_blocks), [&](int task) {
      const int64_t rb = task / column_blocks, cb = task % column_blocks;
      GemmBlock g = whole;
      g.tiles = out;
      g.tile_rows = static_cast<int>(k);
      g.first_tile = static_cast<int>(tiles * rb / row_blocks);
      g.last_tile = static_cast<int>(tiles * (rb + 1) / row_blocks);
      const int64_t first = k * g.first_tile / tiles;
      g.m = static_cast<int>(k * g.last_tile / tiles - first);
      g.k = static_cast<int>(count);
      g.panels = static_cast<int>(std::min(width, panels - cb * width));
      g.b += m0 * lddy + cb * width * nr;
      g.c += first * nr + cb * width * g.c_ps;
      g.scratch = scratch(0);
      kern.gemm_block(g);
    });
  }
}

}  // namespace trinity
