// compile_mlp_step_warm: the first call of the traced training step in a fresh process when the
// code cache has it, beside the same without the cache.
#include "Benchmarks.h"
#include "PeerProcess.h"

#include <cstdlib>
#include <filesystem>
#include <map>

namespace weft::bench {

namespace {

/// Sets an environment variable of the programs that are started for as long as it lives.
class Environment {
public:
  Environment(const char *name, const std::string &value) : name_(name) {
    if (const char *before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Environment() {
    if (before_) setenv(name_, before_->c_str(), 1);
    else unsetenv(name_);
  }
  Environment(const Environment &) = delete;

private:
  const char *name_;
  std::optional<std::string> before_;
};

} // namespace

Row compile_mlp_step_warm(const std::string &name, const Session &session) {
  std::string folder = (std::filesystem::temp_directory_path() / "weft-bench-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr)
    throw std::runtime_error(folder + ": no folder for a cache can be made");
  const Environment place("WEFT_CACHE_DIR", folder);
  std::map<std::string, std::vector<double>> times;
  auto first_call = [&](const char *cache) {
    const Environment use("WEFT_CACHE", cache);
    PeerProcess process({session.program("weft-bench-first-call")}, session.threads);
    const double milliseconds = process.repeat();
    const auto answer = nlohmann::ordered_json::parse(process.answer());
    if (std::string(cache) == "on")
      for (const auto &[phase, time] : answer.at("phases").items())
        times[phase].push_back(time.get<double>());
    return milliseconds;
  };
  static_cast<void>(first_call("on")); // fills the cache
  times.clear();
  Row row = compare(name, "ms",
                    {{"weft, cached", [&] { return first_call("on"); }},
                     {"weft, compiled", [&] { return first_call("off"); }}},
                    session.repeats);
  for (const auto &[phase, values] : times) row.fields["phases"][phase] = median(values);
  std::filesystem::remove_all(folder);
  return row;
}

} // namespace weft::bench
