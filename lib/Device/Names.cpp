// Names of devices, and the one where this thread's new tensors go.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <ostream>
#include <utility>

#include "Device/Gpu.h"
#include "Support/Fault.h"
#include "Support/Messages.h"

namespace weft {

namespace {

thread_local constinit Device current;
thread_local constinit bool counting = true;

} // namespace

Device parse_device(std::string_view text) {
  std::string name;
  for (const char c : text) name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::string_view rest = name;
  // TensorFlow's full names: "/job:localhost/replica:0/task:0/device:GPU:0".
  if (rest.starts_with("/job:localhost"))
    rest.remove_prefix(std::min(rest.find("/device:"), rest.size()));
  if (rest.starts_with("/")) rest.remove_prefix(1);
  if (rest.starts_with("device:")) rest.remove_prefix(7);
  const std::size_t colon = rest.find(':');
  const std::string_view kind = rest.substr(0, colon);
  Device device;
  bool valid = kind == "cpu" || kind == "gpu" || kind == "cuda";
  if (kind != "cpu") device.kind = DeviceKind::gpu;
  if (colon != std::string_view::npos) {
    const std::string_view number = rest.substr(colon + 1);
    const auto [end, fault] =
        std::from_chars(number.data(), number.data() + number.size(), device.index);
    valid &= fault == std::errc() && end == number.data() + number.size();
  }
  if (valid) return device;
  throw ValueError("'" + std::string(text) +
                   "' is not a device; devices are named like cpu, cpu:0 and gpu:1");
}

std::string to_string(Device device) {
  const std::string index = ":" + std::to_string(device.index);
  switch (device.kind) {
  case DeviceKind::cpu: return "cpu" + index;
  case DeviceKind::gpu: return "gpu" + index;
  }
  return "of the kind " + std::to_string(static_cast<int>(device.kind)) + index;
}

std::ostream &operator<<(std::ostream &out, Device device) { return out << to_string(device); }

Device::Device(const char *name) : Device(parse_device(name)) {}
Device::Device(const std::string &name) : Device(parse_device(name)) {}

std::vector<Device> devices() {
  std::vector<Device> all = {Device()};
  for (const device::Runtime *gpu : device::gpus())
    if (static_cast<const device::Gpu *>(gpu)->usable()) all.push_back(gpu->device());
  return all;
}

void check_device(Device device) {
  if (device == Device()) return;
  if (device.kind == DeviceKind::gpu) {
    static_cast<void>(device::runtime_of(device));
    return;
  }
  raise(ErrorKind::device, "there is no device " + to_string(device) + "; the only CPU is cpu:0");
}

Device default_device() { return counting ? current : Device(); }

bool device::scopes_count() { return counting; }
device::ScopesCount::ScopesCount(bool count) : outer_(std::exchange(counting, count)) {}
device::ScopesCount::~ScopesCount() { counting = outer_; }

DeviceScope::DeviceScope(Device device) : outer_(current) {
  check_device(device);
  current = device;
}

DeviceScope::~DeviceScope() { current = outer_; }

} // namespace weft
