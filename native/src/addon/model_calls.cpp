// open, close, parameters in and out, memory.
#include <cmath>

#include "handle.h"
#include "value.h"

namespace trinity {

static const napi_type_tag TAG = {0x7472696e697479ull, 0x6e61746976656d6full};

Handle& handle_of(napi_env env, napi_value value) {
  bool ours = false;
  void* data = nullptr;
  if (napi_check_object_type_tag(env, value, &TAG, &ours) != napi_ok || !ours) throw std::invalid_argument("not a native model");
  must(napi_get_value_external(env, value, &data));
  Handle& handle = *static_cast<Handle*>(data);
  if (!handle.model) throw std::invalid_argument("the model is closed");
  return handle;
}

napi_value make_handle(napi_env env, std::shared_ptr<Model> model, std::unique_ptr<Runner> runner) {
  Handle* handle = new Handle{std::move(model), std::move(runner)};
  napi_value out;
  must(napi_create_external(env, handle, [](napi_env, void* data, void*) { delete static_cast<Handle*>(data); }, nullptr, &out));
  must(napi_type_tag_object(env, out, &TAG));
  return out;
}

static Config read_config(napi_env env, napi_value o) {
  Config c;
  const auto integer = [&](const char* name) { return static_cast<int>(number(env, o, name)); };
  c.hidden = integer("hidden");
  c.layers = integer("layers");
  c.heads = integer("heads");
  c.kv_heads = integer("kvHeads");
  c.head_dim = integer("headDim");
  c.inner = integer("inner");
  c.vocab = integer("vocab");
  c.max_len = integer("maxLen");
  c.pad_id = integer("padId");
  c.eps = static_cast<float>(number(env, o, "eps"));
  c.tied = boolean(env, o, "tied");
  c.qkv_bias = boolean(env, o, "qkvBias");
  c.out_bias = boolean(env, o, "outBias");
  c.mlp_bias = boolean(env, o, "mlpBias");
  c.qk_norm = boolean(env, o, "qkNorm");
  c.wide_norm = boolean(env, o, "wideNorm");
  c.norm_before = boolean(env, o, "normBefore");
  c.norm_after = boolean(env, o, "normAfter");
  c.norm_unit = static_cast<float>(number(env, o, "normUnit"));
  c.fused = boolean(env, o, "fused");
  c.gelu = boolean(env, o, "gelu");
  c.experts = integer("experts");
  c.active = integer("active");
  c.expert_inner = integer("expertInner");
  c.norm_active = boolean(env, o, "normActive");
  c.sparse = array<int32_t>(env, field(env, o, "sparse"));
  c.embed_scale = static_cast<float>(number(env, o, "embedScale"));
  c.attention_scale = static_cast<float>(number(env, o, "attentionScale"));
  c.attention_cap = static_cast<float>(number(env, o, "attentionCap"));
  c.logit_cap = static_cast<float>(number(env, o, "logitCap"));
  c.rope_scale = static_cast<float>(number(env, o, "ropeScale"));
  c.windows = array<int32_t>(env, field(env, o, "windows"));
  c.unturned = array<int32_t>(env, field(env, o, "unturned"));
  c.trainable = boolean(env, o, "trainable");
  c.checkpointing = boolean(env, o, "checkpointing");
  const std::string head = text(env, field(env, o, "head"));
  c.head = head == "value" ? HeadKind::value : head == "reward" ? HeadKind::reward : HeadKind::lm;
  c.inv_freq = array<float>(env, field(env, o, "invFreq"));
  c.near_freq = array<float>(env, field(env, o, "nearFreq"));
  c.near = array<int32_t>(env, field(env, o, "near"));
  napi_value adapters = field(env, o, "adapters");
  uint32_t count;
  must(napi_get_array_length(env, adapters, &count));
  for (uint32_t i = 0; i < count; i++) {
    napi_value item;
    must(napi_get_element(env, adapters, i, &item));
    c.adapters.push_back({text(env, field(env, item, "module")), static_cast<int>(number(env, item, "rank")),
                          static_cast<float>(number(env, item, "scale"))});
  }
  if (c.inv_freq.empty() || c.inv_freq.size() > static_cast<size_t>(c.head_dim) / 2) throw std::invalid_argument("invFreq has the wrong length");
  if (!c.near.empty() && c.near_freq.size() != c.inv_freq.size()) throw std::invalid_argument("nearFreq has the wrong length");
  if (!c.sparse.empty() && (c.active < 1 || c.active > c.experts)) throw std::invalid_argument("a token has more experts than there are");
  if (!c.sparse.empty() && c.norm_after) throw std::invalid_argument("no norm can be behind experts");
  if (!c.windows.empty() && c.windows.size() != static_cast<size_t>(c.layers)) throw std::invalid_argument("windows has the wrong length");
  return c;
}

static napi_value open(napi_env env, napi_callback_info info) {
  return entry<1>(env, info, [&](napi_value* args) {
    auto runner = std::make_shared<std::unique_ptr<Runner>>(new Runner);
    Runner& thread = **runner;
    return Loop::of(env).promise(env, thread, nullptr, [config = read_config(env, args[0]), runner]() -> Reply {
      auto model = std::make_shared<Model>(config);
      return [model, runner](napi_env e) { return make_handle(e, model, std::move(*runner)); };
    });
  });
}

// Memory is given back on the model's own thread, after whatever it is doing.
static napi_value close(napi_env env, napi_callback_info info) {
  return entry<1>(env, info, [&](napi_value* args) {
    Handle& h = handle_of(env, args[0]);
    auto model = std::make_shared<std::shared_ptr<Model>>(std::move(h.model));
    h.model = nullptr;
    return Loop::of(env).promise(env, *h.runner, args[0], [model]() -> Reply {
      model->reset();
      return [](napi_env e) { return nothing(e); };
    });
  });
}

static napi_value abort(napi_env env, napi_callback_info info) {
  return entry<1>(env, info, [&](napi_value* args) {
    handle_of(env, args[0]).model->abort = true;
    return nothing(env);
  });
}

static napi_value params(napi_env env, napi_callback_info info) {
  return entry<1>(env, info, [&](napi_value* args) {
    const Layout& layout = handle_of(env, args[0]).model->layout();
    napi_value list;
    must(napi_create_array_with_length(env, layout.params.size(), &list));
    for (size_t i = 0; i < layout.params.size(); i++) {
      const Param& p = layout.params[i];
      napi_value item = object(env);
      set(env, item, "name", make(env, p.name));
      set(env, item, "rows", make(env, static_cast<double>(p.rows)));
      set(env, item, "cols", make(env, static_cast<double>(p.cols)));
      set(env, item, "vector", make(env, p.form == Form::vec));
      set(env, item, "trained", make(env, p.at.live));
      must(napi_set_element(env, list, static_cast<uint32_t>(i), item));
    }
    return list;
  });
}

static Slot slot_of(const std::string& name) {
  if (name == "weight") return Slot::weight;
  if (name == "merged") return Slot::merged;
  if (name == "gradient") return Slot::gradient;
  if (name == "m") return Slot::first_moment;
  if (name == "v") return Slot::second_moment;
  throw std::invalid_argument("unknown slot " + name);
}

static const Param& param_of(const Model& model, const std::string& name) {
  const Param* p = model.layout().find(name);
  if (!p) throw std::invalid_argument("no parameter " + name);
  return *p;
}

static napi_value write(napi_env env, napi_callback_info info) {
  return entry<4>(env, info, [&](napi_value* args) {
    Handle& h = handle_of(env, args[0]);
    const Param& p = param_of(*h.model, text(env, args[1]));
    const Slot slot = slot_of(text(env, args[2]));
    size_t length;
    const float* data = view<float>(env, args[3], &length);
    if (length != static_cast<size_t>(p.rows * p.cols)) throw std::invalid_argument(p.name + ": wrong number of values");
    return Loop::of(env).promise(env, *h.runner, args[3], [model = h.model, &p, slot, data]() -> Reply {
      model->write(p, slot, data);
      return [](napi_env e) { return nothing(e); };
    });
  });
}

static napi_value read(napi_env env, napi_callback_info info) {
  return entry<3>(env, info, [&](napi_value* args) {
    Handle& h = handle_of(env, args[0]);
    const Param& p = param_of(*h.model, text(env, args[1]));
    const Slot slot = slot_of(text(env, args[2]));
    return Loop::of(env).promise(env, *h.runner, args[0], [model = h.model, &p, slot]() -> Reply {
      auto values = std::make_shared<std::vector<float>>(p.rows * p.cols);
      model->read(p, slot, values->data());
      return [values](napi_env e) { return typed(e, *values); };
    });
  });
}

static napi_value memory(napi_env env, napi_callback_info info) {
  return entry<1>(env, info, [&](napi_value* args) {
    const Memory m = handle_of(env, args[0]).model->memory();
    napi_value out = object(env);
    set(env, out, "weights", make(env, static_cast<double>(m.weights)));
    set(env, out, "gradients", make(env, static_cast<double>(m.gradients)));
    set(env, out, "optimizer", make(env, static_cast<double>(m.optimizer)));
    set(env, out, "activations", make(env, static_cast<double>(m.activations)));
    return out;
  });
}

void export_model(napi_env env, napi_value exports) {
  export_function(env, exports, "open", open);
  export_function(env, exports, "close", close);
  export_function(env, exports, "abort", abort);
  export_function(env, exports, "params", params);
  export_function(env, exports, "write", write);
  export_function(env, exports, "read", read);
  export_function(env, exports, "memory", memory);
}

}  // namespace trinity
