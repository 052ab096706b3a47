// Functions that find others, and the words for results.
#include <cstring>

#include "Emulator/Driver/Exports.h"

namespace weft::cuda {
namespace {

struct Words {
  CUresult result;
  const char *name, *words;
};
#define WEFT_RESULT(name, words) {name, #name, words}
constexpr Words kWords[] = {
    WEFT_RESULT(CUDA_SUCCESS, "no error"),
    WEFT_RESULT(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    WEFT_RESULT(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    WEFT_RESULT(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    WEFT_RESULT(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
    WEFT_RESULT(CUDA_ERROR_STUB_LIBRARY, "CUDA driver is a stub library"),
    WEFT_RESULT(CUDA_ERROR_DEVICE_UNAVAILABLE, "CUDA-capable device(s) is/are busy or unavailable"),
    WEFT_RESULT(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    WEFT_RESULT(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    WEFT_RESULT(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    WEFT_RESULT(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    WEFT_RESULT(CUDA_ERROR_NO_BINARY_FOR_GPU,
                "no kernel image is available for execution on the device"),
    WEFT_RESULT(CUDA_ERROR_ECC_UNCORRECTABLE, "uncorrectable ECC error encountered"),
    WEFT_RESULT(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
                "peer access is not supported between these two devices"),
    WEFT_RESULT(CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed"),
    WEFT_RESULT(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "PTX JIT compiler library not found"),
    WEFT_RESULT(CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
                "the provided PTX was compiled with an unsupported toolchain."),
    WEFT_RESULT(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    WEFT_RESULT(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    WEFT_RESULT(CUDA_ERROR_NOT_READY, "device not ready"),
    WEFT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    WEFT_RESULT(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"),
    WEFT_RESULT(CUDA_ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated"),
    WEFT_RESULT(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
    WEFT_RESULT(CUDA_ERROR_ASSERT, "device-side assert triggered"),
    WEFT_RESULT(CUDA_ERROR_HARDWARE_STACK_ERROR, "hardware stack error"),
    WEFT_RESULT(CUDA_ERROR_ILLEGAL_INSTRUCTION, "an illegal instruction was encountered"),
    WEFT_RESULT(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address"),
    WEFT_RESULT(CUDA_ERROR_INVALID_ADDRESS_SPACE,
                "operation not supported on global/shared address space"),
    WEFT_RESULT(CUDA_ERROR_INVALID_PC, "invalid program counter"),
    WEFT_RESULT(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    WEFT_RESULT(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "too many blocks in cooperative launch"),
    WEFT_RESULT(CUDA_ERROR_NOT_PERMITTED, "operation not permitted"),
    WEFT_RESULT(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    WEFT_RESULT(CUDA_ERROR_SYSTEM_NOT_READY, "system not yet initialized"),
    WEFT_RESULT(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
                "system has unsupported display driver / cuda driver combination"),
    WEFT_RESULT(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE,
                "forward compatibility was attempted on non supported HW"),
    WEFT_RESULT(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
                "the graph update was not performed because it included changes which violated "
                "constraints specific to instantiated graph update"),
    WEFT_RESULT(CUDA_ERROR_INVALID_CLUSTER_SIZE, "cluster misconfiguration"),
    WEFT_RESULT(CUDA_ERROR_UNKNOWN, "unknown error"),
};
#undef WEFT_RESULT

const Words *find(CUresult result) {
  for (const Words &words : kWords)
    if (words.result == result) return &words;
  return nullptr;
}

struct Known {
  const char *name;
  int version;
  void *function;
};

} // namespace

CUresult cuGetErrorName(CUresult error, const char **name) {
  const Words *found = find(error);
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = found == nullptr ? nullptr : found->name;
  return found == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char **words) {
  const Words *found = find(error);
  if (words == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *words = found == nullptr ? nullptr : found->words;
  return found == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status) {
  static const Known known[] = {
#define WEFT_CUDA_FUNCTION(name, symbol, version, parameters)                                      \
  {#name, version, reinterpret_cast<void *>(&symbol)},
#include "Cuda/Functions.def"
#undef WEFT_CUDA_FUNCTION
  };
  if (symbol == nullptr || function == nullptr || flags > 2) return CUDA_ERROR_INVALID_VALUE;
  int driver_version = 0;
  cuDriverGetVersion(&driver_version);
  CUdriverProcAddressQueryResult result = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  *function = nullptr;
  for (const Known &candidate : known) {
    if (std::strcmp(candidate.name, symbol) != 0) continue;
    // A driver has no functions of later versions, and hands out none that the caller does not
    // know.
    if (candidate.version > driver_version) break;
    result = candidate.version > version ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                         : CU_GET_PROC_ADDRESS_SUCCESS;
    if (result == CU_GET_PROC_ADDRESS_SUCCESS) *function = candidate.function;
    break;
  }
  if (status != nullptr) *status = result;
  return *function == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

} // namespace weft::cuda
