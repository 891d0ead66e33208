// What JavaScript holds: a model and the thread that works for it.
#pragma once
#include "../model.h"
#include "runner.h"

namespace trinity {

struct Handle {
  std::shared_ptr<Model> model;  // null once closed
  std::unique_ptr<Runner> runner;
  ~Handle() {
    if (model) model->abort = true;
  }
};

napi_value make_handle(napi_env env, std::shared_ptr<Model> model, std::unique_ptr<Runner> runner);
// Throws when `value` is not a handle.
Handle& handle_of(napi_env env, napi_value value);
// A packed micro-batch, checked.
Pack read_pack(napi_env env, napi_value value, const Config& config);

// Functions that this part of the addon gives to JavaScript.
void export_model(napi_env env, napi_value exports);
void export_train(napi_env env, napi_value exports);
void export_measure(napi_env env, napi_value exports);
void export_sample(napi_env env, napi_value exports);

using Callback = napi_value (*)(napi_env, napi_callback_info);
void export_function(napi_env env, napi_value exports, const char* name, Callback callback);

}  // namespace trinity
