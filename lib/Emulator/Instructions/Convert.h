// What the decoder tells a conversion in its mode, beside what its form says.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::emulator {

/// Two operands in registers of any width; their bytes are the lowest 16 bits of the mode.
constexpr std::string_view kConvertSignature = "vw";
constexpr int kConvertSourceShift = 8, kConvertRoundingShift = 16;
constexpr std::uint32_t kConvertSaturates = 1U << 20, kConvertRelu = 1U << 21;

} // namespace weft::emulator
