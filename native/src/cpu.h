// What this processor and its system run, asked by hand: not every compiler brings what __builtin_cpu_supports needs.
#pragma once
#if defined(__x86_64__)
#include <cpuid.h>

#include <cstdint>

namespace trinity {

struct Cpu {
  bool avx2 = false;    // with FMA and conversion of half precision
  bool avx512 = false;  // F, DQ, BW, VL
  bool brain = false;   // and products in bfloat16

  Cpu() {
    uint32_t a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return;
    const bool fma = c >> 12 & 1, saves = c >> 27 & 1, avx = c >> 28 & 1, f16c = c >> 29 & 1;
    // The system has to keep the wide registers when it switches threads.
    const uint32_t kept = saves ? saved_registers() : 0;
    if (!avx || (kept & 0x06) != 0x06 || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return;
    avx2 = (b >> 5 & 1) && fma && f16c;
    const uint32_t parts = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;
    avx512 = avx2 && (kept & 0xe6) == 0xe6 && (b & parts) == parts;
    if (avx512 && a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) brain = a >> 5 & 1;
  }

 private:
  static uint32_t saved_registers() {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
  }
};

}  // namespace trinity
#endif
