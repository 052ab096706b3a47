// weft-bench-first-call: how long the first call of the classifier's training step takes in a fresh
// process.
//
// A line server (docs/benchmarks.md) for one line: {"value": ms, "unit": "ms", "phases": {"trace":
// ms, ...}}.
#include "Harness.h"
#include "Mlp.h"

#include <iostream>
#include <string>

int main() {
  weft::bench::Trainer trainer;
  const auto step =
      weft::function([&](weft::Tensor x, weft::Tensor labels) { return trainer.step(x, labels); });

  const double start = weft::bench::now();
  const weft::Tensor loss = step(trainer.x(), trainer.labels());
  const double milliseconds = 1e3 * (weft::bench::now() - start);

  const weft::CompileReport report = step.report(trainer.x(), trainer.labels());
  nlohmann::ordered_json phases = {{"trace", report.trace_ms}};
  for (const weft::CompileReport::PhaseTime &phase : report.phases)
    phases[phase.phase] = phase.milliseconds;
  // What is left is loading libweft-compiler, and one step, which takes microseconds.
  phases["load"] = milliseconds - report.total_ms;

  std::string line;
  std::getline(std::cin, line);
  std::cout << nlohmann::ordered_json{{"value", milliseconds}, {"unit", "ms"}, {"phases", phases}}
            << std::endl;
}
