// Memory at a multiple of `align`. Windows has no std::aligned_alloc, and gives such memory back by a call of its own.
#pragma once
#include <cstddef>
#include <cstdlib>
#if defined(_WIN32)
#include <malloc.h>
#endif

namespace trinity {

// `bytes` is a multiple of `align`. Null when there is no memory.
inline void* take_aligned(size_t align, size_t bytes) {
#if defined(_WIN32)
  return _aligned_malloc(bytes, align);
#else
  return std::aligned_alloc(align, bytes);
#endif
}
inline void free_aligned(void* memory) {
#if defined(_WIN32)
  _aligned_free(memory);
#else
  std::free(memory);
#endif
}

}  // namespace trinity
