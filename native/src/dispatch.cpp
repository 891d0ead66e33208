#include <cstdlib>
#include <cstring>

#include "kernels.h"

namespace trinity {

namespace baseline {
extern const Kernels table;
}
#if defined(__x86_64__)
namespace avx2 {
extern const Kernels table;
}
namespace avx512 {
extern const Kernels table;
}
#endif

static const Kernels& pick() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool has2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  const bool has512 = has2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  const char* wish = std::getenv("TRINITY_NATIVE_ISA");
  if (wish && !std::strcmp(wish, "baseline")) return baseline::table;
  if (wish && !std::strcmp(wish, "avx2") && has2) return avx2::table;
  if (has512) return avx512::table;
  if (has2) return avx2::table;
#endif
  return baseline::table;
}

const Kernels& kernels() {
  static const Kernels& chosen = pick();
  return chosen;
}

}  // namespace trinity
