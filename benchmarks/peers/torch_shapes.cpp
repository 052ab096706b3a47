// libtorch's side of the shapes of work.
//
// A line server (docs/benchmarks.md): each line on stdin asks for one repeat, answered by one JSON
// line; the line "check" asks for what the results are like.
//
//   torch_shapes NAME [INPUT..]    an INPUT is as WorkInputs.h writes it

#include "../WorkInputs.h"
#include "torch_networks.h"

#include <c10/core/CPUAllocator.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <string>

namespace {

using torch::Tensor;
using Tensors = std::vector<Tensor>;
using Work = std::function<Tensors(const Tensors &)>;

constexpr long kMi = 1 << 20;

Tensor made_input(const std::string &text, long place) {
  const weft::bench::WorkInput input = weft::bench::input_of(text);
  using weft::bench::Elements;
  if (input.elements == Elements::index)
    return torch::tensor(weft::bench::indices_of(input, place), torch::kInt64).view(input.shape);
  if (input.elements == Elements::f64 || input.elements == Elements::definite)
    return torch::tensor(weft::bench::doubles_of(input, place), torch::kFloat64).view(input.shape);
  return torch::tensor(weft::bench::floats_of(input, place), torch::kFloat32).view(input.shape);
}

/// The gradients of `value`, which are what is wanted, and nothing accumulated anywhere.
Tensors gradients(const Tensor &value, const Tensors &sources) {
  return torch::autograd::grad({value}, sources);
}

/// A leaf of the graph of one call.
Tensor leaf(const Tensor &x) { return x.detach().requires_grad_(true); }

Tensor layer_norm(const Tensor &x, const Tensor &gamma, const Tensor &beta) {
  return at::layer_norm(x, {x.size(-1)}, gamma, beta, 1e-5);
}

Tensors layer_norm_grad(const Tensors &in) {
  const Tensors sources = {leaf(in[0]), leaf(in[1]), leaf(in[2])};
  return gradients((layer_norm(sources[0], sources[1], sources[2]) * in[3]).sum(), sources);
}

Tensors cross_entropy_grad(const Tensors &in) {
  const Tensor logits = leaf(in[0]), loss = at::cross_entropy_loss(logits, in[1]);
  return {loss.detach(), gradients(loss, {logits})[0]};
}

/// Training form. Channels last is a view of what libtorch calls channels first.
Tensors batch_norm(const Tensors &in) {
  const Tensor y = at::batch_norm(in[0].permute({0, 3, 1, 2}), in[1], in[2], {}, {},
                                  /*training=*/true, 0.1, 1e-5, /*cudnn_enabled=*/false);
  return {y.permute({0, 2, 3, 1})};
}

Tensor normal_cdf(const Tensor &x) {
  const Tensor size = x.abs(), t = (1 + 0.2316419 * size).reciprocal();
  const Tensor series =
      t *
      (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  const Tensor tail = 0.3989422804 * at::exp(-0.5 * size * size) * series;
  return at::where(x < 0, tail, 1 - tail);
}

Tensors black_scholes(const Tensors &in) {
  const Tensor &spot = in[0], &strike = in[1], &time = in[2];
  const Tensor spread = 0.2 * at::sqrt(time);
  const Tensor d1 = (at::log(spot / strike) + 0.05 * time) / spread;
  return {spot * normal_cdf(d1) - strike * at::exp(-0.03 * time) * normal_cdf(d1 - spread)};
}

/// libtorch keeps the weights of a layer transposed, and has two biases.
Work lstm_grad(const Tensors &in) {
  const Tensor u = in[1].t().contiguous(), w = in[2].t().contiguous();
  return [u, w](const Tensors &inputs) -> Tensors {
    const Tensors sources = {leaf(u), leaf(w), leaf(inputs[3])};
    const Tensor zero = torch::zeros({1, 32, 256});
    const Tensor all = std::get<0>(at::lstm(
        inputs[0], {zero, zero}, {sources[0], sources[1], sources[2], torch::zeros({1024})},
        /*has_biases=*/true, /*num_layers=*/1, /*dropout=*/0, /*train=*/true,
        /*bidirectional=*/false, /*batch_first=*/false));
    const Tensor loss = (all * all).sum();
    const Tensors slopes = gradients(loss, sources);
    return {loss.detach(), slopes[0].t(), slopes[1].t(), slopes[2]};
  };
}

/// What libtorch makes of images and kernels that have their channels last, as views.
Tensor channels_first(const Tensor &images) { return images.permute({0, 3, 1, 2}); }
Tensor channels_last(const Tensor &images) { return images.permute({0, 2, 3, 1}); }
/// A kernel (window, in, out) as libtorch wants it, in the order in which it is fastest, and back.
Tensor out_in_window(const Tensor &kernel) {
  return kernel.permute({3, 2, 0, 1}).contiguous(at::MemoryFormat::ChannelsLast);
}
Tensor window_in_out(const Tensor &kernel) { return kernel.permute({2, 3, 1, 0}); }

/// A convolution, or its gradients by images and kernel where a cotangent comes last. The kernel is
/// brought into libtorch's order once.
Work convolution(const Tensors &in, long padding, bool depthwise = false) {
  const Tensor kernel = out_in_window(in[1]);
  const long groups = depthwise ? in[0].size(3) : 1;
  const auto run = [=](const Tensor &x, const Tensor &by) {
    return at::conv2d(channels_first(x), by, {}, 1, padding, 1, groups);
  };
  if (in.size() == 2)
    return
        [=](const Tensors &inputs) -> Tensors { return {channels_last(run(inputs[0], kernel))}; };
  return [=](const Tensors &inputs) -> Tensors {
    const Tensors sources = {leaf(inputs[0]), leaf(kernel)};
    const Tensors slopes =
        torch::autograd::grad({run(sources[0], sources[1])}, sources, {channels_first(inputs[2])});
    return {slopes[0], window_in_out(slopes[1])};
  };
}

/// One gradient of the convolution of 1 x 200 x 200 x 100 to 100 channels alone: `kernel` is that
/// in libtorch's order, or of its shape.
Tensor gradient_of_large(const Tensor &x, const Tensor &kernel, const Tensor &cotangent,
                         bool by_kernel) {
  const auto slopes = at::convolution_backward(channels_first(cotangent), channels_first(x), kernel,
                                               c10::nullopt, {1, 1}, {1, 1}, {1, 1}, false, {0, 0},
                                               1, {!by_kernel, by_kernel, false});
  return by_kernel ? window_in_out(std::get<1>(slopes)) : channels_last(std::get<0>(slopes));
}

Tensor max_pool(const Tensor &x) { return at::max_pool2d(channels_first(x), 2); }

/// Ops on windows, which may keep what they prepare from the inputs.
const std::map<std::string, std::function<Work(const Tensors &)>> &window_works() {
  using In = const Tensors &;
  const auto valid = [](In in) { return convolution(in, 0); };
  const auto same = [](In in) { return convolution(in, 1); };
  const auto depthwise = [](In in) { return convolution(in, 1, true); };
  static const std::map<std::string, std::function<Work(In)>> works = {
      {"conv_3x3_100", same},
      {"conv_3x3_100_dx",
       [](In in) -> Work {
         return [kernel = out_in_window(in[0])](In inputs) -> Tensors {
           return {gradient_of_large(inputs[1], kernel, inputs[1], false)};
         };
       }},
      {"conv_3x3_100_dk",
       [](In) -> Work {
         return [kernel = out_in_window(torch::zeros({3, 3, 100, 100}))](In inputs) -> Tensors {
           return {gradient_of_large(inputs[0], kernel, inputs[1], true)};
         };
       }},
      {"conv_first", valid},
      {"conv_first_grad", valid},
      {"conv_32_64", same},
      {"conv_32_64_grad", same},
      {"conv_1x1", valid},
      {"conv_1x1_grad", valid},
      {"conv_depthwise", depthwise},
      {"conv_depthwise_grad", depthwise},
      {"max_pool",
       [](In) -> Work {
         return [](In inputs) -> Tensors { return {channels_last(max_pool(inputs[0]))}; };
       }},
      {"max_pool_grad",
       [](In) -> Work {
         return [](In inputs) -> Tensors {
           const Tensor x = leaf(inputs[0]);
           return torch::autograd::grad({max_pool(x)}, {x}, {channels_first(inputs[1])});
         };
       }},
  };
  return works;
}

/// What needs no tape.
const std::map<std::string, Work> &plain_works() {
  using In = const Tensors &;
  static const std::map<std::string, Work> works = {
      {"erf_4M", [](In x) -> Tensors { return {at::erf(x[0])}; }},
      {"lgamma_4M", [](In x) -> Tensors { return {at::lgamma(x[0])}; }},
      {"tan_4M", [](In x) -> Tensors { return {at::tan(x[0])}; }},
      {"atan2_4M", [](In x) -> Tensors { return {at::atan2(x[0], x[1])}; }},
      {"erfinv_4M", [](In x) -> Tensors { return {at::erfinv(x[0])}; }},
      {"sort_1M", [](In x) -> Tensors { return {std::get<0>(at::sort(x[0]))}; }},
      {"sort_1000x1000_axis0", [](In x) -> Tensors { return {std::get<0>(at::sort(x[0], 0))}; }},
      {"argsort_1M", [](In x) -> Tensors { return {at::argsort(x[0])}; }},
      {"top_k_1M_10",
       [](In x) -> Tensors {
         auto [values, indices] = at::topk(x[0], 10);
         return {values, indices};
       }},
      {"argmax_4M", [](In x) -> Tensors { return {at::argmax(x[0])}; }},
      {"argmax_axis1", [](In x) -> Tensors { return {at::argmax(x[0], 1)}; }},
      {"sum_axis0", [](In x) -> Tensors { return {x[0].sum(0)}; }},
      {"sum_axis1", [](In x) -> Tensors { return {x[0].sum(1)}; }},
      {"sum_transposed", [](In x) -> Tensors { return {x[0].t().sum(0)}; }},
      {"max_axis0", [](In x) -> Tensors { return {x[0].amax(0)}; }},
      {"sum_mid", [](In x) -> Tensors { return {x[0].sum(1)}; }},
      {"cumsum_4M", [](In x) -> Tensors { return {x[0].cumsum(0)}; }},
      {"cumsum_rows", [](In x) -> Tensors { return {x[0].cumsum(1)}; }},
      {"scatter_add_1M",
       [](In x) -> Tensors { return {torch::zeros({64 << 10}).scatter_add_(0, x[1], x[0])}; }},
      {"transpose_2048", [](In x) -> Tensors { return {x[0].t().contiguous()}; }},
      {"add_transposed_2048", [](In x) -> Tensors { return {x[0] + x[1].t()}; }},
      {"add_row_of_4", [](In x) -> Tensors { return {x[0] + x[1]}; }},
      {"add_column_to_4", [](In x) -> Tensors { return {x[0] + x[1]}; }},
      {"matmul_thin_4", [](In x) -> Tensors { return {at::matmul(x[0], x[1])}; }},
      {"exp_every_other", [](In x) -> Tensors { return {at::exp(x[0].slice(0, 0, 4 * kMi, 2))}; }},
      {"flip_axis1", [](In x) -> Tensors { return {x[0].flip({1})}; }},
      {"nhwc_nchw", [](In x) -> Tensors { return {x[0].permute({0, 3, 1, 2}).contiguous()}; }},
      {"gather_rows", [](In x) -> Tensors { return {at::index_select(x[0], 0, x[1])}; }},
      {"take_1M", [](In x) -> Tensors { return {at::index_select(x[0], 0, x[1])}; }},
      {"concat_narrow", [](In x) -> Tensors { return {at::cat({x[0], x[1]}, 1)}; }},
      {"normal_1M", [](In) -> Tensors { return {torch::randn({kMi})}; }},
      {"normal_f64_1M", [](In) -> Tensors { return {torch::randn({kMi}, torch::kFloat64)}; }},
      {"gamma_1M",
       [](In) -> Tensors { return {torch::_standard_gamma(torch::full({kMi}, 2.5F))}; }},
      {"gamma_f64_1M",
       [](In) -> Tensors {
         return {torch::_standard_gamma(torch::full({kMi}, 2.5, torch::kFloat64))};
       }},
      {"categorical_1M",
       [](In) -> Tensors {
         const auto logits = torch::arange(8, torch::kFloat32).div(4).expand({kMi / 8, 8});
         return {torch::multinomial(torch::softmax(logits, -1), 1, true).squeeze(-1)};
       }},
      {"uniform_1M", [](In) -> Tensors { return {torch::rand({kMi})}; }},
      {"permutation_1M", [](In) -> Tensors { return {torch::randperm(kMi)}; }},
      {"power_2_64K", [](In x) -> Tensors { return {at::pow(x[0], 2.0)}; }},
      {"power_3_64K", [](In x) -> Tensors { return {at::pow(x[0], 3.0)}; }},
      {"black_scholes_1M", black_scholes},
      {"layer_norm_4096x768", [](In x) -> Tensors { return {layer_norm(x[0], x[1], x[2])}; }},
      {"batch_norm", batch_norm},
      {"softmax_1024x1000", [](In x) -> Tensors { return {at::softmax(x[0], -1)}; }},
  };
  return works;
}

/// What takes gradients.
const std::map<std::string, Work> &taped_works() {
  static const std::map<std::string, Work> works = {
      {"gelu_grad_4M",
       [](const Tensors &in) -> Tensors {
         const Tensor x = leaf(in[0]);
         return gradients(at::gelu(x, "tanh").sum(), {x});
       }},
      {"layer_norm_grad_4096x768", layer_norm_grad},
      {"cross_entropy_grad", cross_entropy_grad},
  };
  return works;
}

//===----------------------------------------------------------------------===//
// The server
//===----------------------------------------------------------------------===//

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// As Weft's seconds_per_call (benchmarks/Harness.h).
double seconds_per_call(const std::function<void()> &body, double budget = 0.1) {
  for (long count = 1;;) {
    const double start = seconds();
    for (long i = 0; i < count; ++i) body();
    const double spent = seconds() - start;
    if (spent >= budget) return spent / static_cast<double>(count);
    count *= spent < budget / 16 ? 8 : 2;
  }
}

void answer(double value, const char *unit) {
  std::printf("{\"value\": %.9g, \"unit\": \"%s\", \"with\": \"libtorch %s\"}\n", value, unit,
              TORCH_VERSION);
  std::fflush(stdout);
}

/// What Weft compares of a result, as JSON.
std::string digest(const Tensor &result) {
  constexpr long kSamples = 16;
  const Tensor flat = result.to(torch::kFloat64).contiguous().view({-1});
  std::string shape, samples;
  for (const long n : result.sizes()) shape += (shape.empty() ? "" : ", ") + std::to_string(n);
  char number[64];
  for (long i = 0; i < kSamples && flat.numel() > 0; ++i) {
    std::snprintf(number, sizeof number, "%s%.17g", samples.empty() ? "" : ", ",
                  flat[i * (flat.numel() - 1) / (kSamples - 1)].item<double>());
    samples += number;
  }
  char sums[128];
  std::snprintf(sums, sizeof sums, R"("sum": %.17g, "magnitude": %.17g)", flat.sum().item<double>(),
                flat.abs().sum().item<double>());
  return R"({"shape": [)" + shape + "], " + sums + R"(, "samples": [)" + samples + "]}";
}

void check(const Tensors &results) {
  std::string text;
  for (const Tensor &result : results) text += (text.empty() ? "" : ", ") + digest(result);
  std::printf("{\"results\": [%s]}\n", text.c_str());
  std::fflush(stdout);
}

/// `fresh` makes a work with state anew, whose third results count.
void serve(const Work &work, const Tensors &inputs,
           const std::function<Work(const Tensors &)> &fresh = nullptr, const char *unit = "us") {
  const auto call = [&] {
    const Tensors results = work(inputs);
    asm volatile("" : : "r"(results.data()) : "memory");
  };
  seconds_per_call(call); // Wakes the threads.
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "check" && fresh) {
      const Work again = fresh(inputs);
      for (int i = 0; i < 2; ++i) again(inputs);
      check(again(inputs));
    } else if (line == "check") check(work(inputs));
    else answer((std::string(unit) == "ms" ? 1e3 : 1e6) * seconds_per_call(call), unit);
  }
}

//===----------------------------------------------------------------------===//
// The memory of a training step
//===----------------------------------------------------------------------===//

/// Counts what tensors hold, and lets another allocator do the work.
class CountingAllocator final : public c10::Allocator {
public:
  explicit CountingAllocator(c10::Allocator *real) : real_(real) {}

  c10::DataPtr allocate(std::size_t bytes) override {
    auto *block = new Block{real_->allocate(bytes), bytes};
    held += bytes;
    peak = std::max(peak, held);
    return {block->memory.get(), block, &free_block, at::Device(at::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void *to, const void *from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

  // One thread makes and drops all tensors of a step.
  static inline std::size_t held = 0, peak = 0;

private:
  struct Block {
    c10::DataPtr memory;
    std::size_t bytes;
  };
  static void free_block(void *context) {
    auto *block = static_cast<Block *>(context);
    held -= block->bytes;
    delete block;
  }

  c10::Allocator *real_;
};

struct Classifier : torch::nn::Module {
  torch::nn::Linear hidden{nullptr}, out{nullptr};
  Classifier() {
    hidden = register_module("hidden", torch::nn::Linear(1024, 1024));
    out = register_module("out", torch::nn::Linear(1024, 10));
  }
};

/// MiB at the peak of a training step of the classifier 1024-1024-10, batch 64.
double peak_of_step() {
  const std::size_t before = CountingAllocator::held;
  Classifier model;
  torch::optim::Adam optimizer(model.parameters(), torch::optim::AdamOptions(1e-3));
  const Tensor x = torch::rand({64, 1024}), labels = torch::randint(0, 10, {64}, torch::kInt64);
  const auto step = [&] {
    optimizer.zero_grad();
    const Tensor logits = model.out->forward(torch::relu(model.hidden->forward(x)));
    torch::nn::functional::cross_entropy(logits, labels).backward();
    optimizer.step();
  };
  step(); // Allocates Adam's state.
  CountingAllocator::peak = CountingAllocator::held;
  step();
  return static_cast<double>(CountingAllocator::peak - before) / (1 << 20);
}

void serve_peak() {
  static CountingAllocator counting(c10::GetCPUAllocator());
  c10::SetCPUAllocator(&counting, /*priority=*/255);
  torch::set_num_threads(1);
  for (std::string line; std::getline(std::cin, line);) answer(peak_of_step(), "MiB");
}

} // namespace

int main(int argc, char **argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  if (const char *threads = std::getenv("OMP_NUM_THREADS")) at::set_num_threads(std::atoi(threads));
  if (name == "eager_mlp_peak") {
    serve_peak();
    return 0;
  }
  Tensors inputs;
  for (int i = 2; i < argc; ++i) inputs.push_back(made_input(argv[i], i - 2));
  if (const auto plain = plain_works().find(name); plain != plain_works().end()) {
    const c10::InferenceMode inference;
    serve(plain->second, inputs);
  } else if (const auto taped = taped_works().find(name); taped != taped_works().end()) {
    serve(taped->second, inputs);
  } else if (const auto windows = window_works().find(name); windows != window_works().end()) {
    // The tape notes nothing of inputs that are no leaves.
    serve(windows->second(inputs), inputs);
  } else if (const auto network = networks::works().find(name);
             network != networks::works().end()) {
    serve(network->second(inputs), inputs, network->second,
          name == "adam_update_1000x10k" ? "ms" : "us");
  } else if (name == "lstm_grad_64x32x256") {
    serve(lstm_grad(inputs), inputs);
  } else {
    std::fprintf(stderr, "torch_shapes: there is no work '%s'\n", name.c_str());
    return 1;
  }
}
