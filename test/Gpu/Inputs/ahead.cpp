// Calls functions that weft-compile made for a GPU: with tensors there, arrays of the host, and
// both.
#include "ahead.h"

#include <weft/c/gpu.h>
#include <weft/device_memory.h>
#include <weft/weft.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <vector>

using namespace weft;

static int failures = 0;
static char message[300] = "";

static void expect(bool holds, const char *what) {
  if (holds) return;
  std::cout << "wrong: " << what << ": " << message << std::endl;
  ++failures;
}

int main(int argc, char **argv) {
  const int gpu = argc > 1 && std::strlen(argv[1]) > 8 ? std::atoi(argv[1] + 8) : 0;
  std::int64_t count = 0;
  const float pair[] = {1.75f, 3};
  float twice[2];
  if (scale(gpu, pair, &count, twice, message, sizeof message) != 0) {
    std::cout << message << std::endl;
    return 0;
  }
  expect(twice[0] == 3.5f && twice[1] == 6, "arrays of the host");

  // A tensor of gpu:0 in, a tensor of gpu:0 out, and a variable of the host.
  const Tensor x = tensor({1.75f, 3.f}).to("gpu:0");
  const Tensor scaled = filled_on("gpu:0", f32, {2}, [&](void *data) {
    expect(scale(0, static_cast<const float *>(device_data(x)), &count, static_cast<float *>(data),
                 message, sizeof message) == 0,
           "tensors of the GPU");
  });
  std::cout << "scaled: " << scaled << "\ncount: " << count << std::endl;

  // An output of unknown size is memory of the GPU.
  const Tensor rows = reshape(cast(arange(6), f32) + 1, {3, 2}).to("gpu:0");
  const auto *elements = static_cast<const float *>(device_data(rows));
  float *sum = nullptr;
  std::int64_t sizes[2] = {};
  expect(both(0, elements, 3, elements, 3, &sum, sizes, message, sizeof message) == 0,
         "an open size");
  std::vector<float> kept(6);
  expect(weft_gpu_copy(0, kept.data(), sum, 24, message, sizeof message) == 0, "weft_gpu_copy");
  std::cout << "kept: " << sizes[0] << " x " << sizes[1] << ":";
  for (const float value : kept) std::cout << ' ' << value;
  std::cout << std::endl;
  weft_gpu_free(0, sum);

  const float three[] = {1, 2, 3};
  const std::int32_t wrong[] = {1, 7};
  expect(pick(0, three, wrong, &count, twice, message, sizeof message) == 1,
         "an index out of range");
  std::cout << "bounds: " << message << "\ncount: " << count << std::endl;
  expect(both(0, elements, -1, elements, -1, &sum, sizes, message, sizeof message) == 1 &&
             sum == nullptr,
         "a negative size");
  std::cout << "size: " << message << std::endl;
  expect(scale(0, nullptr, &count, twice, message, sizeof message) == 1, "no array");
  std::cout << "null: " << message << std::endl;

  // Kernels read whole vectors: what is not aligned is copied.
  auto *memory = static_cast<float *>(weft_gpu_alloc(0, 64, message, sizeof message));
  expect(memory != nullptr && weft_gpu_copy(0, memory + 1, three, 12, message, sizeof message) == 0,
         "memory");
  expect(scale(0, memory + 1, &count, memory + 7, message, sizeof message) == 0,
         "arrays that are not aligned");
  expect(weft_gpu_copy(0, twice, memory + 7, 8, message, sizeof message) == 0, "their result");
  std::cout << "unaligned: " << twice[0] << ' ' << twice[1] << std::endl;
  weft_gpu_free(0, memory);
  expect(weft_gpu_wait(0, message, sizeof message) == 0 && weft_gpu_count(nullptr, 0) == 1,
         "the end");
  expect(weft_gpu_alloc(9, 1, message, sizeof message) == nullptr, "memory of no GPU");
  std::cout << failures << " failures" << std::endl;
  return failures;
}
