// forward, backward, step.
#include "handle.h"
#include "value.h"

namespace trinity {

// The caller has checked ids, lengths and temperatures; what would be undefined behavior is checked here again.
Pack read_pack(napi_env env, napi_value o, const Config& c) {
  Pack p;
  p.ids = array<int32_t>(env, field(env, o, "ids"));
  const std::vector<int32_t> lengths = array<int32_t>(env, field(env, o, "lengths"));
  const std::vector<int32_t> rows = array<int32_t>(env, field(env, o, "rows"));
  p.targets = array<int32_t>(env, field(env, o, "targets"));
  p.inv_t = array<float>(env, field(env, o, "invT"));
  if (has(env, o, "others")) p.others = array<int32_t>(env, field(env, o, "others"));
  p.rows.assign(rows.begin(), rows.end());
  if (has(env, o, "prefix")) {
    const std::vector<int32_t> prefix = array<int32_t>(env, field(env, o, "prefix"));
    p.prefix.assign(prefix.begin(), prefix.end());
  } else {
    p.prefix.assign(lengths.size(), -1);
  }
  if (p.prefix.size() != lengths.size()) throw std::invalid_argument("prefixes do not match");
  p.starts.push_back(0);
  for (size_t s = 0; s < lengths.size(); s++) {
    const int64_t from = p.prefix[s];
    if (from >= static_cast<int64_t>(s) || from < -1) throw std::invalid_argument("prefix out of range");
    p.starts.push_back(p.starts.back() + lengths[s]);
    const int64_t before = from < 0 ? 0 : p.before(from) + p.length(from);
    if (lengths[s] < 1 || before + lengths[s] > c.max_len) throw std::invalid_argument("sequence length out of range");
    for (int32_t i = 0; i < lengths[s]; i++) p.positions.push_back(static_cast<int32_t>(before) + i);
  }
  if (p.starts.back() != p.tokens()) throw std::invalid_argument("lengths do not add up");
  for (int32_t id : p.ids)
    if (id < 0 || id >= c.vocab) throw std::invalid_argument("token id out of range");
  if (p.targets.size() != p.rows.size() || p.inv_t.size() != p.rows.size()) throw std::invalid_argument("scored rows do not match");
  std::vector<uint8_t> seen(p.tokens(), 0);
  for (int64_t row : p.rows) {
    if (row < 0 || row >= p.tokens()) throw std::invalid_argument("scored row out of range");
    p.again.push_back(seen[row]);
    seen[row] = 1;
  }
  if (p.rows.empty() ? !p.others.empty() : p.others.size() % p.rows.size() != 0)
    throw std::invalid_argument("other tokens do not match");
  for (const std::vector<int32_t>* ids : {&p.targets, &p.others})
    for (int32_t id : *ids)
      if (id < 0 || id >= c.vocab) throw std::invalid_argument("target id out of range");
  return p;
}

static napi_value scores_value(napi_env env, const Scores& s) {
  napi_value out = object(env);
  if (!s.logprob.empty()) set(env, out, "logprob", typed(env, s.logprob));
  if (!s.entropy.empty()) set(env, out, "entropy", typed(env, s.entropy));
  if (!s.squares.empty()) set(env, out, "sum_pi_squared", typed(env, s.squares));
  if (!s.others.empty()) set(env, out, "others", typed(env, s.others));
  if (!s.value.empty()) set(env, out, "value", typed(env, s.value));
  return out;
}

// forward(model, pack, adapter, keep)
static napi_value forward_call(napi_env env, napi_callback_info info) {
  return entry<4>(env, info, [&](napi_value* args) {
    Handle& h = handle_of(env, args[0]);
    auto pack = std::make_shared<Pack>(read_pack(env, args[1], h.model->layout().config));
    bool adapter, keep;
    must(napi_get_value_bool(env, args[2], &adapter));
    must(napi_get_value_bool(env, args[3], &keep));
    h.model->abort = false;
    return Loop::of(env).promise(env, *h.runner, args[0], [model = h.model, pack, adapter, keep]() -> Reply {
      auto scores = std::make_shared<Scores>(model->forward(std::move(*pack), adapter, keep));
      return [scores](napi_env e) { return scores_value(e, *scores); };
    });
  });
}

static napi_value backward_call(napi_env env, napi_callback_info info) {
  return entry<2>(env, info, [&](napi_value* args) {
    Handle& h = handle_of(env, args[0]);
    auto grads = std::make_shared<Scores>();
    const auto take = [&](const char* name, std::vector<float>& into) {
      if (has(env, args[1], name)) into = array<float>(env, field(env, args[1], name));
    };
    take("logprob", grads->logprob);
    take("entropy", grads->entropy);
    take("sum_pi_squared", grads->squares);
    take("others", grads->others);
    take("value", grads->value);
    h.model->abort = false;
    return Loop::of(env).promise(env, *h.runner, args[0], [model = h.model, grads]() -> Reply {
      model->backward(*grads);
      return [](napi_env e) { return nothing(e); };
    });
  });
}

static napi_value step_call(napi_env env, napi_callback_info info) {
  return entry<2>(env, info, [&](napi_value* args) {
    Handle& h = handle_of(env, args[0]);
    const auto get = [&](const char* name) { return number(env, args[1], name); };
    const AdamStep s{get("lr"), get("beta1"), get("beta2"), get("eps"), get("weightDecay"), get("gradClip")};
    return Loop::of(env).promise(env, *h.runner, args[0], [model = h.model, s]() -> Reply {
      const StepResult r = model->step(s);
      return [r](napi_env e) {
        napi_value out = object(e);
        set(e, out, "gradNorm", make(e, r.grad_norm));
        set(e, out, "applied", make(e, r.applied));
        return out;
      };
    });
  });
}

static napi_value zero_grad(napi_env env, napi_callback_info info) {
  return entry<1>(env, info, [&](napi_value* args) {
    Handle& h = handle_of(env, args[0]);
    return Loop::of(env).promise(env, *h.runner, args[0], [model = h.model]() -> Reply {
      model->zero_grad();
      return [](napi_env e) { return nothing(e); };
    });
  });
}

static napi_value steps(napi_env env, napi_callback_info info) {
  return entry<1>(env, info, [&](napi_value* args) {
    return make(env, static_cast<double>(handle_of(env, args[0]).model->steps()));
  });
}
static napi_value set_steps(napi_env env, napi_callback_info info) {
  return entry<2>(env, info, [&](napi_value* args) {
    handle_of(env, args[0]).model->set_steps(static_cast<int64_t>(number(env, args[1])));
    return nothing(env);
  });
}

void export_train(napi_env env, napi_value exports) {
  export_function(env, exports, "forward", forward_call);
  export_function(env, exports, "backward", backward_call);
  export_function(env, exports, "step", step_call);
  export_function(env, exports, "zeroGrad", zero_grad);
  export_function(env, exports, "steps", steps);
  export_function(env, exports, "setSteps", set_steps);
}

}  // namespace trinity
