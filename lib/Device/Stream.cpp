// Pinned memory in turns.
#include "Device/Stream.h"

namespace weft::device {

using namespace cuda;

CUresult Staging::take(const Driver &driver, CUstream stream, std::size_t bytes, Slot *&slot,
                       std::byte *&memory) {
  slot = &slots_[current_];
  if (slot->memory != nullptr && slot->used + bytes > kSlotBytes) {
    if (!slot->pending) {
      if (const CUresult result = driver.cuEventRecord(slot->done, stream); result != CUDA_SUCCESS)
        return result;
      slot->pending = true;
    }
    current_ = (current_ + 1) % slots_.size();
    slot = &slots_[current_];
    if (slot->pending) {
      const CUresult result = driver.cuEventSynchronize(slot->done);
      if (result != CUDA_SUCCESS) return result;
      slot->pending = false;
    }
    slot->used = 0;
  }
  if (slot->memory == nullptr) {
    if (slot->done == nullptr) {
      const CUresult result = driver.cuEventCreate(&slot->done, CU_EVENT_DISABLE_TIMING);
      if (result != CUDA_SUCCESS) return result;
    }
    void *pinned = nullptr;
    const CUresult result = driver.cuMemHostAlloc(&pinned, kSlotBytes, CU_MEMHOSTALLOC_PORTABLE);
    if (result != CUDA_SUCCESS) return result;
    slot->memory = static_cast<std::byte *>(pinned);
    slot->used = 0;
  }
  memory = slot->memory + slot->used;
  slot->used += (bytes + 63) / 64 * 64;
  return CUDA_SUCCESS;
}

} // namespace weft::device
