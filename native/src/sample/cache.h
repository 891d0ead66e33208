// The paged key/value cache. A page holds KEYS tokens of every layer, keys packed as attention reads them. Which page
// belongs to whom is decided in TypeScript; here pages are numbers and memory, taken when a page is first used.
#pragma once
#include <atomic>
#include <vector>

#include "../buffer.h"
#include "../layout.h"

namespace trinity {

class KvCache {
 public:
  KvCache(const Layout& layout, int pages);

  int pages() const { return pages_; }
  // Memory for these pages is there afterward.
  void touch(const int32_t* pages, int64_t count);
  // Packed keys, [KEYS/NR][head_dim][NR], and values, [KEYS][pad(head_dim)], of one page, layer and key/value head.
  float* keys(int page, int layer, int kv) {
    return slabs_[page / per_slab_].data() + (page % per_slab_) * page_size_ + (layer * kv_heads_ + kv) * block_size_;
  }
  // The way from one key/value head of a page to the next.
  size_t head_gap() const { return block_size_; }
  float* values(int page, int layer, int kv) { return keys(page, layer, kv) + key_size_; }
  // One token's key and value of one head.
  void write(int page, int slot, int layer, int kv, const float* key, const float* value);
  void copy(int from, int to);
  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  int pages_, kv_heads_, dim_, nr_;
  int64_t width_;  // of a row of values
  size_t key_size_, block_size_, page_size_;
  int per_slab_;
  std::vector<Buffer> slabs_;
  std::atomic<size_t> bytes_{0};  // read by the event loop while a step runs
};

}  // namespace trinity
