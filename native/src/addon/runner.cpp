#include "runner.h"

#include <system_error>

#include "../forward.h"
#include "value.h"

namespace trinity {

Runner::Runner() {
  try {
    thread_ = std::thread([this] { work(); });
  } catch (const std::system_error&) {  // no threads here: the caller does the work
  }
}

Runner::~Runner() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    stop_ = true;
    queue_.clear();
  }
  wake_.notify_one();
  thread_.join();
}

void Runner::post(std::function<void()> job) {
  if (!thread_.joinable()) return job();
  {
    std::lock_guard<std::mutex> guard(mutex_);
    queue_.push_back(std::move(job));
  }
  wake_.notify_one();
}

void Runner::work() {
  for (;;) {
    std::function<void()> job;
    {
      std::unique_lock<std::mutex> guard(mutex_);
      wake_.wait(guard, [this] { return stop_ || !queue_.empty(); });
      if (stop_) return;
      job = std::move(queue_.front());
      queue_.pop_front();
    }
    job();
  }
}

void Loop::install(napi_env env) {
  Loop* loop = new Loop;
  napi_value name;
  must(napi_create_string_utf8(env, "trinity", NAPI_AUTO_LENGTH, &name));
  must(napi_create_threadsafe_function(env, nullptr, nullptr, name, 0, 1, nullptr, nullptr, loop, deliver, &loop->function_));
  must(napi_unref_threadsafe_function(env, loop->function_));
  must(napi_set_instance_data(env, loop, [](napi_env, void* data, void*) { delete static_cast<Loop*>(data); }, nullptr));
}

Loop& Loop::of(napi_env env) {
  void* data;
  must(napi_get_instance_data(env, &data));
  return *static_cast<Loop*>(data);
}

void Loop::hold(napi_env env) {
  if (pending_++ == 0) napi_ref_threadsafe_function(env, function_);
}
void Loop::release(napi_env env) {
  if (--pending_ == 0) napi_unref_threadsafe_function(env, function_);
}

bool Loop::call(std::function<void(napi_env)> body) {
  auto* boxed = new std::function<void(napi_env)>(std::move(body));
  if (napi_call_threadsafe_function(function_, boxed, napi_tsfn_nonblocking) == napi_ok) return true;
  delete boxed;
  return false;
}

void Loop::deliver(napi_env env, napi_value, void*, void* data) {
  std::unique_ptr<std::function<void(napi_env)>> body(static_cast<std::function<void(napi_env)>*>(data));
  if (env) (*body)(env);
}

napi_value Loop::promise(napi_env env, Runner& runner, napi_value keep, std::function<Reply()> job) {
  napi_deferred deferred;
  napi_value promise;
  must(napi_create_promise(env, &deferred, &promise));
  napi_ref ref = nullptr;
  if (keep) must(napi_create_reference(env, keep, 1, &ref));
  hold(env);
  runner.post([this, deferred, ref, job = std::move(job)] {
    Reply reply;
    std::string code, message;
    try {
      reply = job();
    } catch (const Aborted&) {
      code = "native/aborted";
      message = "the computation was aborted";
    } catch (const std::bad_alloc&) {
      code = "native/memory";
      message = "not enough memory";
    } catch (const std::exception& error) {
      code = "native/failed";
      message = error.what();
    }
    call([this, deferred, ref, reply, code, message](napi_env env) {
      napi_value value = nullptr;
      if (reply) {
        try {
          value = reply(env);
        } catch (...) {
          value = nullptr;
        }
      }
      if (value) {
        napi_resolve_deferred(env, deferred, value);
      } else {
        napi_value error, text, name;
        napi_create_string_utf8(env, message.empty() ? "no memory for the result" : message.c_str(), NAPI_AUTO_LENGTH, &text);
        napi_create_string_utf8(env, code.empty() ? "native/memory" : code.c_str(), NAPI_AUTO_LENGTH, &name);
        napi_create_error(env, name, text, &error);
        napi_reject_deferred(env, deferred, error);
      }
      if (ref) napi_delete_reference(env, ref);
      release(env);
    });
  });
  return promise;
}

}  // namespace trinity
