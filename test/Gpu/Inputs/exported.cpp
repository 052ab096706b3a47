// Exports a function with code for GPUs and without, and runs both on gpu:0.
#include <weft/weft.h>

#include <cstring>
#include <iostream>

using namespace weft;

static void show(const char *what, const std::string &file, const LoadOptions &options,
                 const Tensor &x) try {
  const LoadedProgram program = load_program(file, options);
  static_cast<void>(program(x));
  const std::vector<Tensor> results = program(x);
  std::cout << what << ": " << results[0] << ", call " << results[1].item<std::int64_t>() << " on "
            << results[1].device() << std::endl;
} catch (const Error &error) {
  std::cout << what << ": " << error.what() << std::endl;
}

int main(int argc, char **argv) {
  const Tensor x = tensor({{1.f, 2.f, 3.f}});
  if (argc > 1) {
    show("file", "gpu.weft", {.device = argv[1]}, x);
    return 0;
  }
  const Variable w(tensor({{1.f, 0.f}, {0.f, 1.f}, {1.f, 1.f}}), "w"),
      count(tensor(std::int64_t{0}), "count");
  const Tensor table = tensor({0.5f, 0.25f});
  const auto f = function(
      [&](const Tensor &input) {
        count.assign_add(std::int64_t{1});
        check(all(input < 100), "small");
        return std::pair(matmul(input, w) + table, count.value());
      },
      {.name = "f", .signature = {spec(f32, {unknown, 3})}});
  export_program(f, "plain.weft");
  export_program(f, "gpu.weft", {.chips = {"sm_80", "sm_90a"}});
  const auto g = function(
      [&](const Tensor &input) {
        return std::pair(matmul(input, w) + table, sum(cast(input, i64)));
      },
      {.name = "g", .signature = {spec(f32, {unknown, 3})}});
  export_program(g, "frozen.weft", {.freeze = true});

  show("host", "gpu.weft", {}, x);
  show("with kernels", "gpu.weft", {.device = "gpu:0"}, x);
  show("compiled again", "plain.weft", {.device = "gpu:0"}, x);
  show("where its arguments are", "frozen.weft", {}, x.to("gpu:0"));
  show("variables elsewhere", "gpu.weft", {}, x.to("gpu:0"));
  show("a check", "gpu.weft", {.device = "gpu:0"}, x * 100);
  show("no such GPU", "gpu.weft", {.device = "gpu:3"}, x);
  try {
    export_program(f, "none.weft", {.chips = {"hopper"}});
  } catch (const ValueError &error) {
    std::cout << error.what() << std::endl;
  }
  try {
    export_program(f, "none.weft", {.chips = {"sm_7"}});
  } catch (const CompileError &error) {
    std::cout << error.what() << std::endl;
  }
  const LoadedProgram loaded = load_program("gpu.weft");
  for (const auto &entry : loaded.entries())
    for (const std::string &chip : entry.chips) std::cout << "chip " << chip << std::endl;
  return 0;
}
