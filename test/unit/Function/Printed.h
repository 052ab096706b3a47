// Collects what programs print.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/print.h>

namespace weft {

using Lines = std::vector<std::string>;

/// Collects printed lines for as long as it lives.
class Printed {
public:
  Printed()
      : before_(set_print_sink([this](std::string_view line) { lines_.emplace_back(line); })) {}
  ~Printed() { set_print_sink(std::move(before_)); }
  Printed(const Printed &) = delete;
  Printed &operator=(const Printed &) = delete;

  Lines take() { return std::exchange(lines_, {}); }

private:
  Lines lines_;
  PrintSink before_;
};

} // namespace weft
