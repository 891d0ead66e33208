// The little that a test needs: random numbers that are the same everywhere, and a comparison that names what failed.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace test {

inline uint32_t& state() {
  static uint32_t value = 12345;
  return value;
}
inline uint32_t bits() {
  uint32_t& s = state();
  s ^= s << 13;
  s ^= s >> 17;
  s ^= s << 5;
  return s;
}
inline float uniform() { return static_cast<float>(bits()) / 4294967296.0f * 2 - 1; }
inline int between(int low, int high) { return low + static_cast<int>(bits() % static_cast<uint32_t>(high - low + 1)); }

inline void fill(float* data, size_t n) {
  for (size_t i = 0; i < n; i++) data[i] = uniform();
}

inline int& failures() {
  static int count = 0;
  return count;
}

inline void near(const char* what, double got, double want, double tolerance) {
  if (std::fabs(got - want) <= tolerance * (1 + std::fabs(want))) return;
  if (failures()++ < 20) std::fprintf(stderr, "FAIL %s: %.9g, expected %.9g\n", what, got, want);
}
inline void same(const char* what, float got, float want) {
  if (got == want) return;
  if (failures()++ < 20) std::fprintf(stderr, "FAIL %s: %.9g is not the same as %.9g\n", what, got, want);
}

}  // namespace test
