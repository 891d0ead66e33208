// A pool of threads that lives as long as the process. Several callers may run jobs at the same time (a trainer and a
// sampler): workers help whichever job still has tasks, and every caller works on its own job until it is done.
#pragma once
#include <functional>

namespace trinity {

// Runs body(i) for i in [0, tasks). Which thread runs which task is open, so a task must own everything it writes.
void parallel_for(int tasks, const std::function<void(int)>& body);

int pool_threads();
// Takes effect for jobs started later. 1 … 256.
void set_pool_threads(int threads);

// Scratch memory of the calling thread, at least `floats` long, 64-byte aligned. Valid until the thread asks again:
// one owner per task.
float* thread_scratch(size_t floats);

}  // namespace trinity
