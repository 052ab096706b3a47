// eager_add8: one small eager op, its nanoseconds and its instructions.
#include "Benchmarks.h"
#include "PeerProcess.h"

#include <weft/ops.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <unistd.h>

namespace weft::bench {

namespace {

/// The instructions callgrind counts while weft-bench-eager does `adds` adds.
double counted_instructions(const Session &session, const std::string &valgrind, int adds) {
  const std::filesystem::path out =
      std::filesystem::temp_directory_path() / ("weft-bench-callgrind." + std::to_string(getpid()));
  time_process({valgrind, "--tool=callgrind", "--quiet", "--collect-atstart=no",
                "--toggle-collect=weft_bench_adds", "--callgrind-out-file=" + out.string(),
                session.programs + "/../callgrind/bin/weft-bench-eager", std::to_string(adds)});
  std::ifstream file(out);
  double count = -1;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("summary:") || line.starts_with("totals:"))
      count = std::strtod(line.c_str() + line.find(':') + 1, nullptr);
  std::filesystem::remove(out);
  if (count < 0)
    throw std::runtime_error("callgrind counted nothing: it left no totals in " + out.string());
  return count;
}

} // namespace

Row eager_add8(const std::string &name, const Session &session) {
  const Tensor a = arange(8, DType::f32), b = ones({8});
  std::vector<Contender> contenders = {{"weft", [&] {
                                          return 1e9 * seconds_per_call([&](std::int64_t count) {
                                                   for (std::int64_t i = 0; i < count; ++i)
                                                     keep(add(a, b));
                                                 });
                                        }}};
  if (auto peer = session.libtorch("add8", 1)) contenders.push_back(*peer);
  Row row = compare(name, "ns", contenders, session.repeats);

  const std::string valgrind = "/usr/bin/valgrind";
  if (!std::filesystem::exists(valgrind)) {
    row.note = "instructions are not counted: valgrind is not installed";
    return row;
  }
  constexpr int kFew = 1000, kMany = 3000;
  row.fields["instructions"] = (counted_instructions(session, valgrind, kMany) -
                                counted_instructions(session, valgrind, kFew)) /
                               (kMany - kFew);
  return row;
}

} // namespace weft::bench
