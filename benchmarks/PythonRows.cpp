// The rows py_*: the Python package, measured in processes of its own.
#include "Benchmarks.h"

#include "PeerProcess.h"

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
    {"add8", "ns", "numpy"},      {"dlpack", "ns", "numpy"},      {"call_2", "ns", "jax"},
    {"call_dict64", "ns", "jax"}, {"trace_20k", "s", "jax"},      {"sum_even", "us", "tensorflow"},
    {"lstm_eager", "us", ""},     {"lstm_compiled", "us", "jax"},
};

} // namespace

Row python_row(const std::string &name, const Session &session) {
  const std::string row = name.substr(3); // behind "py_"
  for (const Against &against : kRows) {
    if (row != against.row) continue;
    std::vector<Contender> contenders = {measured(session, weft_command(session), "weft", row)};
    const std::string library = against.library;
    if (library == "numpy")
      contenders.push_back(measured(session, weft_command(session), library, row));
    const std::string python =
        session.peers + (library == "tensorflow" ? "/tensorflow/bin/python" : "/bin/python");
    const std::string stamp =
        session.peers + (library == "tensorflow" ? "/tensorflow.stamp" : "/python.stamp");
    if ((library == "jax" || library == "tensorflow") && std::filesystem::exists(stamp))
      contenders.push_back(measured(session, {python}, library, row));
    return compare(name, against.unit, contenders, session.repeats);
  }
  throw std::runtime_error("there is no row " + name);
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
