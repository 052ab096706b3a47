// PTX that a GPU's driver compiled.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "Device/Gpu.h"

namespace weft::device {

class CudaProgram final : public Program {
public:
  struct Kernel {
    std::string name;
    cuda::CUfunction function = nullptr;
    std::shared_ptr<const std::string> words;                ///< "the kernel 'k' of 'step'"
    mutable std::atomic<std::size_t> most_shared = 48 << 10; ///< bytes that a launch may ask for
  };

  CudaProgram(Gpu &gpu, const std::string &ptx, const std::string &name);
  ~CudaProgram() override;
  CudaProgram(const CudaProgram &) = delete;
  CudaProgram &operator=(const CudaProgram &) = delete;

  std::size_t kernels() const override { return kernels_.size(); }
  const std::string &kernel_name(std::size_t kernel) const override {
    return kernels_.at(kernel).name;
  }
  std::size_t find_kernel(std::string_view name) const override;
  const Kernel &kernel(std::size_t number) const { return kernels_.at(number); }
  const Gpu &gpu() const { return gpu_; }

private:
  Gpu &gpu_;
  cuda::CUmodule module_ = nullptr;
  std::vector<Kernel> kernels_;
};

} // namespace weft::device
