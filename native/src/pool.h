// A pool of threads that lives as long as the process. Several callers may run jobs at the same time (a trainer and a
// sampler): workers help whichever job still has tasks, and every caller works on its own job until it is done.
#pragma once
#include <cstddef>
#include <type_traits>

namespace trinity {

// A view of a callable: handing it on takes no memory, which std::function does for every job.
class TaskBody {
 public:
  template <typename F>
  explicit TaskBody(F& body)
      : body_(const_cast<void*>(static_cast<const void*>(&body))), call_([](void* f, int i) { (*static_cast<F*>(f))(i); }) {}
  void operator()(int task) const { call_(body_, task); }

 private:
  void* body_;
  void (*call_)(void*, int);
};
void run_tasks(int tasks, const TaskBody& body);

// Runs body(i) for i in [0, tasks). Which thread runs which task is open, so a task must own everything it writes.
template <typename F>
void parallel_for(int tasks, F&& body) {
  std::remove_reference_t<F>& one = body;
  run_tasks(tasks, TaskBody(one));
}

// While one is alive, the calling thread runs its jobs alone: for tasks that are whole computations of their own.
class Alone {
 public:
  Alone();
  ~Alone();
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;
};

// Threads that a job started now may have.
int pool_threads();
// Takes effect for jobs started later. 1 … 256.
void set_pool_threads(int threads);

// Scratch memory of the calling thread, at least `floats` long, 64-byte aligned. Valid until the thread asks again:
// one owner per task.
float* thread_scratch(size_t floats);

}  // namespace trinity
