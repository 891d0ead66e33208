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

}  // namespace trinity

NAPI_MODULE_INIT() {
  using namespace trinity;
  try {
    Loop::install(env);
    set(env, exports, "isa", make(env, std::string(kernels().name)));
    export_function(env, exports, "threads", threads);
    export_function(env, exports, "setThreads", set_threads);
    export_measure(env, exports);
    export_model(env, exports);
    export_train(env, exports);
    export_sample(env, exports);
  } catch (const std::exception& error) {
    napi_throw_error(env, "native/init", error.what());
  }
  return exports;
}
