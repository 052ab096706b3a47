// Opening the driver: its library, the addresses of its functions, its version.
#include "Device/Driver.h"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>
#include <string_view>

#include "Support/Log.h"

namespace weft::device {

using namespace cuda;

namespace {

/// "12.4" of 12040.
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Functions that not every driver has, and that nothing depends on but a feature of their own.
bool is_optional(std::string_view name) {
  return name.starts_with("cuGraph") || name.starts_with("cuTensorMap");
}

std::string said_by_loader() {
  const char *text = dlerror(); // NOLINT(concurrency-mt-unsafe): glibc's is of the thread
  return text != nullptr ? text : "it cannot be opened";
}

/// Fills `driver`; says what is wrong otherwise.
std::string open(Driver &driver) {
  const char *own = std::getenv("WEFT_CUDA_DRIVER"); // NOLINT(concurrency-mt-unsafe): not set here
  const std::string name = own != nullptr && *own != 0 ? own : "libcuda.so.1";
  void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return "no CUDA driver (" + said_by_loader() + ")";
  const std::string least =
      ", and CUDA " + version_text(kLeastDriver) + " is the least that will do";
  const auto find =
      reinterpret_cast<decltype(driver.cuGetProcAddress)>(dlsym(library, "cuGetProcAddress_v2"));
  const auto version =
      reinterpret_cast<decltype(driver.cuDriverGetVersion)>(dlsym(library, "cuDriverGetVersion"));
  if (version == nullptr || version(&driver.version) != CUDA_SUCCESS)
    return name + " is no CUDA driver: it does not say its version";
  if (driver.version < kLeastDriver || find == nullptr)
    return "the CUDA driver is too old: it is one of CUDA " + version_text(driver.version) + least;

  std::string missing;
  bool graphs = true, conditional_nodes = true, tensor_maps = true;
  const auto take = [&](auto &function, const char *function_name, int since) {
    void *address = nullptr;
    if (find(function_name, &address, since, 0, nullptr) == CUDA_SUCCESS && address != nullptr) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
      return;
    }
    const std::string_view text = function_name;
    if (!is_optional(text)) missing = text;
    else if (text.starts_with("cuTensorMap")) tensor_maps = false;
    else if (since > kLeastDriver) conditional_nodes = false;
    else graphs = false;
  };
#define WEFT_CUDA_FUNCTION(name, symbol, version, parameters) take(driver.name, #name, version);
#include "Cuda/Functions.def"
#undef WEFT_CUDA_FUNCTION
  if (!missing.empty()) return "the CUDA driver has no function " + missing + least;
  driver.graphs = graphs;
  driver.conditional_nodes = graphs && conditional_nodes;
  driver.tensor_maps = tensor_maps;
  std::string without;
  for (const auto &[there, feature] : {std::pair(driver.graphs, "graphs"),
                                       std::pair(driver.conditional_nodes, "conditional nodes"),
                                       std::pair(driver.tensor_maps, "tensor maps")})
    if (!there) without += (without.empty() ? "" : ", ") + std::string(feature);
  if (!without.empty() && logging())
    log_line("device: the CUDA driver, of CUDA " + version_text(driver.version) + ", has no " +
             without);

  const CUresult started = driver.cuInit(0);
  if (started == CUDA_ERROR_NO_DEVICE) return "the CUDA driver finds no GPU";
  if (started != CUDA_SUCCESS)
    return "the CUDA driver does not start (" + words(driver, started) + ")";
  return {};
}

} // namespace

const Driver *open_driver(std::string &why) {
  static Driver &driver = *new Driver;
  static const std::string &wrong = *new std::string(open(driver));
  why = wrong;
  return wrong.empty() ? &driver : nullptr;
}

std::string words(const Driver &driver, CUresult result) {
  const char *name = nullptr, *text = nullptr;
  if (driver.cuGetErrorName(result, &name) != CUDA_SUCCESS || name == nullptr)
    return "CUDA's error " + std::to_string(static_cast<int>(result));
  driver.cuGetErrorString(result, &text);
  return std::string(name) + (text != nullptr ? ": " + std::string(text) : "");
}

} // namespace weft::device
