// The rows py_*: the Python package, measured in processes of its own.
#include "Benchmarks.h"

#include "PeerProcess.h"

#include <weft/weft.h>

#include <filesystem>
#include <stdexcept>

namespace weft::bench {

namespace {

/// The interpreter of build/venv that finds the package, and the script.
std::vector<std::string> weft_command(const Session &session) {
  const std::filesystem::path build = std::filesystem::path(session.programs).parent_path();
  const std::string python = (build.parent_path() / "venv/bin/python").string();
  if (!std::filesystem::exists(build / "python/weft/_weft.pyi") || !std::filesystem::exists(python))
    throw std::runtime_error("the Python package is not built: ./x build says why");
  return {"/usr/bin/env", "PYTHONPATH=" + (build / "python").string(), python};
}

std::vector<std::string> with(std::vector<std::string> command,
                              const std::vector<std::string> &more) {
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

/// The script's measurement by a library that runs in that environment.
Contender measured(const Session &session, std::vector<std::string> command,
                   const std::string &library, const std::string &row) {
  return line_server(library,
                     with(std::move(command), {session.sources + "/python/rows.py", library, row}),
                     session.threads);
}

/// Who is measured beside Weft; NumPy is in Weft's own environment.
struct Against {
  const char *row, *unit, *library;
};
constexpr Against kRows[] = {
    {"add8", "ns", "numpy"},          {"dlpack", "ns", "numpy"},     {"tape_add8", "ns", "torch"},
    {"call_2", "ns", "jax"},          {"call_dict64", "ns", "jax"},  {"trace_20k", "s", "jax"},
    {"sum_even", "us", "tensorflow"}, {"lstm_eager", "us", "torch"}, {"lstm_compiled", "us", "jax"},
};

/// The interpreter that has the library, or nothing where it is not installed.
std::vector<std::string> interpreter(const Session &session, const std::string &library) {
  if (library == "numpy") return weft_command(session);
  const bool own = library == "tensorflow" || library == "torch";
  const std::string python = session.peers + (own ? "/" + library : "") + "/bin/python";
  // What ./x bench --peers installs leaves a stamp at its end; PyTorch is installed by hand.
  const std::string proof =
      library == "jax" ? session.peers + "/python.stamp"
                       : (library == "torch" ? python : session.peers + "/tensorflow.stamp");
  return std::filesystem::exists(proof) ? std::vector<std::string>{python}
                                        : std::vector<std::string>{};
}

/// The step that python/rows.py trains, in C++.
Contender step_in_cpp(bool compiled) {
  const nn::Sequential model{nn::Conv2D(16, 3, {.activation = relu}),
                             nn::Conv2D(16, 3, {.activation = relu}), nn::GlobalAveragePooling2D(),
                             nn::Dense(10)};
  const Tensor x = random::uniform({32, 28, 28, 1}, {.seed = 1}), y = zeros({32}, i32);
  model(x);
  const optimizers::Adam adam(model);
  const auto step = [model, adam](const Tensor &x, const Tensor &y) {
    GradientTape tape;
    const Tensor loss = losses::softmax_cross_entropy(y, model(x));
    adam.apply_gradients(tape.gradient(loss, model));
    return loss;
  };
  const auto times = [=](const auto &f) {
    return timed("C++", 1e6, [=](std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) keep(f(x, y));
    });
  };
  return compiled ? times(function(step)) : times(step);
}

} // namespace

Row python_row(const std::string &name, const Session &session) {
  const std::string row = name.substr(3); // behind "py_"
  for (const Against &against : kRows) {
    if (row != against.row) continue;
    std::vector<Contender> contenders = {measured(session, weft_command(session), "weft", row)};
    const std::vector<std::string> python = interpreter(session, against.library);
    if (!python.empty()) contenders.push_back(measured(session, python, against.library, row));
    return compare(name, against.unit, contenders, session.repeats);
  }
  throw std::runtime_error("there is no row " + name);
}

Row python_step(const std::string &name, const Session &session) {
  const std::string row = name.substr(3);
  return compare(
      name, "us",
      {measured(session, weft_command(session), "weft", row), step_in_cpp(row == "step_compiled")},
      session.repeats);
}

Row python_import(const std::string &name, const Session &session) {
  const auto process = [](std::vector<std::string> command) {
    return [command = std::move(command)] { return 1e3 * time_process(command); };
  };
  std::vector<Contender> contenders = {
      {"weft", process(with(weft_command(session), {"-c", "import weft"}))}};
  if (std::filesystem::exists(session.peers + "/python.stamp"))
    contenders.push_back({"JAX", process({session.peers + "/bin/python", "-c", "import jax"})});
  Row row = compare(name, "ms", contenders, session.repeats);
  row.note = "whole processes, the interpreter's start included";
  return row;
}

} // namespace weft::bench
