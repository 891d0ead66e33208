// Aligned, zeroed memory for weights and activations.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "memory.h"

namespace trinity {

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t floats) { grow(floats); }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { free_aligned(data_); }

  // At least `floats` zeros when memory had to be taken; what was there before is lost then.
  void grow(size_t floats) {
    if (floats <= size_) return;
    free_aligned(data_);
    data_ = nullptr;
    size_ = 0;
    if (floats > SIZE_MAX / sizeof(float) - (2u << 20)) throw std::bad_alloc();
    const size_t align = floats >= (1u << 20) ? (2u << 20) : 64;
    const size_t bytes = (floats * sizeof(float) + align - 1) / align * align;
    data_ = static_cast<float*>(take_aligned(align, bytes));
    if (!data_) throw std::bad_alloc();
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (align > 64) madvise(data_, bytes, MADV_HUGEPAGE);
#endif
    std::memset(data_, 0, bytes);
    size_ = floats;
  }
  void release() {
    free_aligned(data_);
    data_ = nullptr;
    size_ = 0;
  }

  float* data() { return data_; }
  const float* data() const { return data_; }
  size_t size() const { return size_; }
  size_t bytes() const { return size_ * sizeof(float); }
  float& operator[](size_t i) { return data_[i]; }
  const float& operator[](size_t i) const { return data_[i]; }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  float* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace trinity
