// libtorch's side of the eager rows: one add of 8 floats, what recording it adds, and one training
// step of the small classifier.
//
// A line server (docs/benchmarks.md): each line on stdin asks for one repeat, answered by one JSON
// line.
//
//   torch_eager add8 | tape8 | mlp | start

#include <torch/torch.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>

namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Runs `body` until about `budget` seconds have passed and returns the seconds of one call. The
/// clock is read once per batch, so it costs nothing beside even the shortest body.
double seconds_per_call(const std::function<void(long)> &body, double budget = 0.2) {
  long batch = 1;
  for (;;) {
    double start = seconds();
    body(batch);
    double spent = seconds() - start;
    if (spent >= budget) return spent / static_cast<double>(batch);
    batch = spent < budget / 16 ? batch * 8 : batch * 2;
  }
}

void answer(double value, const char *unit) {
  std::printf("{\"value\": %.9g, \"unit\": \"%s\", \"with\": \"libtorch %s\"}\n", value, unit,
              TORCH_VERSION);
  std::fflush(stdout);
}

void serve(const std::function<double()> &repeat, const char *unit) {
  for (std::string line; std::getline(std::cin, line);) answer(repeat(), unit);
}

/// Eager `a + b` on 8 floats without a tape: the fastest mode libtorch offers.
void serve_add8() {
  c10::InferenceMode inference;
  torch::Tensor a = torch::arange(8, torch::kFloat32), b = torch::ones({8});
  serve(
      [&] {
        return 1e9 * seconds_per_call([&](long count) {
                 for (long i = 0; i < count; ++i) {
                   torch::Tensor c = at::add(a, b);
                   asm volatile("" : : "r"(c.unsafeGetTensorImpl()) : "memory");
                 }
               });
      },
      "ns");
}

/// The same add where autograd records it, minus one where it does not.
void serve_tape8() {
  torch::Tensor a = torch::arange(8, torch::kFloat32), b = torch::ones({8});
  torch::Tensor watched = a.clone().requires_grad_(true);
  const auto adds = [&](const torch::Tensor &x, long count) {
    for (long i = 0; i < count; ++i) {
      torch::Tensor c = at::add(x, b);
      asm volatile("" : : "r"(c.unsafeGetTensorImpl()) : "memory");
    }
  };
  serve(
      [&] {
        const double taped = seconds_per_call([&](long count) { adds(watched, count); });
        c10::InferenceMode inference;
        return 1e9 * (taped - seconds_per_call([&](long count) { adds(a, count); }));
      },
      "ns");
}

/// The two-layer classifier every peer trains: 64-128-10, ReLU.
struct Classifier : torch::nn::Module {
  torch::nn::Linear hidden{nullptr}, out{nullptr};
  Classifier() {
    hidden = register_module("hidden", torch::nn::Linear(64, 128));
    out = register_module("out", torch::nn::Linear(128, 10));
  }
  torch::Tensor forward(const torch::Tensor &x) {
    return out->forward(torch::relu(hidden->forward(x)));
  }
};

/// Forward, softmax cross entropy, backward and Adam, batch 64.
void serve_mlp() {
  torch::manual_seed(1);
  Classifier model;
  torch::optim::Adam optimizer(model.parameters(), torch::optim::AdamOptions(1e-3));
  torch::Tensor x = torch::rand({64, 64});
  torch::Tensor labels = torch::randint(0, 10, {64}, torch::kInt64);
  auto steps = [&](long count) {
    for (long i = 0; i < count; ++i) {
      optimizer.zero_grad();
      torch::Tensor loss = torch::nn::functional::cross_entropy(model.forward(x), labels);
      loss.backward();
      optimizer.step();
    }
  };
  steps(100); // Allocates Adam's state and warms the threads.
  serve([&] { return 1e6 * seconds_per_call(steps); }, "us");
}

/// What `start_eager_program` does: one add, its result printed, and out.
void add_and_exit() {
  torch::Tensor a = torch::arange(8, torch::kFloat32);
  std::printf("%g\n", at::add(a, a).sum().item<float>());
}

} // namespace

int main(int argc, char **argv) {
  std::string what = argc > 1 ? argv[1] : "";
  if (const char *threads = std::getenv("OMP_NUM_THREADS")) at::set_num_threads(std::atoi(threads));
  if (what == "add8") serve_add8();
  else if (what == "tape8") serve_tape8();
  else if (what == "mlp") serve_mlp();
  else if (what == "start") add_and_exit();
  else {
    std::fprintf(stderr, "usage: torch_eager add8|tape8|mlp|start\n");
    return 1;
  }
}
