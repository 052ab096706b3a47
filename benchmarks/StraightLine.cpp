// weft-bench-straight-line: how long the first call of a traced function of many small ops takes in
// a fresh process.
//
// A line server (docs/benchmarks.md) for one line: {"value": s, "unit": "s", "phases": {"trace":
// ms,
// ...}}. Its argument is the number of ops, by default 20,000.
#include "Harness.h"

#include <weft/weft.h>

#include <cstdlib>
#include <iostream>
#include <string>

namespace {

/// `ops` ops in a row, each on the one before: products and sums in turn, on 8 numbers.
weft::Tensor straight_line(const weft::Tensor &x, int ops) {
  weft::Tensor y = x;
  for (int i = 0; i < ops; ++i) y = i % 2 == 0 ? y * x : y + x;
  return y;
}

} // namespace

int main(int argc, char **argv) {
  const int ops = argc > 1 ? std::atoi(argv[1]) : 20000;
  const auto function = weft::function([ops](weft::Tensor x) { return straight_line(x, ops); });
  const weft::Tensor x = weft::full({8}, 0.5f);

  const double start = weft::bench::now();
  const weft::Tensor y = function(x);
  const double seconds = weft::bench::now() - start;

  const weft::CompileReport report = function.report(x);
  nlohmann::ordered_json phases = {{"trace", report.trace_ms}};
  for (const weft::CompileReport::PhaseTime &phase : report.phases)
    phases[phase.phase] = phase.milliseconds;

  std::string line;
  std::getline(std::cin, line);
  std::cout << nlohmann::ordered_json{{"value", seconds}, {"unit", "s"}, {"phases", phases}}
            << std::endl;
}
