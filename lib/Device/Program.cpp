// Loading PTX, and starting its kernels.
#include "Device/Program.h"

#include <array>

#include "Support/Fault.h"
#include "Support/Ptx.h"

namespace weft::device {

using namespace cuda;

namespace {

/// What stands for a launch with dimensions that the driver does not take.
std::string text_of(Dim3 dim) {
  return std::to_string(dim.x) + "x" + std::to_string(dim.y) + "x" + std::to_string(dim.z);
}

} // namespace

CudaProgram::CudaProgram(Gpu &gpu, const std::string &ptx, const std::string &name) : gpu_(gpu) {
  const Driver &driver = gpu.driver();
  const Gpu::Entered entered(gpu);
  std::array<char, 8192> log{};
  std::array options = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver takes numbers so
  std::array<void *, 2> values = {log.data(), reinterpret_cast<void *>(log.size())};
  const CUresult result = driver.cuModuleLoadDataEx(&module_, ptx.c_str(), options.size(),
                                                    options.data(), values.data());
  switch (result) {
  case CUDA_ERROR_INVALID_IMAGE:
  case CUDA_ERROR_NO_BINARY_FOR_GPU:
  case CUDA_ERROR_INVALID_PTX:
  case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
  case CUDA_ERROR_UNSUPPORTED_PTX_VERSION: {
    log.back() = 0;
    const std::string said = log.data();
    raise(ErrorKind::compile, name + ": the driver of " + gpu.name() + " does not take its PTX (" +
                                  words(driver, result) + ")" + (said.empty() ? "" : "\n" + said));
  }
  default: gpu.check(result, "loading the kernels of '" + name + "'");
  }
  const std::vector<std::string> names = ptx_kernels(ptx);
  kernels_ = std::vector<Kernel>(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    kernels_[i].name = names[i];
    kernels_[i].words =
        std::make_shared<const std::string>("the kernel '" + names[i] + "' of '" + name + "'");
    const CUresult found =
        driver.cuModuleGetFunction(&kernels_[i].function, module_, names[i].c_str());
    if (found == CUDA_SUCCESS) continue;
    driver.cuModuleUnload(module_);
    gpu.check(found, "finding " + *kernels_[i].words);
  }
}

CudaProgram::~CudaProgram() {
  if (module_ == nullptr || !gpu_.usable()) return;
  try {
    const Gpu::Entered entered(gpu_);
    // Its kernels may be running.
    if (gpu_.driver().cuCtxSynchronize() == CUDA_SUCCESS) gpu_.driver().cuModuleUnload(module_);
    // NOLINTNEXTLINE(bugprone-empty-catch)
  } catch (const Error &) { // the process ends, or the device is lost
  }
}

std::size_t CudaProgram::find_kernel(std::string_view name) const {
  std::size_t i = 0;
  while (i < kernels_.size() && kernels_[i].name != name) ++i;
  return i;
}

std::shared_ptr<Program> Gpu::load(const std::string &ptx, const std::string &name) {
  return std::make_shared<CudaProgram>(*this, ptx, name);
}

void Gpu::launch(const Program &program, std::size_t number, Dim3 grid, Dim3 block,
                 std::size_t shared_bytes, void *const *arguments) {
  const auto &loaded = static_cast<const CudaProgram &>(program);
  WEFT_INVARIANT(&loaded.gpu() == this && number < loaded.kernels(),
                 "a launch of another device's program, or of a kernel that it has not");
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  const CudaProgram::Kernel &kernel = loaded.kernel(number);
  const Entered entered(*this);
  Stream &own = stream();
  if (shared_bytes > kernel.most_shared.load(std::memory_order_relaxed)) {
    check(driver_.cuFuncSetAttribute(kernel.function,
                                     CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                     static_cast<int>(shared_bytes)),
          "asking for " + std::to_string(shared_bytes) + " bytes of shared memory for " +
              *kernel.words);
    kernel.most_shared.store(shared_bytes, std::memory_order_relaxed);
  }
  const CUlaunchConfig config{.gridDimX = grid.x,
                              .gridDimY = grid.y,
                              .gridDimZ = grid.z,
                              .blockDimX = block.x,
                              .blockDimY = block.y,
                              .blockDimZ = block.z,
                              .sharedMemBytes = static_cast<unsigned>(shared_bytes),
                              .hStream = own.handle,
                              .attrs = nullptr,
                              .numAttrs = 0};
  const CUresult result =
      driver_.cuLaunchKernelEx(&config, kernel.function, const_cast<void **>(arguments), nullptr);
  if (result != CUDA_SUCCESS)
    check(result, "the launch of " + *kernel.words + " with " + text_of(grid) + " blocks of " +
                      text_of(block) + " threads");
  own.last_launched = kernel.words;
}

} // namespace weft::device
