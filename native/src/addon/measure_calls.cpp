// What this machine can do: numbers for benchmarks and `trinity doctor`.
#include <chrono>

#include "../gemm.h"
#include "../kernels.h"
#include "../pool.h"
#include "handle.h"
#include "value.h"

namespace trinity {

static Runner& measuring() {
  static Runner* runner = new Runner;
  return *runner;
}

static double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Operations per second of every thread of the pool at once: nothing but fused multiply-adds.
static napi_value peak(napi_env env, napi_callback_info info) {
  return entry<1>(env, info, [&](napi_value* args) {
    const int64_t rounds = static_cast<int64_t>(number(env, args[0]));
    return Loop::of(env).promise(env, measuring(), nullptr, [rounds]() -> Reply {
      std::vector<double> done(pool_threads());
      const auto start = std::chrono::steady_clock::now();
      parallel_for(static_cast<int>(done.size()), [&](int i) {
        float sink[4] = {0.999f, 0.001f, 0, 0};
        done[i] = kernels().fma_peak(rounds, sink);
      });
      const double seconds = since(start);
      double total = 0;
      for (double d : done) total += d;
      return [rate = total / seconds](napi_env e) { return make(e, rate); };
    });
  });
}

// product(m, n, k, rounds): operations per second of x[m x k] · wᵀ[k x n], and of its two gradients.
static napi_value product(napi_env env, napi_callback_info info) {
  return entry<4>(env, info, [&](napi_value* args) {
    const int64_t m = static_cast<int64_t>(number(env, args[0])), n = pad_to(static_cast<int64_t>(number(env, args[1])), kernels().nr);
    const int64_t k = static_cast<int64_t>(number(env, args[2])), rounds = static_cast<int64_t>(number(env, args[3]));
    if (m < 1 || n < 1 || k < 1 || rounds < 1 || m * n > (1 << 28) || m * k > (1 << 28) || n * k > (1 << 28))
      throw std::invalid_argument("sizes out of range");
    return Loop::of(env).promise(env, measuring(), nullptr, [=]() -> Reply {
      const int64_t kp = pad_to(k, kernels().nr);
      Buffer x(m * kp), w(n * k), y(m * n), packed;
      for (size_t i = 0; i < x.size(); i++) x[i] = 0.01f * static_cast<float>(i % 7);
      for (size_t i = 0; i < w.size(); i++) w[i] = 0.01f * static_cast<float>(i % 5);
      const auto rate = [&](const std::function<void()>& work) {
        work();
        const auto start = std::chrono::steady_clock::now();
        for (int64_t i = 0; i < rounds; i++) work();
        return 2.0 * m * n * k * rounds / since(start);
      };
      const double forward = rate([&] { linear(x.data(), kp, m, {w.data(), n, k}, y.data(), n, false); });
      const double input = rate([&] { linear_input_grad(y.data(), n, m, {w.data(), n, k}, x.data(), kp, false, packed); });
      const double weight = rate([&] { linear_weight_grad(y.data(), n, x.data(), kp, m, n, k, w.data(), packed); });
      return [=](napi_env e) {
        napi_value out = object(e);
        set(e, out, "forward", make(e, forward));
        set(e, out, "inputGrad", make(e, input));
        set(e, out, "weightGrad", make(e, weight));
        return out;
      };
    });
  });
}

void export_measure(napi_env env, napi_value exports) {
  export_function(env, exports, "peak", peak);
  export_function(env, exports, "product", product);
}

}  // namespace trinity
