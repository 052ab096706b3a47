// Devices: where a tensor's elements lie, which there are, and where new tensors go.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

enum class DeviceKind : std::int32_t { cpu, gpu };

/// "cpu:0", "gpu:1".
struct Device {
  DeviceKind kind = DeviceKind::cpu;
  std::uint8_t index = 0;

  constexpr Device() = default;
  constexpr Device(DeviceKind of_kind, std::uint8_t number = 0) : kind(of_kind), index(number) {}
  /// The device of that name, as parse_device reads it.
  Device(const char *name);
  Device(const std::string &name);

  friend bool operator==(const Device &, const Device &) = default;
};

/// Parses "cpu", "cpu:0", "gpu:1", "cuda:0" and TensorFlow's "/GPU:0"; throws ValueError otherwise.
Device parse_device(std::string_view text);
std::string to_string(Device device);
std::ostream &operator<<(std::ostream &out, Device device);

/// All devices that can be used: cpu:0, and each GPU with a CUDA driver of 12.0 or newer and a chip
/// of compute capability 7.5 or more.
std::vector<Device> devices();

/// Throws DeviceError, which says why, unless the device can be used.
void check_device(Device device);

/// Where creation functions of this thread put their tensors: the device of its innermost
/// DeviceScope, or cpu:0.
Device default_device();

/// While one lives, creation functions of its thread (`zeros`, `full`, `tensor`, `arange`, those of
/// weft::random, ...) put their tensors on its device. Ops run where their operands are, in it and
/// outside of it.
class DeviceScope {
public:
  /// Throws DeviceError, which says why, unless the device can be used.
  explicit DeviceScope(Device device);
  ~DeviceScope();
  DeviceScope(const DeviceScope &) = delete;
  DeviceScope &operator=(const DeviceScope &) = delete;

private:
  Device outer_;
};

} // namespace weft
