// Work off the event loop. A Runner is one thread with a queue; a Loop brings results back as promises.
#pragma once
#include <node_api.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace trinity {

// Where the system gives no thread, a job is done by who posts it, at once.
class Runner {
 public:
  Runner();
  // Lets the job in hand finish, drops the others.
  ~Runner();
  void post(std::function<void()> job);

 private:
  void work();
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  bool stop_ = false;
  std::thread thread_;
};

// Builds the JavaScript result on the event loop.
using Reply = std::function<napi_value(napi_env)>;

class Loop {
 public:
  static Loop& of(napi_env env);
  static void install(napi_env env);

  // Runs `job` on `runner`; the promise settles with its reply, or rejects with its exception. `keep` (may be null) is
  // held alive until then, so that typed arrays can be read in place.
  napi_value promise(napi_env env, Runner& runner, napi_value keep, std::function<Reply()> job);

  // Calls `body` on the event loop soon. For streams; false when the environment is going away.
  bool call(std::function<void(napi_env)> body);

 private:
  static void deliver(napi_env env, napi_value, void* context, void* data);
  void hold(napi_env env);
  void release(napi_env env);

  napi_threadsafe_function function_ = nullptr;
  int pending_ = 0;  // event loop only: the process must not end while an answer is on its way
};

}  // namespace trinity
