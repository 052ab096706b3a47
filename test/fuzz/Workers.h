// Work in processes of its own, which may crash, hang or use up memory without harm.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace weft::fuzz {

struct Limits {
  double seconds = 60;                      ///< for one piece of work
  std::size_t bytes = std::size_t{6} << 30; ///< of address space
};

/// What this process is at, for the words about its end.
void note_stage(const std::string &stage);

/// Does `work(i)` for i from 0 to `count` in `jobs` processes at a time, which do many pieces each.
/// In this process `done(i, text, fault)` takes what each gave, or says how the process ended:
/// "signal 11 (Segmentation fault) in pass"; no further work is begun once it returns false. This
/// process must not have threads.
void run_apart(std::size_t count, int jobs, const Limits &limits,
               const std::function<std::string(std::size_t)> &work,
               const std::function<bool(std::size_t, std::string, std::string)> &done);

} // namespace weft::fuzz
