// Thin helpers over the C interface of Node-API: read arguments, build results, throw.
#pragma once
#include <node_api.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace trinity {

inline void must(napi_status status) {
  if (status != napi_ok) throw std::runtime_error("Node-API call failed: " + std::to_string(status));
}

inline napi_value field(napi_env env, napi_value object, const char* name) {
  napi_value value;
  must(napi_get_named_property(env, object, name, &value));
  return value;
}
inline bool has(napi_env env, napi_value object, const char* name) {
  napi_value value = field(env, object, name);
  napi_valuetype type;
  must(napi_typeof(env, value, &type));
  return type != napi_undefined && type != napi_null;
}
inline double number(napi_env env, napi_value value) {
  double out;
  must(napi_get_value_double(env, value, &out));
  return out;
}
inline double number(napi_env env, napi_value object, const char* name) { return number(env, field(env, object, name)); }
inline bool boolean(napi_env env, napi_value value) {
  bool out;
  must(napi_get_value_bool(env, value, &out));
  return out;
}
inline bool boolean(napi_env env, napi_value object, const char* name) { return boolean(env, field(env, object, name)); }
inline std::string text(napi_env env, napi_value value) {
  size_t length;
  must(napi_get_value_string_utf8(env, value, nullptr, 0, &length));
  std::string out(length, '\0');
  must(napi_get_value_string_utf8(env, value, &out[0], length + 1, &length));
  return out;
}
template <typename T>
struct ArrayType;
template <>
struct ArrayType<float> {
  static constexpr napi_typedarray_type value = napi_float32_array;
};
template <>
struct ArrayType<int32_t> {
  static constexpr napi_typedarray_type value = napi_int32_array;
};

template <typename T>
T* view(napi_env env, napi_value value, size_t* length) {
  napi_typedarray_type type;
  void* data;
  must(napi_get_typedarray_info(env, value, &type, length, &data, nullptr, nullptr));
  if (type != ArrayType<T>::value) throw std::invalid_argument("wrong kind of typed array");
  return static_cast<T*>(data);
}
template <typename T>
std::vector<T> array(napi_env env, napi_value value) {
  size_t length;
  const T* data = view<T>(env, value, &length);
  return std::vector<T>(data, data + length);
}
template <typename T>
napi_value typed(napi_env env, const std::vector<T>& values) {
  void* data;
  napi_value buffer, out;
  must(napi_create_arraybuffer(env, values.size() * sizeof(T), &data, &buffer));
  for (size_t i = 0; i < values.size(); i++) static_cast<T*>(data)[i] = values[i];
  must(napi_create_typedarray(env, ArrayType<T>::value, values.size(), buffer, 0, &out));
  return out;
}
inline napi_value make(napi_env env, double value) {
  napi_value out;
  must(napi_create_double(env, value, &out));
  return out;
}
inline napi_value make(napi_env env, bool value) {
  napi_value out;
  must(napi_get_boolean(env, value, &out));
  return out;
}
inline napi_value make(napi_env env, const std::string& value) {
  napi_value out;
  must(napi_create_string_utf8(env, value.data(), value.size(), &out));
  return out;
}
inline napi_value object(napi_env env) {
  napi_value out;
  must(napi_create_object(env, &out));
  return out;
}
inline void set(napi_env env, napi_value target, const char* name, napi_value value) {
  must(napi_set_named_property(env, target, name, value));
}
inline napi_value nothing(napi_env env) {
  napi_value out;
  must(napi_get_undefined(env, &out));
  return out;
}

// Arguments of a call; C++ exceptions become JavaScript ones.
template <int N, typename Body>
napi_value entry(napi_env env, napi_callback_info info, Body body) {
  napi_value args[N > 0 ? N : 1];
  size_t count = N;
  try {
    must(napi_get_cb_info(env, info, &count, args, nullptr, nullptr));
    if (count < static_cast<size_t>(N)) throw std::invalid_argument("too few arguments");
    return body(args);
  } catch (const std::exception& error) {
    bool pending = false;
    napi_is_exception_pending(env, &pending);
    if (!pending) napi_throw_error(env, "native/call", error.what());
    return nullptr;
  }
}

}  // namespace trinity
