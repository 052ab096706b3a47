// The group gpu: what is promised of a GPU, measured on gpu:0 and against a copy of as many bytes
// on it.
// ./x gpu sets them beside what other libraries do. WEFT_GPU_ROWS=small makes them small enough for
// a GPU in software.
#include "Benchmarks.h"

#include "Device/Device.h"

#include <weft/weft.h>

#include <cmath>
#include <cstdlib>
#include <string_view>

namespace weft::bench {

namespace {

device::Runtime &gpu() { return device::runtime_of("gpu:0"); }

/// One of two sizes.
std::int64_t sized(std::int64_t whole, std::int64_t small) {
  const char *words = std::getenv("WEFT_GPU_ROWS");
  return words != nullptr && std::string_view(words) == "small" ? small : whole;
}

/// Drawn numbers on the GPU; of many as the same few again and again.
Tensor drawn(const Shape &shape, DType dtype = f32) {
  constexpr std::int64_t kDrawn = 1 << 22;
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  if (count <= kDrawn) return cast(random::normal(shape).to("gpu:0"), dtype);
  const Tensor part = cast(random::normal({1, kDrawn}).to("gpu:0"), dtype);
  const std::int64_t times = (count + kDrawn - 1) / kDrawn;
  const Tensor many = part + zeros({times, 1}, dtype).to("gpu:0");
  return reshape(reshape(many, {times * kDrawn})[slice(0, count)], shape);
}

/// Seconds of `work`, which starts something on the GPU: of many in a row, and their end.
template <class Work>
double seconds_of(const Work &work) {
  return seconds_per_call([&](std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) keep(work());
    gpu().wait();
  });
}

template <class Work>
Row rate(const std::string &name, const std::string &unit, double per_call, const Work &work,
         const Session &session) {
  keep(work());
  return compare(name, unit, {{"weft", [&] { return per_call / seconds_of(work); }}},
                 session.repeats);
}

template <class Work>
Row time_of(const std::string &name, const std::string &unit, double scale, const Work &work,
            const Session &session) {
  keep(work());
  return compare(name, unit, {{"weft", [&] { return scale * seconds_of(work); }}}, session.repeats);
}

/// The same in GB/s, beside a copy that moves as many bytes.
template <class Work>
Row against_copy(const std::string &name, double bytes, const Work &work, const Session &session) {
  keep(work());
  const auto half = static_cast<std::size_t>(bytes / 2);
  std::byte *const from = gpu().allocate(half), *const to = gpu().allocate(half);
  gpu().clear(from, half);
  const auto copy = [&] {
    gpu().copy(to, from, half);
    return 0;
  };
  Row row = compare(name, "GB/s",
                    {{"weft", [&] { return 1e-9 * bytes / seconds_of(work); }},
                     {"copy", [&] { return 1e-9 * bytes / seconds_of(copy); }}},
                    session.repeats);
  gpu().release(from);
  gpu().release(to);
  return row;
}

double bytes_of(const Tensor &x) {
  return static_cast<double>(x.size()) * static_cast<double>(item_size(x.dtype()));
}

/// Encoder layers, the mean over time, and a classifier, which Adam trains.
struct Encoder {
  std::vector<nn::TransformerEncoderLayer> layers;
  nn::Dense head;
  WEFT_FIELDS(Encoder, layers, head)

  Encoder(std::int64_t count, std::int64_t size) : head(10) {
    for (std::int64_t layer = 0; layer < count; ++layer)
      layers.emplace_back(size, nn::TransformerOptions{.heads = 8, .epsilon = 1e-5});
  }
  Tensor operator()(Tensor x) const {
    for (const nn::TransformerEncoderLayer &layer : layers) x = layer(x);
    return head(mean(x, {.axes = Ints{1}}));
  }
};

struct EncoderData {
  std::int64_t size = sized(512, 32), batch = sized(32, 2), length = sized(128, 8);
  Tensor x = drawn({batch, length, size});
  Tensor labels = cast(arange(batch) % 10, i32).to("gpu:0");
};

/// A step of a new model, compiled at its first call.
auto encoder_step(const EncoderData &data) {
  const DeviceScope scope("gpu:0");
  const Encoder model(sized(6, 1), data.size);
  static_cast<void>(model(data.x));
  return function([model, adam = optimizers::Adam(model)](const Tensor &x, const Tensor &labels) {
    GradientTape tape;
    const Tensor loss = losses::softmax_cross_entropy(labels, model(x));
    adam.apply_gradients(tape.gradient(loss, model));
    return loss;
  });
}

} // namespace

Row gpu_copy(const std::string &name, const Session &session) {
  const auto bytes = static_cast<std::size_t>(sized(256 << 20, 1 << 16));
  std::byte *const from = gpu().allocate(bytes), *const to = gpu().allocate(bytes);
  gpu().clear(from, bytes);
  const auto copy = [&] {
    gpu().copy(to, from, bytes);
    return 0;
  };
  Row row = rate(name, "GB/s", 2e-9 * static_cast<double>(bytes), copy, session);
  row.fields["card"] = gpu().facts().name;
  row.fields["driver"] = gpu().facts().driver_version;
  gpu().release(from);
  gpu().release(to);
  return row;
}

Row gpu_add(const std::string &name, const Session &session) {
  const Tensor x = drawn({sized(64 << 20, 1 << 14)}), y = drawn(x.shape());
  return against_copy(name, 3 * bytes_of(x), [&] { return x + y; }, session);
}

Row gpu_chain(const std::string &name, const Session &session) {
  const Tensor x = drawn({sized(64 << 20, 1 << 14)});
  const auto f = function([](const Tensor &a) { return tanh(exp(a) * 0.5f); });
  return against_copy(name, 2 * bytes_of(x), [&] { return f(x); }, session);
}

Row gpu_softmax(const std::string &name, const Session &session) {
  const Tensor x = drawn({sized(16384, 16), sized(4096, 256)});
  const auto f = function([](const Tensor &a) { return nn::softmax(a); });
  return against_copy(name, 2 * bytes_of(x), [&] { return f(x); }, session);
}

Row gpu_layer_norm(const std::string &name, const Session &session) {
  const Tensor x = drawn({sized(16384, 16), sized(4096, 256)});
  const Tensor gamma = drawn({x.size(1)}), beta = drawn({x.size(1)});
  const auto f = function(
      [](const Tensor &a, const Tensor &g, const Tensor &b) { return nn::layer_norm(a, g, b); });
  return against_copy(name, 2 * bytes_of(x), [&] { return f(x, gamma, beta); }, session);
}

Row gpu_layer_norm_grad(const std::string &name, const Session &session) {
  const Tensor x = drawn({sized(16384, 16), sized(4096, 256)}), dy = drawn(x.shape());
  const Tensor gamma = drawn({x.size(1)}), beta = drawn({x.size(1)});
  const auto f = function([](const Tensor &a, const Tensor &g, const Tensor &b, const Tensor &d) {
    const auto [y, back] = vjp(
        [](const Tensor &p, const Tensor &q, const Tensor &r) { return nn::layer_norm(p, q, r); },
        a, g, b);
    const auto [da, dg, db] = back(d);
    return std::tuple(da, dg, db);
  });
  return against_copy(name, 3 * bytes_of(x), [&] { return f(x, gamma, beta, dy); }, session);
}

Row gpu_sum(const std::string &name, const Session &session) {
  const Tensor x = drawn({sized(1 << 28, 1 << 15)});
  const auto f = function([](const Tensor &a) { return sum(a); });
  return against_copy(name, bytes_of(x), [&] { return f(x); }, session);
}

Row gpu_matmul(const std::string &name, const Session &session) {
  const DType dtype = name.ends_with("bf16") ? bf16 : name.ends_with("f64") ? f64 : f32;
  const std::int64_t n = sized(dtype == bf16 ? 8192 : 4096, 64);
  const Tensor a = drawn({n, n}, dtype), b = drawn({n, n}, dtype);
  const auto f = function([](const Tensor &x, const Tensor &y) { return matmul(x, y); },
                          {.tf32 = name.ends_with("tf32")});
  return rate(
      name, "TFLOP/s", 2e-12 * std::pow(static_cast<double>(n), 3), [&] { return f(a, b); },
      session);
}

Row gpu_conv(const std::string &name, const Session &session) {
  const DType dtype = name.ends_with("bf16") ? bf16 : f32;
  const std::int64_t batch = sized(64, 1), image = sized(28, 8), channels = sized(128, 8);
  const Tensor x = drawn({batch, image, image, channels}, dtype);
  const Tensor kernel = drawn({3, 3, channels, channels}, dtype);
  const auto f = function([](const Tensor &a, const Tensor &k) {
    return convolution(a, k, {.padding = Padding::same});
  });
  const double flops = 2.0 * 9 * static_cast<double>(batch * image * image) *
                       static_cast<double>(channels * channels);
  return rate(name, "TFLOP/s", 1e-12 * flops, [&] { return f(x, kernel); }, session);
}

/// Whole, in causal order, and its gradients, of which the weights are computed again.
Row gpu_attention(const std::string &name, const Session &session) {
  const std::int64_t batch = sized(4, 1), heads = sized(32, 2), length = sized(4096, 32),
                     size = sized(128, 16);
  const Shape shape = {batch, heads, length, size};
  const Tensor q = drawn(shape, bf16), k = drawn(shape, bf16), v = drawn(shape, bf16);
  const auto causal = name.ends_with("causal") ? nn::Causal::top_left : nn::Causal::no;
  const auto attend = [causal](const Tensor &x, const Tensor &y, const Tensor &z) {
    return nn::attention(x, y, z, {}, {.causal = causal});
  };
  const double product =
      2.0 * static_cast<double>(batch * heads * size) * std::pow(static_cast<double>(length), 2);
  if (name.ends_with("grad")) {
    const auto f = function([attend](const Tensor &x, const Tensor &y, const Tensor &z) {
      const auto [result, back] = vjp(attend, x, y, z);
      const auto [dx, dy, dz] = back(x);
      return std::tuple(dx, dy, dz);
    });
    return rate(name, "TFLOP/s", 1e-12 * 7 * product, [&] { return f(q, k, v); }, session);
  }
  const auto f = function(attend);
  const double share = causal == nn::Causal::no ? 1 : 0.5;
  return rate(name, "TFLOP/s", 1e-12 * 2 * share * product, [&] { return f(q, k, v); }, session);
}

Row gpu_add_one(const std::string &name, const Session &session) {
  const Tensor x = drawn({1}), y = drawn({1});
  return time_of(name, "us", 1e6, [&] { return x + y; }, session);
}

Row gpu_while(const std::string &name, const Session &session) {
  const auto turns = static_cast<std::int32_t>(sized(1000, 20));
  const auto f = function([](const Tensor &n) {
    return std::get<1>(while_loop(
        [&](const Tensor &i, const Tensor &) { return i < n; },
        [](const Tensor &i, const Tensor &x) { return std::tuple(i + 1, x * 0.999f + 0.001f); }, 0,
        0.5f));
  });
  const Tensor n = tensor(turns).to("gpu:0");
  return time_of(name, "us", 1e6 / turns, [&] { return f(n); }, session);
}

Row gpu_encoder_step(const std::string &name, const Session &session) {
  const EncoderData data;
  const auto step = encoder_step(data);
  return time_of(name, "us", 1e6, [&] { return step(data.x, data.labels); }, session);
}

Row gpu_encoder_first(const std::string &name, const Session &session) {
  const EncoderData data;
  const Contender weft{"weft", [&] {
                         const auto step = encoder_step(data); // nothing of it is compiled yet
                         const double start = now();
                         keep(step(data.x, data.labels).item<float>());
                         return now() - start;
                       }};
  return compare(name, "s", {weft}, std::min(session.repeats, 3));
}

std::vector<Benchmark> gpu_rows() {
  return {
      {"gpu_copy", "a copy of 256 MiB on the GPU by its driver", gpu_copy, kGpu},
      {"gpu_add", "an eager sum of two times 256 MiB of f32", gpu_add, kGpu},
      {"gpu_chain", "tanh, exp and a product of 64 Mi f32 in one function", gpu_chain, kGpu},
      {"gpu_softmax", "softmax of 16384 rows of 4096 f32", gpu_softmax, kGpu},
      {"gpu_layer_norm", "a layer norm of these", gpu_layer_norm, kGpu},
      {"gpu_layer_norm_grad", "its gradients", gpu_layer_norm_grad, kGpu},
      {"gpu_sum", "the sum of 2^28 f32", gpu_sum, kGpu},
      {"gpu_matmul_f32", "a product of f32, 4096 x 4096 x 4096", gpu_matmul, kGpu},
      {"gpu_matmul_tf32", "one of f32 whose factors are rounded to tf32", gpu_matmul, kGpu},
      {"gpu_matmul_f64", "one of f64", gpu_matmul, kGpu},
      {"gpu_matmul_bf16", "one of bf16, 8192 x 8192 x 8192", gpu_matmul, kGpu},
      {"gpu_conv_f32", "a convolution of ResNet-50, 64 x 28 x 28 x 128 by 3 x 3", gpu_conv, kGpu},
      {"gpu_conv_bf16", "one of bf16", gpu_conv, kGpu},
      {"gpu_attention", "attention of bf16, 4 x 32 x 4096 x 128", gpu_attention, kGpu},
      {"gpu_attention_causal", "in causal order", gpu_attention, kGpu},
      {"gpu_attention_grad", "and its gradients", gpu_attention, kGpu},
      {"gpu_add_one", "an eager sum of two numbers", gpu_add_one, kGpu},
      {"gpu_while", "a turn of a compiled while loop over two scalars", gpu_while, kGpu},
      {"gpu_encoder_step",
       "a training step of 6 encoder layers of 512, 8 heads, batch 32, length 128",
       gpu_encoder_step, kGpu},
      {"gpu_encoder_first", "the first call of that function: trace, compile and run",
       gpu_encoder_first, kGpu},
  };
}

} // namespace weft::bench
