// Runs drawn calls apart, makes the arguments of those that fail plainer, and writes them down.
#include "Command.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "CheckCall.h"

namespace weft::fuzz {

namespace {

std::string packed(const CallVerdict &verdict) {
  return nlohmann::json{{"fault", verdict.fault},
                        {"call", verdict.call},
                        {"detail", verdict.detail},
                        {"arguments", verdict.arguments},
                        {"refused", verdict.refused}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

CallVerdict unpacked(const std::string &text, const std::string &fault) {
  CallVerdict verdict;
  if (!fault.empty()) {
    verdict.fault = fault;
    return verdict;
  }
  const auto json = nlohmann::json::parse(text);
  verdict.fault = json["fault"];
  verdict.call = json["call"];
  verdict.detail = json["detail"];
  verdict.arguments = json["arguments"];
  verdict.refused = json["refused"];
  return verdict;
}

class Calls {
public:
  explicit Calls(const CallOptions &options) : options_(options) {
    // CUDA reserves more address space than any limit, and does not start under one.
    if (!options.device.empty() && std::getenv("WEFT_CUDA_DRIVER") == nullptr)
      options_.limits.bytes = std::numeric_limits<std::size_t>::max();
  }

  int run() {
    const auto start = std::chrono::steady_clock::now();
    static_cast<void>(call_name(options_.seed, options_.only)); // throws if there is none
    run_apart(
        options_.count, options_.jobs, options_.limits,
        [&](std::size_t i) { return packed(checked(options_.seed + i, {})); },
        [&](std::size_t i, const std::string &text, const std::string &fault) {
          take(options_.seed + i, unpacked(text, fault));
          return true;
        });
    for (const auto &[fault, seeds] : failed_) write(fault, seeds.front());
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("\n%llu calls in %.0f s; %zu were wrong, and every way said so\n",
                static_cast<unsigned long long>(options_.count), seconds, refused_);
    for (const auto &[fault, seeds] : failed_)
      std::printf("  %6zu failed: %s\n", seeds.size(), fault.c_str());
    std::printf("%zu passed, %llu failed\n", passed_,
                static_cast<unsigned long long>(options_.count - passed_));
    return failed_.empty() ? 0 : 1;
  }

private:
  CallVerdict checked(std::uint64_t seed, const std::set<int> &plain) const {
    return check_call(seed, options_.only, plain, options_.device);
  }

  void take(std::uint64_t seed, const CallVerdict &verdict) {
    if (verdict.fault.empty()) {
      ++passed_;
      refused_ += verdict.refused ? 1 : 0;
    } else {
      if (failed_[verdict.fault].empty())
        std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed),
                    verdict.fault.c_str());
      std::fflush(stdout);
      failed_[verdict.fault].push_back(seed);
    }
    if ((++ended_) % 1000 == 0) std::printf("%zu calls\n", ended_);
    std::fflush(stdout);
  }

  CallVerdict check(std::uint64_t seed, const std::set<int> &plain) const {
    CallVerdict verdict;
    run_apart(
        1, 1, options_.limits, [&](std::size_t) { return packed(checked(seed, plain)); },
        [&](std::size_t, const std::string &text, const std::string &fault) {
          verdict = unpacked(text, fault);
          return true;
        });
    return verdict;
  }

  /// Draws one argument after the other plainly for as long as the fault stays.
  void write(const std::string &fault, std::uint64_t seed) const {
    // A call that ends its process does not tell its arguments.
    constexpr int kMostArguments = 24;
    std::set<int> plain;
    CallVerdict found = check(seed, plain);
    for (int i = 0; i < (found.arguments != 0 ? found.arguments : kMostArguments); ++i) {
      plain.insert(i);
      const CallVerdict tried = check(seed, plain);
      if (tried.fault == fault) found = tried;
      else plain.erase(i);
    }
    std::filesystem::create_directories(options_.out);
    const std::string path = options_.out + "/call-" + std::to_string(seed) + ".txt";
    std::string again = "./x fuzz calls --count 1 --seed " + std::to_string(seed);
    if (!options_.only.empty()) again += " --only '" + options_.only + "'";
    if (!options_.device.empty()) again += " --device " + options_.device;
    std::ofstream file(path);
    file << fault << "\n\n"
         << (found.call.empty() ? call_name(seed, options_.only) : found.call) << '\n'
         << found.detail << "\nagain: " << again << '\n';
    file.close();
    if (!file) throw std::runtime_error(path + ": cannot be written");
    std::printf("\n%s\n  %s\n  in %s\n  again: %s\n", fault.c_str(),
                (found.call.empty() ? call_name(seed, options_.only) : found.call).c_str(),
                path.c_str(), again.c_str());
    std::fflush(stdout);
  }

  CallOptions options_;
  std::size_t passed_ = 0, refused_ = 0, ended_ = 0;
  std::map<std::string, std::vector<std::uint64_t>> failed_;
};

} // namespace

int run_calls(const CallOptions &options) { return Calls(options).run(); }

} // namespace weft::fuzz
