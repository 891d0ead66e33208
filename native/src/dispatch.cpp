#include <cstdlib>
#include <cstring>

#include "cpu.h"
#include "kernels.h"

namespace trinity {

#if defined(__aarch64__)
namespace neon {
extern const Kernels table;
}
#else
namespace baseline {
extern const Kernels table;
}
#endif
#if defined(__x86_64__)
namespace avx2 {
extern const Kernels table;
}
namespace avx512 {
extern const Kernels table;
}
namespace avx512_bf16 {
extern void (*const brain_products)(const BrainBlock&);
}
#endif

static const Kernels& pick() {
#if defined(__aarch64__)
  return neon::table;
#else
#if defined(__x86_64__)
  const Cpu has;
  const char* wish = std::getenv("TRINITY_NATIVE_ISA");
  if (wish && !std::strcmp(wish, "baseline")) return baseline::table;
  if (wish && !std::strcmp(wish, "avx2") && has.avx2) return avx2::table;
  if (has.avx512) return avx512::table;
  if (has.avx2) return avx2::table;
#endif
  return baseline::table;
#endif
}

const Kernels& kernels() {
  static const Kernels& chosen = pick();
  return chosen;
}

void (*brain_products())(const BrainBlock&) {
#if defined(__x86_64__)
  static const bool fast = Cpu().brain && !std::getenv("TRINITY_NATIVE_ISA");
  if (fast) return avx512_bf16::brain_products;
#endif
  return kernels().brain_block;
}

}  // namespace trinity
