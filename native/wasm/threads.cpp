// POSIX threads for WebAssembly: a thread is a worker of Node with an instance of its own over the same memory. Locks are
// words that the processor's wait and notify work on.
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "wait.h"

extern "C" {

__attribute__((import_module("trinity"), import_name("spawn"))) int trinity_spawn(void* thread);
__attribute__((import_module("trinity"), import_name("cores"))) int trinity_cores();

struct Thread {
  void* (*body)(void*);
  void* argument;
  int done;  // 1 when the thread has ended
  int id;
};

static thread_local int own_id = 1;
static int next_id = 1;

// A function of its own and not inlined: wait.h says why.
void trinity_wait(int* word, int value) { __builtin_wasm_memory_atomic_wait32(word, value, -1); }
static void wake(int* word, unsigned count) { __builtin_wasm_memory_atomic_notify(word, count); }

// 0: free, 1: taken, 2: taken and somebody may wait.
static int* word_of(pthread_mutex_t* mutex) { return reinterpret_cast<int*>(mutex); }
static int* word_of(pthread_cond_t* condition) { return reinterpret_cast<int*>(condition); }

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  int* word = word_of(mutex);
  int seen = 0;
  if (__atomic_compare_exchange_n(word, &seen, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return 0;
  while (__atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE) != 0) trinity_wait(word, 2);
  return 0;
}
int pthread_mutex_trylock(pthread_mutex_t* mutex) {
  int seen = 0;
  return __atomic_compare_exchange_n(word_of(mutex), &seen, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED) ? 0 : EBUSY;
}
int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  int* word = word_of(mutex);
  if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) == 2) wake(word, 1);
  return 0;
}
int pthread_mutex_destroy(pthread_mutex_t*) { return 0; }

// The word counts wake-ups, so that none between unlocking and waiting is lost.
int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  int* word = word_of(condition);
  const int seen = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  pthread_mutex_unlock(mutex);
  trinity_wait(word, seen);
  return pthread_mutex_lock(mutex);
}
static int raise_and_wake(pthread_cond_t* condition, unsigned count) {
  int* word = word_of(condition);
  __atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
  wake(word, count);
  return 0;
}
int pthread_cond_signal(pthread_cond_t* condition) { return raise_and_wake(condition, 1); }
int pthread_cond_broadcast(pthread_cond_t* condition) { return raise_and_wake(condition, ~0u); }
int pthread_cond_destroy(pthread_cond_t*) { return 0; }

int pthread_create(pthread_t* out, const pthread_attr_t*, void* (*body)(void*), void* argument) {
  auto* thread = static_cast<Thread*>(malloc(sizeof(Thread)));
  if (!thread) return EAGAIN;
  *thread = {body, argument, 0, __atomic_add_fetch(&next_id, 1, __ATOMIC_RELAXED)};
  *out = reinterpret_cast<pthread_t>(thread);
  if (trinity_spawn(thread) == 0) return 0;
  free(thread);
  return EAGAIN;
}
int pthread_join(pthread_t id, void**) {
  auto* thread = reinterpret_cast<Thread*>(id);
  while (!__atomic_load_n(&thread->done, __ATOMIC_ACQUIRE)) trinity_wait(&thread->done, 0);
  free(thread);
  return 0;
}
int pthread_detach(pthread_t) { return 0; }
pthread_t pthread_self(void) { return static_cast<pthread_t>(own_id); }
int sched_yield(void) { return 0; }
// The only thing asked for: how many processors there are.
long sysconf(int) { return trinity_cores(); }

// What thread_local objects leave to be done at the end of their thread, newest first.
struct Ending {
  void (*run)(void*);
  void* object;
  Ending* before;
};
static thread_local Ending* endings = nullptr;
int __cxa_thread_atexit(void (*run)(void*), void* object, void*) {
  auto* one = static_cast<Ending*>(malloc(sizeof(Ending)));
  if (!one) return -1;
  *one = {run, object, endings};
  endings = one;
  return 0;
}

// What a new instance runs.
__attribute__((export_name("trinity_thread"))) void trinity_thread(Thread* thread) {
  own_id = thread->id;
  thread->body(thread->argument);
  while (Ending* one = endings) {
    endings = one->before;
    one->run(one->object);
    free(one);
  }
  __atomic_store_n(&thread->done, 1, __ATOMIC_RELEASE);
  wake(&thread->done, 1);
}
}
