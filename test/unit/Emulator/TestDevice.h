// A device for tests: its memory, programs that are loaded into it, and launches that are run to
// their end.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "Emulator/Machine/Machine.h"
#include "Emulator/Program/Program.h"
#include "Emulator/Ptx/Lexer.h"

namespace weft::emulator {

/// The body of a kernel `k` with so many parameters of 64 bits, p0, p1 and so on.
inline std::string kernel_text(int parameters, std::string_view body,
                               std::string_view outside = "") {
  std::string text = ".version 8.0\n.target sm_90a\n.address_size 64\n" + std::string(outside) +
                     "\n.visible .entry k(";
  for (int i = 0; i < parameters; ++i)
    text += std::string(i == 0 ? "" : ", ") + ".param .u64 p" + std::to_string(i);
  return text + ")\n{\n" + std::string(body) + "\n}\n";
}

class TestDevice {
public:
  Schedule schedule;
  AddressSpace space;
  Machine machine;
  Serials serials;

  std::unique_ptr<Program> load(const std::string &text) {
    return load_program(text, [&](std::uint64_t size, const std::vector<std::uint8_t> &initial) {
      Allocation *made = space.allocate(size, 0, nullptr);
      std::memset(made->region.bytes, 0, size);
      std::copy(initial.begin(), initial.end(),
                reinterpret_cast<std::uint8_t *>(made->region.bytes));
      made->region.shadow.mark_written(0, size);
      return made->region.address;
    });
  }

  std::uint64_t allocate(std::uint64_t bytes) {
    return space.allocate(bytes, 0, nullptr)->region.address;
  }

  template <class T>
  std::uint64_t put(const std::vector<T> &values) {
    Allocation *made = space.allocate(values.size() * sizeof(T), 0, nullptr);
    std::memcpy(made->region.bytes, values.data(), values.size() * sizeof(T));
    made->region.shadow.mark_written(0, made->region.size);
    return made->region.address;
  }
  template <class T>
  std::vector<T> get(std::uint64_t address) {
    const Region &region = space.find_begin(address)->region;
    std::vector<T> values(region.size / sizeof(T));
    std::memcpy(values.data(), region.bytes, values.size() * sizeof(T));
    return values;
  }

  /// Runs the kernel `k` of a program; what went wrong is in the launch that is returned.
  std::unique_ptr<Launch> run(const Program &program, Shape shape,
                              const std::vector<std::uint64_t> &parameters) {
    auto launch = std::make_unique<Launch>();
    launch->kernel = program.kernels.begin()->second.get();
    launch->shape = shape;
    const auto bytes = std::as_bytes(std::span(parameters));
    launch->parameters.assign(bytes.begin(), bytes.end());
    launch->space = &space;
    launch->schedule = schedule;
    launch->first_serial = serials.take(shape.blocks());
    const std::string wrong = Machine::check(*launch);
    if (!wrong.empty()) throw std::invalid_argument(wrong);
    machine.run(*launch);
    return launch;
  }
  std::unique_ptr<Launch> run(const std::string &text, Shape shape,
                              const std::vector<std::uint64_t> &parameters) {
    programs_.push_back(load(text));
    return run(*programs_.back(), shape, parameters);
  }

private:
  std::vector<std::unique_ptr<Program>> programs_;
};

/// The reports of a launch, a line each.
inline std::string reports_of(const Launch &launch) {
  std::string text;
  for (const Report &report : launch.reports) text += report.text + "\n";
  return text;
}

/// What the reader says of a text that it refuses: "3: unknown instruction ..".
inline std::string refusal_of(const std::string &text) {
  TestDevice device;
  try {
    device.load(text);
  } catch (const ptx::SyntaxError &error) {
    return std::to_string(error.line()) + ": " + error.what();
  }
  return "";
}

} // namespace weft::emulator
