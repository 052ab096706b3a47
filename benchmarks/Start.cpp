// start_*: whole processes, from their start to their exit.
#include "Benchmarks.h"
#include "PeerProcess.h"

#include <filesystem>

namespace weft::bench {

namespace {

Contender process(const std::string &name, std::vector<std::string> command) {
  return {name, [command = std::move(command)] {
            // One start varies by milliseconds: a repeat is the median of several.
            std::vector<double> times;
            for (int i = 0; i < 5; ++i) times.push_back(1e3 * time_process(command));
            return median(times);
          }};
}

} // namespace

Row start_weft_opt(const std::string &name, const Session &session) {
  std::vector<Contender> contenders = {
      process("weft-opt", {session.program("weft-opt"), session.sources + "/one_op.mlir"})};
  const std::string upstream = "/usr/lib/llvm-22/bin/mlir-opt";
  if (std::filesystem::exists(upstream))
    contenders.push_back(
        process("mlir-opt", {upstream, session.sources + "/one_op_upstream.mlir"}));
  return compare(name, "ms", contenders, session.repeats);
}

Row start_eager_program(const std::string &name, const Session &session) {
  std::vector<Contender> contenders = {
      process("weft-bench-eager", {session.program("weft-bench-eager")})};
  const std::string libtorch = session.peers + "/torch_eager";
  if (std::filesystem::exists(libtorch))
    contenders.push_back(process("libtorch", {libtorch, "start"}));
  return compare(name, "ms", contenders, session.repeats);
}

} // namespace weft::bench
