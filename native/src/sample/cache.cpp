#include "cache.h"

#include <algorithm>

#include "../kernels.h"

namespace trinity {

constexpr size_t SLAB_FLOATS = 4 << 20;

KvCache::KvCache(const Layout& l, int pages)
    : pages_(pages), kv_heads_(l.config.kv_heads), dim_(l.config.head_dim), nr_(l.nr), width_(pad_to(dim_, nr_)) {
  key_size_ = static_cast<size_t>(KEYS) * dim_;
  block_size_ = key_size_ + KEYS * width_;
  page_size_ = block_size_ * kv_heads_ * l.config.layers;
  per_slab_ = static_cast<int>(std::clamp<size_t>(SLAB_FLOATS / page_size_, 1, pages));
  slabs_.resize((pages + per_slab_ - 1) / per_slab_);
}

void KvCache::touch(const int32_t* pages, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    Buffer& slab = slabs_[pages[i] / per_slab_];
    if (slab.size() > 0) continue;
    slab.grow(per_slab_ * page_size_);
    bytes_.fetch_add(slab.bytes(), std::memory_order_relaxed);
  }
}

void KvCache::write(int page, int slot, int layer, int kv, const float* key, const float* value) {
  float* packed = keys(page, layer, kv) + static_cast<int64_t>(slot / nr_) * dim_ * nr_ + slot % nr_;
  for (int d = 0; d < dim_; d++) packed[d * nr_] = key[d];
  std::memcpy(values(page, layer, kv) + slot * width_, value, dim_ * sizeof(float));
}

void KvCache::copy(int from, int to) { std::memcpy(keys(to, 0, 0), keys(from, 0, 0), page_size_ * sizeof(float)); }

}  // namespace trinity
