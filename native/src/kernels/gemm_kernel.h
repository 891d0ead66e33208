// The one matrix kernel. Every output element is a single chain of fused multiply-adds over k in ascending order,
// whatever the tile, the edge or the blocking: blocks of k continue the chain from memory. So a result never depends
// on how many rows were computed together, on their position, or on the number of threads.
#pragma once
#include "../kernels.h"
#include "simd.h"

namespace trinity {
namespace TRINITY_ISA {

constexpr int KC = 256;

// C[R x NR] (+)= A[R x kc] · B[kc x NR]; A element (r, k) at a[k*as + r], B row k at b + k*ldb.
template <int R>
static void micro(int kc, const float* a, ptrdiff_t as, const float* b, ptrdiff_t ldb, float* c, ptrdiff_t ldc,
                  bool accumulate) {
  vf acc[R][NV];
#pragma GCC unroll 16
  for (int r = 0; r < R; r++)
#pragma GCC unroll 4
    for (int v = 0; v < NV; v++) acc[r][v] = accumulate ? load(c + r * ldc + v * VL) : vf{};
  for (int k = 0; k < kc; k++) {
    vf bv[NV];
#pragma GCC unroll 4
    for (int v = 0; v < NV; v++) bv[v] = load(b + v * VL);
#pragma GCC unroll 16
    for (int r = 0; r < R; r++) {
      const vf av = splat(a[r]);
#pragma GCC unroll 4
      for (int v = 0; v < NV; v++) acc[r][v] += av * bv[v];
    }
    a += as;
    b += ldb;
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; r++)
#pragma GCC unroll 4
    for (int v = 0; v < NV; v++) store(c + r * ldc + v * VL, acc[r][v]);
}

using MicroFn = void (*)(int, const float*, ptrdiff_t, const float*, ptrdiff_t, float*, ptrdiff_t, bool);

template <int R>
struct MicroTable {
  static void fill(MicroFn* table) {
    table[R] = micro<R>;
    MicroTable<R - 1>::fill(table);
  }
};
template <>
struct MicroTable<0> {
  static void fill(MicroFn*) {}
};
struct Micros {
  MicroFn at[MR + 1];
  Micros() {
    at[0] = nullptr;
    MicroTable<MR>::fill(at);
  }
};
static const Micros micros;

// rows x kc of A into panels [k][MR]; the tail of the last panel is left as it is (never read by micro<R>).
static void pack_a(const float* a, ptrdiff_t rs, ptrdiff_t ks, int rows, int kc, float* out) {
  for (int m = 0; m < rows; m += MR) {
    const int n = rows - m < MR ? rows - m : MR;
    const float* src = a + m * rs;
    if (rs == 1 && n == MR) {
      for (int k = 0; k < kc; k++) {
        for (int r = 0; r < MR; r++) out[k * MR + r] = src[r];
        src += ks;
      }
    } else if (n == MR) {
      for (int k = 0; k < kc; k++)
        for (int r = 0; r < MR; r++) out[k * MR + r] = src[r * rs + k * ks];
    } else {
      for (int r = 0; r < n; r++)
        for (int k = 0; k < kc; k++) out[k * MR + r] = src[r * rs + k * ks];
    }
    out += static_cast<ptrdiff_t>(kc) * MR;
  }
}

static void pack_b(const float* b, ptrdiff_t ks, int kc, float* out) {
  for (int k = 0; k < kc; k++)
    for (int v = 0; v < NV; v++) store(out + k * NR + v * VL, load(b + k * ks + v * VL));
}

// Scratch: m rounded up to MR times KC floats for A, then KC*NR for B.
static void gemm_block(const GemmBlock& g) {
  const int padded = (g.m + MR - 1) / MR * MR;
  float* pa = g.scratch;
  float* pb = g.scratch + static_cast<ptrdiff_t>(padded) * KC;
  for (int k0 = 0; k0 < g.k || k0 == 0; k0 += KC) {
    const int kc = g.k - k0 < KC ? g.k - k0 : KC;
    const bool accumulate = g.accumulate || k0 > 0;
    pack_a(g.a + k0 * g.a_ks, g.a_rs, g.a_ks, g.m, kc, pa);
    for (int p = 0; p < g.panels; p++) {
      const float* b = g.b + p * g.b_ps + k0 * g.b_ks;
      if (g.b_ks != NR && g.m > MR) {
        pack_b(b, g.b_ks, kc, pb);
        b = pb;
      }
      const ptrdiff_t ldb = b == pb ? NR : g.b_ks;
      for (int m = 0; m < g.m; m += MR) {
        const int r = g.m - m < MR ? g.m - m : MR;
        micros.at[r](kc, pa + static_cast<ptrdiff_t>(m) * kc, MR, b, ldb, g.c + m * g.c_rs + p * g.c_ps, g.c_rs,
                     accumulate);
      }
    }
  }
}

// A panel matrix W (np x k, panels of NR rows) into panels of its transpose: out panel q holds rows q*NR.. of Wᵀ.
// Panels [q0, q1) of the result, contraction rows [n0, n0 + count) of W; columns past k are zero.
static void transpose_panels(const float* w, int64_t k, int64_t n0, int64_t count, int64_t q0, int64_t q1, float* out) {
  for (int64_t q = q0; q < q1; q++) {
    float* dst = out + q * count * NR;
    const int64_t col = q * NR;
    const int width = static_cast<int>(k - col < NR ? k - col : NR);
    for (int64_t p = 0; p < count; p += NR) {
      const float* src = w + (n0 + p) * k + col * NR;
      for (int i = 0; i < NR; i++)
        for (int j = 0; j < NR; j++) dst[(p + i) * NR + j] = j < width ? src[j * NR + i] : 0.0f;
    }
  }
}

// Independent chains that never leave the registers: the arithmetic ceiling of one core. Returns operations done.
static double fma_peak(int64_t rounds, float* sink) {
  vf acc[12];
  for (int i = 0; i < 12; i++) acc[i] = splat(1.0f + i);
  const vf a = splat(sink[0]), b = splat(sink[1]);
  for (int64_t n = 0; n < rounds; n++) {
#pragma GCC unroll 12
    for (int i = 0; i < 12; i++) acc[i] = acc[i] * a + b;
  }
  vf total = acc[0];
  for (int i = 1; i < 12; i++) total += acc[i];
  sink[2] = sum(total);
  return 2.0 * 12 * VL * static_cast<double>(rounds);
}

}  // namespace TRINITY_ISA
}  // namespace trinity
