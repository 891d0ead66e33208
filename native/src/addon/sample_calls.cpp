// Snapshots of weights, samplers, their steps.
#include <cstdio>

#include "../sample/sampler.h"
#include "handle.h"
#include "value.h"

namespace trinity {

static const napi_type_tag SNAPSHOT_TAG = {0x7472696e697479ull, 0x736e617073686f74ull};
static const napi_type_tag SAMPLER_TAG = {0x7472696e697479ull, 0x73616d706c657221ull};

struct SamplerHandle {
  std::shared_ptr<Sampler> sampler;  // null once closed
  std::unique_ptr<Runner> runner;
};

template <typename T>
static napi_value external(napi_env env, std::unique_ptr<T> value, const napi_type_tag& tag) {
  napi_value out;
  must(napi_create_external(env, value.get(), [](napi_env, void* data, void*) { delete static_cast<T*>(data); }, nullptr, &out));
  value.release();
  must(napi_type_tag_object(env, out, &tag));
  return out;
}
template <typename T>
static T& unwrap(napi_env env, napi_value value, const napi_type_tag& tag, const char* what) {
  bool ours = false;
  void* data = nullptr;
  if (napi_check_object_type_tag(env, value, &tag, &ours) != napi_ok || !ours) throw std::invalid_argument(what);
  must(napi_get_value_external(env, value, &data));
  return *static_cast<T*>(data);
}
static Weights& snapshot_of(napi_env env, napi_value value) {
  Weights& w = unwrap<Weights>(env, value, SNAPSHOT_TAG, "not a snapshot");
  if (!w.layout) throw std::invalid_argument("the snapshot was released");
  return w;
}
static SamplerHandle& sampler_of(napi_env env, napi_value value) {
  SamplerHandle& h = unwrap<SamplerHandle>(env, value, SAMPLER_TAG, "not a sampler");
  if (!h.sampler) throw std::invalid_argument("the sampler is closed");
  return h;
}

// snapshot(model): taken on the model's thread, between its calls.
static napi_value snapshot(napi_env env, napi_callback_info info) {
  return entry<1>(env, info, [&](napi_value* args) {
    Handle& h = handle_of(env, args[0]);
    return Loop::of(env).promise(env, *h.runner, args[0], [model = h.model]() -> Reply {
      auto weights = std::make_shared<Weights>(model->snapshot());
      return [weights](napi_env e) { return external(e, std::make_unique<Weights>(std::move(*weights)), SNAPSHOT_TAG); };
    });
  });
}

// openSnapshot(snapshot): a model that shares these weights, to read them.
static napi_value open_snapshot(napi_env env, napi_callback_info info) {
  return entry<1>(env, info, [&](napi_value* args) {
    return make_handle(env, std::make_shared<Model>(snapshot_of(env, args[0])), std::make_unique<Runner>());
  });
}

static napi_value release_snapshot(napi_env env, napi_callback_info info) {
  return entry<1>(env, info, [&](napi_value* args) {
    snapshot_of(env, args[0]) = Weights{};
    return nothing(env);
  });
}

static napi_value checksum_call(napi_env env, napi_callback_info info) {
  return entry<1>(env, info, [&](napi_value* args) {
    static Runner* runner = new Runner;
    return Loop::of(env).promise(env, *runner, args[0], [weights = snapshot_of(env, args[0])]() -> Reply {
      char text[17];
      std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(checksum(weights)));
      return [out = std::string(text)](napi_env e) { return make(e, out); };
    });
  });
}

// openSampler(snapshot, pages, maxLen, bfloat16)
static napi_value open_sampler(napi_env env, napi_callback_info info) {
  return entry<4>(env, info, [&](napi_value* args) {
    const int pages = static_cast<int>(number(env, args[1])), max_len = static_cast<int>(number(env, args[2]));
    if (pages < 1 || max_len < 1) throw std::invalid_argument("a sampler needs a page and a position");
    auto handle = std::make_unique<SamplerHandle>();
    handle->sampler = std::make_shared<Sampler>(snapshot_of(env, args[0]), pages, max_len);
    if (boolean(env, args[3])) handle->sampler->use_bfloat16();
    handle->runner = std::make_unique<Runner>();
    return external(env, std::move(handle), SAMPLER_TAG);
  });
}

static napi_value close_sampler(napi_env env, napi_callback_info info) {
  return entry<1>(env, info, [&](napi_value* args) {
    SamplerHandle& h = sampler_of(env, args[0]);
    auto sampler = std::make_shared<std::shared_ptr<Sampler>>(std::move(h.sampler));
    h.sampler = nullptr;
    return Loop::of(env).promise(env, *h.runner, args[0], [sampler]() -> Reply {
      sampler->reset();
      return [](napi_env e) { return nothing(e); };
    });
  });
}

// weightsOf(sampler): a snapshot of what it samples with.
static napi_value weights_of(napi_env env, napi_callback_info info) {
  return entry<1>(env, info, [&](napi_value* args) {
    return external(env, std::make_unique<Weights>(sampler_of(env, args[0]).sampler->weights()), SNAPSHOT_TAG);
  });
}

static napi_value check_weights(napi_env env, napi_callback_info info) {
  return entry<2>(env, info, [&](napi_value* args) {
    sampler_of(env, args[0]).sampler->check_fit(snapshot_of(env, args[1]));
    return nothing(env);
  });
}

// setWeights(sampler, snapshot): for steps started from now on; throws when they do not fit.
static napi_value set_weights(napi_env env, napi_callback_info info) {
  return entry<2>(env, info, [&](napi_value* args) {
    sampler_of(env, args[0]).sampler->adopt(snapshot_of(env, args[1]));
    return nothing(env);
  });
}

template <typename T>
static T* part(napi_env env, napi_value step, const char* name, int64_t count, int64_t width = 1) {
  size_t length;
  T* data = view<T>(env, field(env, step, name), &length);
  if (count < 0 || static_cast<size_t>(count * width) > length) throw std::invalid_argument(std::string(name) + " is too short");
  return data;
}

static StepArgs read_step(napi_env env, napi_value o) {
  const int32_t* n = part<int32_t>(env, o, "counts", 11);
  StepArgs a{};
  a.rows = n[0], a.segment_count = n[1], a.page_count = n[2], a.copy_count = n[3], a.out_count = n[4], a.draw_count = n[5];
  a.history_count = n[6], a.banned_count = n[7], a.top_count = n[8], a.bias_count = n[9], a.allowed_count = n[10];
  a.ids = part<int32_t>(env, o, "ids", a.rows);
  a.segments = part<int32_t>(env, o, "segments", a.segment_count, SEGMENT_INTS);
  a.pages = part<int32_t>(env, o, "pages", a.page_count);
  a.copies = part<int32_t>(env, o, "copies", a.copy_count, 2);
  a.outs = part<int32_t>(env, o, "outs", a.out_count, OUT_INTS);
  a.out_inv_t = part<float>(env, o, "outInvT", a.out_count);
  a.scores = part<float>(env, o, "scores", a.out_count);
  a.draws = part<int32_t>(env, o, "draws", a.draw_count, DRAW_INTS);
  a.draw_floats = part<float>(env, o, "drawFloats", a.draw_count, DRAW_FLOATS);
  a.tokens = part<int32_t>(env, o, "tokens", a.draw_count);
  a.logprobs = part<float>(env, o, "logprobs", a.draw_count);
  a.drawn = part<float>(env, o, "drawn", a.draw_count);
  a.history = part<int32_t>(env, o, "history", a.history_count);
  a.banned = part<int32_t>(env, o, "banned", a.banned_count);
  a.biased = part<int32_t>(env, o, "biased", a.bias_count);
  a.bias = part<float>(env, o, "bias", a.bias_count);
  a.allowed = part<int32_t>(env, o, "allowed", a.allowed_count);
  a.top_tokens = part<int32_t>(env, o, "topTokens", a.top_count);
  a.top_logprobs = part<float>(env, o, "topLogprobs", a.top_count);
  return a;
}

// sampleStep(sampler, step): reads and writes the arrays of `step` in place.
static napi_value sample_step(napi_env env, napi_callback_info info) {
  return entry<2>(env, info, [&](napi_value* args) {
    SamplerHandle& h = sampler_of(env, args[0]);
    const StepArgs step = read_step(env, args[1]);
    return Loop::of(env).promise(env, *h.runner, args[1],
                                 [sampler = h.sampler, weights = h.sampler->weights(), step]() -> Reply {
                                   sampler->step(weights, step);
                                   return [](napi_env e) { return nothing(e); };
                                 });
  });
}

// sampleScore(sampler, pack)
static napi_value sample_score(napi_env env, napi_callback_info info) {
  return entry<2>(env, info, [&](napi_value* args) {
    SamplerHandle& h = sampler_of(env, args[0]);
    Config config = h.sampler->weights().layout->config;
    config.max_len = h.sampler->max_len();
    auto pack = std::make_shared<Pack>(read_pack(env, args[1], config));
    return Loop::of(env).promise(env, *h.runner, args[0],
                                 [sampler = h.sampler, weights = h.sampler->weights(), pack]() -> Reply {
                                   auto logprob = std::make_shared<std::vector<float>>(pack->scored());
                                   std::vector<float> entropy(pack->scored());
                                   sampler->score(weights, *pack, logprob->data(), entropy.data());
                                   return [logprob](napi_env e) { return typed(e, *logprob); };
                                 });
  });
}

static napi_value sampler_memory(napi_env env, napi_callback_info info) {
  return entry<1>(env, info, [&](napi_value* args) {
    const Sampler& s = *sampler_of(env, args[0]).sampler;
    napi_value out = object(env);
    set(env, out, "weights", make(env, static_cast<double>(s.weights().bytes())));
    set(env, out, "cache", make(env, static_cast<double>(s.cache_bytes())));
    set(env, out, "activations", make(env, static_cast<double>(s.activation_bytes())));
    return out;
  });
}

void export_sample(napi_env env, napi_value exports) {
  set(env, exports, "pageTokens", make(env, static_cast<double>(KEYS)));
  export_function(env, exports, "snapshot", snapshot);
  export_function(env, exports, "openSnapshot", open_snapshot);
  export_function(env, exports, "weightsOf", weights_of);
  export_function(env, exports, "releaseSnapshot", release_snapshot);
  export_function(env, exports, "checksum", checksum_call);
  export_function(env, exports, "openSampler", open_sampler);
  export_function(env, exports, "closeSampler", close_sampler);
  export_function(env, exports, "checkWeights", check_weights);
  export_function(env, exports, "setWeights", set_weights);
  export_function(env, exports, "sampleStep", sample_step);
  export_function(env, exports, "sampleScore", sample_score);
  export_function(env, exports, "samplerMemory", sampler_memory);
}

}  // namespace trinity
