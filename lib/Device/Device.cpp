// Which GPUs there are, and why not more.
#include "Device/Device.h"

#include "Device/Gpu.h"
#include "Support/Fault.h"

namespace weft::device {

using namespace cuda;

namespace {

/// What the driver said when it was opened.
struct All {
  std::vector<Runtime *> usable;
  /// By the driver's numbers: a runtime, or why there is none.
  std::vector<std::pair<Runtime *, std::string>> known;
  std::string why;

  All() {
    const Driver *driver = open_driver(why);
    if (driver == nullptr) return;
    int count = 0;
    if (const CUresult result = driver->cuDeviceGetCount(&count); result != CUDA_SUCCESS) {
      why = "the CUDA driver does not say how many GPUs there are (" + words(*driver, result) + ")";
      return;
    }
    for (int i = 0; i < count && known.size() < kMaxGpus; ++i) {
      CUdevice handle = 0;
      std::string wrong;
      if (const CUresult result = driver->cuDeviceGet(&handle, i); result != CUDA_SUCCESS) {
        known.emplace_back(nullptr, words(*driver, result));
        continue;
      }
      auto *gpu = new Gpu(*driver, handle, static_cast<std::uint8_t>(i), wrong); // for good
      known.emplace_back(wrong.empty() ? gpu : nullptr, wrong);
      if (wrong.empty()) usable.push_back(gpu);
      else why = to_string({DeviceKind::gpu, static_cast<std::uint8_t>(i)}) + ": " + wrong;
    }
    if (known.empty()) why = "the CUDA driver finds no GPU";
  }
};

const All &all() {
  static const All &all = *new All;
  return all;
}

} // namespace

std::span<Runtime *const> gpus() { return all().usable; }

const std::string &why_none() { return all().why; }

Runtime &runtime_of(Device device) {
  const std::string refused = "cannot use " + to_string(device) + ": ";
  if (device.kind != DeviceKind::gpu) raise(ErrorKind::device, refused + "it is no GPU");
  const All &there = all();
  if (there.known.empty()) raise(ErrorKind::device, refused + there.why);
  if (device.index >= there.known.size())
    raise(ErrorKind::device,
          refused + "the CUDA driver knows " + std::to_string(there.known.size()) +
              (there.known.size() == 1
                   ? " GPU, gpu:0"
                   : " GPUs, the last of which is gpu:" + std::to_string(there.known.size() - 1)));
  const auto &[runtime, why] = there.known[device.index];
  if (runtime == nullptr) raise(ErrorKind::device, refused + why);
  return *runtime;
}

} // namespace weft::device
