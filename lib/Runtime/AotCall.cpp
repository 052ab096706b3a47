// The door of ahead-of-time programs: a call of a compiled entry from C, where exceptions stop.
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "Runtime/CallContext.h"

namespace {

/// The lines that weft-compile wrote into the header: "17 step.mlir:7".
class WrittenPlaces final : public weft::PlaceTable {
public:
  WrittenPlaces(const char *const *places, std::int64_t count) : places_(places), count_(count) {}

  weft::SourcePlace place(std::int64_t site) const override {
    const std::string number = std::to_string(site) + " ";
    for (std::int64_t i = 0; i < count_; ++i) {
      const std::string_view text = places_[i];
      if (!text.starts_with(number)) continue;
      const std::size_t colon = text.rfind(':');
      if (colon == std::string_view::npos) break;
      return {std::string(text.substr(number.size(), colon - number.size())),
              static_cast<std::uint32_t>(std::strtoul(text.data() + colon + 1, nullptr, 10))};
    }
    return {};
  }

private:
  const char *const *places_;
  std::int64_t count_;
};

} // namespace

extern "C" std::int32_t weft_rt_call(weft::CompiledEntry entry, void *const *buffers,
                                     const std::int64_t *dims, std::int64_t dim_count,
                                     void **outputs, std::int64_t *const *output_dims,
                                     std::int64_t output_count, std::int64_t arena_bytes,
                                     const char *function, const char *const *places,
                                     std::int64_t place_count, char *message,
                                     std::int64_t message_size) {
  for (std::int64_t i = 0; i < output_count; ++i) outputs[i] = nullptr;
  const auto report = [&](const char *text) {
    for (std::int64_t i = 0; i < output_count; ++i) std::free(std::exchange(outputs[i], nullptr));
    if (message != nullptr && message_size > 0) {
      std::strncpy(message, text, static_cast<std::size_t>(message_size) - 1);
      message[message_size - 1] = '\0';
    }
    return 1;
  };
  void *arena = nullptr;
  std::int32_t status = 0;
  try {
    for (std::int64_t i = 0; i < dim_count; ++i)
      if (dims[i] < 0)
        throw weft::ShapeError(std::string(function) + ": an input cannot have the size " +
                               std::to_string(dims[i]));
    if (arena_bytes > 0) {
      arena = std::aligned_alloc(64, static_cast<std::size_t>((arena_bytes + 63) / 64 * 64));
      if (arena == nullptr)
        throw weft::OutOfMemory(std::string(function) + ": there are no " +
                                std::to_string(arena_bytes) + " bytes for temporaries");
    }
    weft::CallContext context;
    context.arena = static_cast<std::byte *>(arena);
    context.function = function;
    const WrittenPlaces written(places, place_count);
    context.places = &written;
    weft::COutputs made{outputs, output_dims, output_count};
    context.c_outputs = &made;
    status = entry(buffers, dims, &context);
  } catch (const std::exception &error) {
    status = report(error.what());
  }
  std::free(arena);
  return status;
}
