// The rows about derivatives in IR: what checkpoint budgets cost and save, and the pass itself.
#include "Benchmarks.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

#include <weft/weft.h>

#include <unistd.h>

namespace weft::bench {

namespace {

constexpr int turn_count = 1000;
constexpr float step = 1e-3f;

/// The gradient, by the weight, of 1,000 steps of a recurrence on 64 x 256 floats. Steps are small,
/// so that neither values nor cotangents vanish.
auto recurrence(const std::string &checkpoint) {
  return function(
      [](const Tensor &x, const Tensor &weight, const Tensor &turns) {
        return grad([&](const Tensor &w) {
          const auto [i, h] =
              while_loop([&](const Tensor &n, const Tensor &) { return n < turns; },
                         [&](const Tensor &n, const Tensor &state) {
                           return std::tuple(n + 1, state + tanh(matmul(state, w)) * step);
                         },
                         0, x);
          return sum(h * h);
        })(weight);
      },
      {.name = "recurrence_" + checkpoint, .checkpoint = checkpoint});
}

double mebibytes(std::size_t bytes) { return static_cast<double>(bytes) / (1024 * 1024); }

} // namespace

Row while_checkpoint_sqrt(const std::string &name, const Session &session) {
  const Tensor x = full({64, 256}, 0.1f), weight = full({256, 256}, 0.003f),
               turns = tensor(turn_count);
  const auto all = recurrence("none"), few = recurrence("sqrt");
  const auto peak = [&](const auto &f) {
    keep(f(x, weight, turns)); // compiled
    reset_peak();
    const std::size_t before = memory_stats().current;
    keep(f(x, weight, turns));
    return memory_stats().peak - before;
  };
  const std::size_t peak_of_all = peak(all), peak_of_few = peak(few);
  const auto calls = [&](const auto &f) {
    return [&] {
      return 1e3 * seconds_per_call([&](std::int64_t count) {
               for (std::int64_t i = 0; i < count; ++i) keep(f(x, weight, turns));
             });
    };
  };
  Row row = compare(name, "ms", {{"weft, sqrt", calls(few)}, {"weft, none", calls(all)}},
                    std::min(session.repeats, 5));
  row.fields["peak_mib"] = mebibytes(peak_of_few);
  row.fields["peak_mib_of_none"] = mebibytes(peak_of_all);
  row.fields["peak_ratio"] = static_cast<double>(peak_of_few) / static_cast<double>(peak_of_all);
  return row;
}

namespace {

/// A file that is gone with its object.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string &text)
      : path(std::filesystem::temp_directory_path() /
             ("weft-bench-" + std::to_string(getpid()) + ".mlir")) {
    std::ofstream(path) << text;
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  const std::filesystem::path path;
};

/// The gradient of a line of `ops` ops, each on the one before, products and sums in turn.
std::string straight_line(int ops) {
  std::string text = "func.func private @f(%x: tensor<8xf32>) -> tensor<f32> {\n", last = "%x";
  for (int i = 0; i < ops; ++i) {
    const std::string next = "%v" + std::to_string(i);
    text.append("  " + next)
        .append(i % 2 == 0 ? " = weft.multiply " : " = weft.add ")
        .append(last)
        .append(", %x : tensor<8xf32>\n");
    last = next;
  }
  return text + "  %s = weft.sum " + last +
         " {axes = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>\n"
         "  return %s : tensor<f32>\n}\n"
         "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
         "  %g:2 = weft.gradient @f(%x) wrt [0] : (tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>)\n"
         "  return %g#1 : tensor<8xf32>\n}\n";
}

/// What `-mlir-timing` says that a pass took, in seconds.
double time_of_pass(const std::string &command, const std::string &pass) {
  const std::unique_ptr<FILE, int (*)(FILE *)> output(popen((command + " 2>&1").c_str(), "r"),
                                                      pclose);
  if (!output) throw std::runtime_error("cannot start " + command);
  std::array<char, 512> line{};
  std::string text;
  while (std::fgets(line.data(), line.size(), output.get()) != nullptr) {
    text = line.data();
    if (text.find(pass) != std::string::npos) return std::atof(text.c_str());
  }
  throw std::runtime_error(command + " names no time of " + pass + ", but ends with: " + text);
}

} // namespace

Row differentiate_10k_ops(const std::string &name, const Session &session) {
  const TemporaryFile file(straight_line(10'000));
  const std::string command = "'" + session.program("weft-opt") + "' '" + file.path.string() +
                              "' -weft-differentiate -mlir-timing -o /dev/null";
  return compare(name, "s", {{"weft", [&] { return time_of_pass(command, "DifferentiatePass"); }}},
                 std::min(session.repeats, 5));
}

} // namespace weft::bench
