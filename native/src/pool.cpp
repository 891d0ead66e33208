#include "pool.h"

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "memory.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define TRINITY_RELAX() _mm_pause()
#elif defined(__aarch64__)
// The hint that is called yield does nothing on most chips; this one waits for some tens of cycles.
#define TRINITY_RELAX() __asm__ volatile("isb" ::: "memory")
#else
#define TRINITY_RELAX() std::this_thread::yield()
#endif

namespace trinity {
namespace {

constexpr int RANGES = 32;

// Tasks are dealt in contiguous ranges, one per thread: the same rows meet the same core, and its cache, from one job to
// the next. Who has finished its own range helps with the others.
struct Job {
  struct alignas(64) Range {
    std::atomic<int> next;
    int end;
  };
  const TaskBody* body;
  int ranges;
  Range range[RANGES];
  std::atomic<int> helpers{0};

  Job(const TaskBody* work, int tasks, int threads) : body(work) {
    ranges = threads < RANGES ? threads : RANGES;
    if (ranges > tasks) ranges = tasks;
    for (int i = 0; i < ranges; i++) {
      range[i].next = static_cast<int>(static_cast<int64_t>(tasks) * i / ranges);
      range[i].end = static_cast<int>(static_cast<int64_t>(tasks) * (i + 1) / ranges);
    }
  }
  bool open() const {
    for (int i = 0; i < ranges; i++)
      if (range[i].next.load(std::memory_order_relaxed) < range[i].end) return true;
    return false;
  }
};

struct Slot {
  std::atomic<bool> busy{false};  // guards `job`
  Job* job = nullptr;
  void lock() {
    while (busy.exchange(true, std::memory_order_acquire)) TRINITY_RELAX();
  }
  void unlock() { busy.store(false, std::memory_order_release); }
};

constexpr int SLOTS = 16;
constexpr int SPINS = 2000;  // about 50 µs before a worker goes to sleep

void drain(Job& job, int who) {
  for (int turn = 0; turn < job.ranges; turn++) {
    Job::Range& range = job.range[(who + turn) % job.ranges];
    for (;;) {
      if (range.next.load(std::memory_order_relaxed) >= range.end) break;
      const int i = range.next.fetch_add(1, std::memory_order_relaxed);
      if (i >= range.end) break;
      (*job.body)(i);
    }
  }
}

class Pool {
 public:
  Pool() {
    int n = cores_;
    if (const char* wish = std::getenv("TRINITY_NATIVE_THREADS")) n = std::atoi(wish);
    resize(n < 1 ? 1 : n > 256 ? 256 : n);
  }

  int threads() const { return threads_.load(std::memory_order_relaxed); }

  void resize(int threads) {
    std::lock_guard<std::mutex> guard(grow_);
    threads_ = threads;
    while (static_cast<int>(workers_.size()) < threads - 1) {
      const int index = static_cast<int>(workers_.size()) + 1;
      std::thread one;
      try {
        one = std::thread([this, index] { work(index); });
      } catch (const std::system_error&) {  // as many as the system gives
        threads_ = index;
        return;
      }
      one.detach();  // they hold no state that outlives a job; the process takes them down
      workers_.push_back(std::move(one));
    }
  }

  void run(int tasks, const TaskBody& body) {
    if (tasks <= 0) return;
    Slot* slot = tasks > 1 && threads() > 1 ? claim() : nullptr;
    if (!slot) {
      for (int i = 0; i < tasks; i++) body(i);
      return;
    }
    Job job(&body, tasks, threads());
    slot->lock();
    slot->job = &job;
    slot->unlock();
    epoch_.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) > 0) {
      std::lock_guard<std::mutex> guard(sleep_);
      wake_.notify_all();
    }
    drain(job, 0);
    slot->lock();
    slot->job = nullptr;
    slot->unlock();
    for (int spins = 0; job.helpers.load(std::memory_order_acquire) > 0; spins++) {
      if (spins < 4000 && threads() <= cores_)
        TRINITY_RELAX();
      else
        std::this_thread::yield();
    }
    slot->lock();
    taken_[slot - slots_] = false;
    slot->unlock();
  }

 private:
  Slot* claim() {
    for (int i = 0; i < SLOTS; i++) {
      slots_[i].lock();
      const bool mine = !taken_[i];
      if (mine) taken_[i] = true;
      slots_[i].unlock();
      if (mine) return &slots_[i];
    }
    return nullptr;  // more jobs than slots: the caller works alone
  }

  bool help(int index) {
    bool any = false;
    for (Slot& slot : slots_) {
      slot.lock();
      Job* job = slot.job;
      if (job && job->open())
        job->helpers.fetch_add(1, std::memory_order_relaxed);
      else
        job = nullptr;
      slot.unlock();
      if (!job) continue;
      drain(*job, index);
      job->helpers.fetch_sub(1, std::memory_order_release);
      any = true;
    }
    return any;
  }

  void work(int index) {
    for (;;) {
      const uint64_t seen = epoch_.load(std::memory_order_seq_cst);
      if (index < threads() && help(index)) continue;
      int spins = 0;
      const int limit = threads() > cores_ ? 1 : SPINS;  // more threads than cores: spinning takes time from work
      while (epoch_.load(std::memory_order_relaxed) == seen && spins < limit) {
        TRINITY_RELAX();
        spins++;
      }
      if (spins < limit) continue;
      std::unique_lock<std::mutex> guard(sleep_);
      sleepers_.fetch_add(1, std::memory_order_seq_cst);
      wake_.wait(guard, [&] { return epoch_.load(std::memory_order_seq_cst) != seen; });
      sleepers_.fetch_sub(1, std::memory_order_seq_cst);
    }
  }

  const int cores_ = static_cast<int>(std::thread::hardware_concurrency());
  std::atomic<int> threads_{1};
  std::vector<std::thread> workers_;
  std::mutex grow_;
  Slot slots_[SLOTS];
  bool taken_[SLOTS] = {};
  std::atomic<uint64_t> epoch_{0};
  std::atomic<int> sleepers_{0};
  std::mutex sleep_;
  std::condition_variable wake_;
};

// Never destroyed: detached workers may still wait in it while the process exits.
Pool& pool() {
  static Pool* one = new Pool;
  return *one;
}

struct Scratch {
  float* data = nullptr;
  size_t size = 0;
  ~Scratch() { free_aligned(data); }
};
thread_local Scratch scratch;
thread_local int alone = 0;

}  // namespace

void run_tasks(int tasks, const TaskBody& body) {
  if (alone == 0) return pool().run(tasks, body);
  for (int i = 0; i < tasks; i++) body(i);
}
Alone::Alone() { alone++; }
Alone::~Alone() { alone--; }
int pool_threads() { return alone > 0 ? 1 : pool().threads(); }
void set_pool_threads(int threads) { pool().resize(threads < 1 ? 1 : threads > 256 ? 256 : threads); }

float* thread_scratch(size_t floats) {
  if (scratch.size < floats) {
    free_aligned(scratch.data);
    scratch.size = (floats + 1023) / 1024 * 1024;
    scratch.data = static_cast<float*>(take_aligned(64, scratch.size * sizeof(float)));
    if (!scratch.data) {
      scratch.size = 0;
      throw std::bad_alloc();
    }
  }
  return scratch.data;
}

}  // namespace trinity
