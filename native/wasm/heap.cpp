// Memory for WebAssembly, where several threads share one memory: blocks in order of address, first fit, joined with their
// neighbors when given back. Small ones are kept by size.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "wait.h"

namespace {

constexpr size_t UNIT = 16, PAGE = 65536, SMALL = 64;  // sizes of up to SMALL units are kept by size

// Before what the caller gets. `units` counts this header too.
struct Header {
  uint32_t units;
  uint32_t padding;  // units between the beginning of the block and this header
  uint64_t unused;
};
static_assert(sizeof(Header) == UNIT, "a header is one unit");

struct Free {
  uint32_t units;
  Free* next;
};

int taken = 0;  // 0: free, 1: taken, 2: taken and somebody may wait
Free* by_size[SMALL + 1];
Free large = {0, nullptr};

struct Lock {
  Lock() {
    int seen = 0;
    if (__atomic_compare_exchange_n(&taken, &seen, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
    while (__atomic_exchange_n(&taken, 2, __ATOMIC_ACQUIRE)) trinity_wait(&taken, 2);
  }
  ~Lock() {
    if (__atomic_exchange_n(&taken, 0, __ATOMIC_RELEASE) == 2) __builtin_wasm_memory_atomic_notify(&taken, 1);
  }
};

uintptr_t address(const void* p) { return reinterpret_cast<uintptr_t>(p); }
Free* end_of(Free* block) { return reinterpret_cast<Free*>(address(block) + block->units * UNIT); }

void give(Free* block) {
  Free* before = &large;
  while (before->next && before->next < block) before = before->next;
  block->next = before->next;
  before->next = block;
  if (block->next && end_of(block) == block->next) {
    block->units += block->next->units;
    block->next = block->next->next;
  }
  if (before != &large && end_of(before) == block) {
    before->units += block->units;
    before->next = block->next;
  }
}

bool more(size_t units) {
  const size_t pages = (units * UNIT + PAGE - 1) / PAGE, least = 16;
  size_t taking = pages > least ? pages : least;
  size_t at = __builtin_wasm_memory_grow(0, taking);
  if (at == SIZE_MAX && taking > pages) at = __builtin_wasm_memory_grow(0, taking = pages);
  if (at == SIZE_MAX) return false;
  auto* block = reinterpret_cast<Free*>(at * PAGE);
  block->units = taking * (PAGE / UNIT);
  give(block);
  return true;
}

Free* take(size_t units) {
  for (;;) {
    for (Free* before = &large; before->next; before = before->next) {
      Free* found = before->next;
      if (found->units < units) continue;
      if (found->units == units) {
        before->next = found->next;
      } else {  // the end of it: its beginning stays in the list
        found->units -= units;
        found = end_of(found);
        found->units = units;
      }
      return found;
    }
    if (!more(units)) return nullptr;
  }
}

void* allocate(size_t align, size_t bytes) {
  const size_t spare = align > UNIT ? align / UNIT : 0;
  if (bytes > SIZE_MAX - align - 2 * PAGE) return nullptr;
  const size_t units = (bytes + UNIT - 1) / UNIT + 1 + spare;
  Lock lock;
  Free* block;
  if (units <= SMALL && by_size[units]) {
    block = by_size[units];
    by_size[units] = block->next;
  } else {
    block = take(units);
  }
  if (!block) return nullptr;
  uintptr_t body = address(block) + UNIT;
  if (spare) body = (body + align - 1) / align * align;
  auto* header = reinterpret_cast<Header*>(body - UNIT);
  const auto padding = static_cast<uint32_t>((body - UNIT - address(block)) / UNIT);
  header->units = units;
  header->padding = padding;
  return reinterpret_cast<void*>(body);
}

}  // namespace

extern "C" {
void* malloc(size_t bytes) { return allocate(UNIT, bytes); }
void* aligned_alloc(size_t align, size_t bytes) { return allocate(align, bytes); }
int posix_memalign(void** out, size_t align, size_t bytes) {
  *out = allocate(align, bytes);
  return *out ? 0 : 12;
}
void free(void* memory) {
  if (!memory) return;
  auto* header = reinterpret_cast<Header*>(address(memory) - UNIT);
  const uint32_t units = header->units;
  auto* block = reinterpret_cast<Free*>(address(header) - header->padding * UNIT);
  Lock lock;
  block->units = units;
  if (units > SMALL) return give(block);
  block->next = by_size[units];
  by_size[units] = block;
}
void* calloc(size_t count, size_t bytes) {
  if (bytes && count > SIZE_MAX / bytes) return nullptr;
  void* memory = malloc(count * bytes);
  return memory ? memset(memory, 0, count * bytes) : nullptr;
}
void* realloc(void* memory, size_t bytes) {
  void* next = malloc(bytes);
  if (!memory || !next) return next;
  auto* header = reinterpret_cast<Header*>(address(memory) - UNIT);
  const size_t had = (header->units - header->padding - 1) * UNIT;
  memcpy(next, memory, had < bytes ? had : bytes);
  free(memory);
  return next;
}
}
