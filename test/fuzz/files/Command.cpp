// Writes mutants to a folder, has them read, and keeps those that show a fault.
#include "Command.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

#include <sys/resource.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "Mutate.h"
#include "Read.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#define WEFT_FINDS_LEAKS
#endif
#endif

#ifdef WEFT_FINDS_LEAKS
/// What is freed goes back soon, so that it does not count as what a file has asked for.
extern "C" const char *__asan_default_options() { return "quarantine_size_mb=16"; } // NOLINT
#endif

namespace weft::fuzz {

namespace {

namespace fs = std::filesystem;

std::string packed(const FileVerdict &verdict) {
  return nlohmann::json{{"fault", verdict.fault},
                        {"detail", verdict.detail},
                        {"calls", verdict.calls},
                        {"refused", verdict.refused}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

FileVerdict unpacked(const std::string &text, const std::string &fault) {
  if (!fault.empty()) return {.fault = fault, .detail = {}};
  const auto json = nlohmann::json::parse(text);
  return {.fault = json["fault"],
          .detail = json["detail"],
          .calls = json["calls"],
          .refused = json["refused"]};
}

void write_files(const std::string &folder, const Sample &sample) {
  fs::remove_all(folder);
  std::map<std::string, std::string> files = sample.beside;
  files[sample.name] = sample.bytes;
  for (const auto &[name, bytes] : files) {
    const fs::path path = fs::path(folder) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
  }
}

/// Leaves this process as much more memory as a file of that size may ask for: the pixels of an
/// image take the most, and what has no samples behind it none.
void limit_growth(std::size_t file_bytes) {
  constexpr std::size_t always = std::size_t{256} << 20, per_byte = std::size_t{64} << 10;
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  limit.rlim_cur = std::min<rlim_t>(
      limit.rlim_max, pages * size + always + per_byte * std::min<std::size_t>(file_bytes, 8192));
  setrlimit(RLIMIT_AS, &limit);
}

/// What this process has lost so far, said on stderr; false without a sanitizer.
bool leaks() {
#ifdef WEFT_FINDS_LEAKS
  return __lsan_do_recoverable_leak_check() != 0;
#else
  return false;
#endif
}

class Files {
public:
  explicit Files(const FileOptions &options)
      : options_(options),
        scratch_(
            (fs::temp_directory_path() / ("weft-fuzz-files-" + std::to_string(getpid()))).string()),
        samples_(fuzz::samples(scratch_ + "/samples")) {
    if (options.only.empty()) return;
    if (std::find(kFormats.begin(), kFormats.end(), options.only) == kFormats.end()) {
      std::string known;
      for (const std::string_view format : kFormats) known += " " + std::string(format);
      throw std::runtime_error("no format '" + options.only + "': there are" + known);
    }
  }
  ~Files() {
    std::error_code none;
    fs::remove_all(scratch_, none);
  }
  Files(const Files &) = delete;
  Files &operator=(const Files &) = delete;

  int run() {
    const auto start = std::chrono::steady_clock::now();
    const auto seconds = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    run_apart(
        options_.count, options_.jobs, options_.limits,
        [&](std::size_t i) { return packed(read(seed_of(i))); },
        [&](std::size_t i, const std::string &text, const std::string &fault) {
          take(seed_of(i), unpacked(text, fault));
          return true;
        });
    for (const auto &[fault, seeds] : failed_) keep(fault, seeds.front());
    std::printf(
        "\n%llu files read in %llu ways in %.0f s; %llu times one was refused with a reason\n",
        static_cast<unsigned long long>(options_.count), static_cast<unsigned long long>(calls_),
        seconds(), static_cast<unsigned long long>(refused_));
    for (const auto &[fault, seeds] : failed_)
      std::printf("  %6zu failed: %s\n", seeds.size(), fault.c_str());
    std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(passed_),
                static_cast<unsigned long long>(options_.count - passed_));
    return failed_.empty() ? 0 : 1;
  }

  /// Reads a copy of a file that is there, for readers of checkpoints save one beside it.
  int run_file() {
    const auto format = static_cast<Format>(
        std::find(kFormats.begin(), kFormats.end(), options_.only) - kFormats.begin());
    FileVerdict verdict;
    const fs::path path = fs::absolute(options_.file);
    // Images are in a folder of their class.
    const fs::path folder =
        format == Format::images ? path.parent_path().parent_path() : path.parent_path();
    const std::string copy = scratch_ + "/copy";
    // What lies beside it matters to these alone.
    if (format == Format::images || format == Format::checkpoint || format == Format::index) {
      fs::copy(folder, copy, fs::copy_options::recursive);
    } else {
      fs::create_directories(copy);
      fs::copy(path, copy);
    }
    run_apart(
        1, 1, options_.limits,
        [&](std::size_t) {
          limit_growth(fs::file_size(path));
          return packed(read_all_ways(
              {.format = format, .folder = copy, .name = fs::relative(path, folder).string()}));
        },
        [&](std::size_t, const std::string &text, const std::string &fault) {
          verdict = unpacked(text, fault);
          return true;
        });
    std::printf("%s%s\n", verdict.detail.c_str(),
                verdict.fault.empty() ? "read, or refused with a reason" : verdict.fault.c_str());
    std::printf("%d passed, %d failed\n", verdict.fault.empty() ? 1 : 0,
                verdict.fault.empty() ? 0 : 1);
    return verdict.fault.empty() ? 0 : 1;
  }

private:
  /// Formats alternate by the seed.
  std::uint64_t seed_of(std::uint64_t i) const {
    if (options_.only.empty()) return options_.seed + i;
    const auto format = static_cast<std::uint64_t>(
        std::find(kFormats.begin(), kFormats.end(), options_.only) - kFormats.begin());
    const std::uint64_t first =
        options_.seed +
        (format + kFormats.size() - options_.seed % kFormats.size()) % kFormats.size();
    return first + i * kFormats.size();
  }

  FileVerdict read(std::uint64_t seed) const {
    note_stage("making the mutant");
    const Mutant one = mutant(seed, samples_);
    const std::string folder = scratch_ + "/" + std::to_string(getpid());
    write_files(folder, one.sample);
    limit_growth(one.sample.bytes.size());
    FileVerdict verdict = read_all_ways({.format = one.sample.format,
                                         .folder = folder,
                                         .name = one.sample.name,
                                         .unchanged = one.how == "nothing",
                                         .must_refuse = one.one_bit && one.sample.sealed});
    // A look at all memory takes longer than many files.
    constexpr std::uint64_t between = 50;
    if (verdict.fault.empty() &&
        (options_.count < between || seed / kFormats.size() % between == 0) && leaks())
      verdict.fault = "memory is lost, by this file or one before it";
    return verdict;
  }

  void take(std::uint64_t seed, const FileVerdict &verdict) {
    calls_ += verdict.calls;
    refused_ += verdict.refused;
    if (verdict.fault.empty()) {
      ++passed_;
    } else {
      if (failed_[verdict.fault].empty())
        std::printf("seed %llu: %s\n%s", static_cast<unsigned long long>(seed),
                    verdict.fault.c_str(), verdict.detail.c_str());
      failed_[verdict.fault].push_back(seed);
    }
    if (++ended_ % 10000 == 0) std::printf("%llu files\n", static_cast<unsigned long long>(ended_));
    std::fflush(stdout);
  }

  /// Writes the first file of a fault, and how to see it.
  void keep(const std::string &fault, std::uint64_t seed) const {
    const Mutant one = mutant(seed, samples_);
    const std::string folder = options_.out + "/file-" + std::to_string(seed);
    write_files(folder, one.sample);
    const std::string format(name_of(one.sample.format));
    const std::string again =
        options_.again + " --file '" + folder + "/" + one.sample.name + "' --only " + format;
    std::ofstream words(folder + ".txt");
    words << fault << "\n\nmade from " << one.sample.name << ": " << one.how << "\nagain: " << again
          << "\nor:    " << options_.again << " --count 1 --seed " << seed << '\n';
    words.close();
    if (!words) throw std::runtime_error(folder + ".txt: cannot be written");
    std::printf("\n%s\n  %s: %s\n  again: %s\n", fault.c_str(), one.sample.name.c_str(),
                one.how.c_str(), again.c_str());
  }

  const FileOptions &options_;
  const std::string scratch_;
  const std::vector<Sample> samples_;
  std::uint64_t passed_ = 0, calls_ = 0, refused_ = 0, ended_ = 0;
  std::map<std::string, std::vector<std::uint64_t>> failed_;
};

} // namespace

int run_files(const FileOptions &options) {
  Files files(options);
  return options.file.empty() ? files.run() : files.run_file();
}

} // namespace weft::fuzz
