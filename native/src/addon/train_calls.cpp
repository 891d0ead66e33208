// forward, backward, step.
#include "handle.h"
#include "value.h"

namespace trinity {

// The caller has checked ids, lengths and temperatures; what would be undefined behaviour is checked here again.
static Pack read_pack(napi_env env, napi_value o, const Config& c) {
  Pack p;
  p.ids = array<int32_t>(env, field(env, o, "ids"));
  const std::vector<int32_t> lengths = array<int32_t>(env, field(env, o, "lengths"));
  const std::vector<int32_t> rows = array<int32_t>(env, field(env, o, "rows"));
  p.targets = array<int32_t>(env, field(env, o, "targets"));
  p.inv_t = array<float>(env, field(env, o, "invT"));
  p.rows.assign(rows.begin(), rows.end());
  p.starts.push_back(0);
  for (int32_t length : lengths) {
    if (length < 1 || length > c.max_len) throw std::invalid_argument("sequence length out of range");
    for (int32_t i = 0; i < length; i++) p.positions.push_back(i);
    p.starts.push_back(p.starts.back() + length);
  }
  if (p.starts.back() != p.tokens()) throw std::invalid_argument("lengths do not add up");
  for (int32_t id : p.ids)
    if (id < 0 || id >= c.vocab) throw std::invalid_argument("token id out of range");
  if (p.targets.size() != p.rows.size() || p.inv_t.size() != p.rows.size()) throw std::invalid_argument("scored rows do not match");
  for (int64_t row : p.rows)
    if (row < 0 || row >= p.tokens()) throw std::invalid_argument("scored row out of range");
  for (int32_t id : p.targets)
    if (id < 0 || id >= c.vocab) throw std::invalid_argument("target id out of range");
  return p;
}

static napi_value scores_value(napi_env env, const Scores& s) {
  napi_value out = object(env);
  if (!s.logprob.empty()) set(env, out, "logprob", typed(env, s.logprob));
  if (!s.entropy.empty()) set(env, out, "entropy", typed(env, s.entropy));
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

void export_train(napi_env env, napi_value exports) {
  export_function(env, exports, "forward", forward_call);
}

}  // namespace trinity
