// Devices: where a tensor's elements lie.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

namespace weft {

enum class DeviceKind : std::uint8_t { cpu, gpu };

/// "cpu:0", "gpu:1".
struct Device {
  DeviceKind kind = DeviceKind::cpu;
  std::uint8_t index = 0;

  friend bool operator==(const Device &, const Device &) = default;
};

/// Parses "cpu", "cpu:0", "gpu:1", "cuda:0" and TensorFlow's "/GPU:0"; throws ValueError otherwise.
Device parse_device(std::string_view text);
std::string to_string(Device device);
std::ostream &operator<<(std::ostream &out, Device device);

} // namespace weft
