#include <chrono>

#include "../kernels.h"
#include "../pool.h"
#include "handle.h"
#include "value.h"

namespace trinity {

void export_function(napi_env env, napi_value exports, const char* name, Callback callback) {
  napi_value function;
  must(napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, nullptr, &function));
  set(env, exports, name, function);
}

static napi_value threads(napi_env env, napi_callback_info info) {
  return entry<0>(env, info, [&](napi_value*) { return make(env, static_cast<double>(pool_threads())); });
}
static napi_value set_threads(napi_env env, napi_callback_info info) {
  return entry<1>(env, info, [&](napi_value* args) {
    set_pool_threads(static_cast<int>(number(env, args[0])));
    return nothing(env);
  });
}

// Operations per second of every thread of the pool at once, nothing but fused multiply-adds.
static napi_value peak(napi_env env, napi_callback_info info) {
  return entry<1>(env, info, [&](napi_value* args) {
    static Runner* runner = new Runner;
    const int64_t rounds = static_cast<int64_t>(number(env, args[0]));
    return Loop::of(env).promise(env, *runner, nullptr, [rounds]() -> Reply {
      std::vector<double> done(pool_threads());
      const auto start = std::chrono::steady_clock::now();
      parallel_for(static_cast<int>(done.size()), [&](int i) {
        float sink[4] = {0.999f, 0.001f, 0, 0};
        done[i] = kernels().fma_peak(rounds, sink);
      });
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      double total = 0;
      for (double d : done) total += d;
      return [rate = total / seconds](napi_env e) { return make(e, rate); };
    });
  });
}

}  // namespace trinity

NAPI_MODULE_INIT() {
  using namespace trinity;
  try {
    Loop::install(env);
    set(env, exports, "isa", make(env, std::string(kernels().name)));
    export_function(env, exports, "threads", threads);
    export_function(env, exports, "setThreads", set_threads);
    export_function(env, exports, "peak", peak);
    export_model(env, exports);
    export_train(env, exports);
    export_sample(env, exports);
  } catch (const std::exception& error) {
    napi_throw_error(env, "native/init", error.what());
  }
  return exports;
}
