// The words of WEFT_GPU_EMULATOR.
#include "Emulator/Driver/Options.h"

#include <charconv>
#include <optional>

namespace weft::emulator {
namespace {

std::optional<std::uint64_t> number_of(std::string_view text, bool with_unit) {
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  if (error != std::errc() || end == text.begin()) return {};
  if (with_unit && end != text.end()) {
    const std::size_t unit = std::string_view("KMG").find(*end);
    if (unit == std::string_view::npos) return {};
    value <<= 10 * (unit + 1);
    ++end;
  }
  return end == text.end() ? std::optional(value) : std::nullopt;
}

} // namespace

std::variant<Options, std::string> read_options(std::string_view text) {
  Options options;
  options.chip = find_chip("sm_90");
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string_view key = word.substr(0, equals);
    const std::string_view value = word.substr(std::min(equals + 1, word.size()));
    const std::optional<std::uint64_t> number = number_of(value, key == "memory");
    const auto wrong = [&](const std::string &wanted) {
      return "WEFT_GPU_EMULATOR: '" + std::string(word) + "': " + wanted;
    };
    if (key == "chip") {
      options.chip = find_chip(value);
      if (options.chip == nullptr) return wrong("there are " + chip_names());
    } else if (key == "races" || key == "uninitialised") {
      if (value != "off") return wrong("only off can be said");
      (key == "races" ? options.schedule.check_races : options.schedule.check_uninitialised) =
          false;
    } else if (word == "stress") {
      options.schedule.stress = true;
    } else if (word == "quiet") {
      options.quiet = true;
    } else if (key == "devices" || key == "memory" || key == "driver" || key == "seed" ||
               key == "threads" || key == "timeout") {
      if (!number) return wrong("a whole number is wanted");
      if (key == "devices") {
        if (*number > 16) return wrong("at most 16");
        options.devices = static_cast<int>(*number);
      } else if (key == "memory") {
        options.memory = *number;
      } else if (key == "driver") {
        options.driver_version = static_cast<int>(*number);
      } else if (key == "seed") {
        options.schedule.seed = *number;
      } else if (key == "threads") {
        options.schedule.host_threads = static_cast<int>(std::min<std::uint64_t>(*number, 64));
      } else {
        options.schedule.timeout = std::chrono::seconds(*number);
      }
    } else if (!word.empty()) {
      return wrong("the words are chip, devices, memory, driver, seed, stress, threads, timeout, "
                   "races, uninitialised and quiet");
    }
  }
  return options;
}

} // namespace weft::emulator
