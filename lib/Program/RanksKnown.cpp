// Constants as ranks compare them, and the words for what is computed of them.
#include "Program/RanksKnown.h"

#include <cstring>

#include "Support/Messages.h"
#include <weft/detail/tensor_impl.h>

namespace weft::ranks {

namespace {

template <class T>
T first_of(const ConstantData &constant) {
  T value;
  std::memcpy(&value, constant.bytes, sizeof value);
  return value;
}

} // namespace

Known constant_of(const ConstantData &constant) {
  Known known;
  Mixed how("constant");
  how.add(constant);
  known.how = how.digest();
  const DType dtype = constant.type.dtype;
  std::string text(name_of(dtype)); // of those that are shown by their digest alone
  if (std::ranges::all_of(constant.type.shape, [](std::int64_t size) { return size == 1; })) {
    switch (dtype) {
    case DType::boolean: known.number = first_of<std::uint8_t>(constant) != 0; break;
    case DType::u8: known.number = first_of<std::uint8_t>(constant); break;
    case DType::i32: known.number = first_of<std::int32_t>(constant); break;
    case DType::i64: known.number = first_of<std::int64_t>(constant); break;
    case DType::f32: text = number_text(first_of<float>(constant)); break;
    case DType::f64: text = number_text(first_of<double>(constant)); break;
    default: break;
    }
    if (known.number) text = std::to_string(*known.number);
  }
  known.constants.push_back(std::move(text));
  return known;
}

std::optional<Known> constant_of(const Tensor &tensor) {
  const detail::TensorImpl *const impl = tensor.impl();
  if (impl == nullptr || !impl->plain || impl->size != 1) return std::nullopt;
  return constant_of(ConstantData{{tensor.dtype(), tensor.shape()}, impl->data, {}});
}

std::string words_of(const Known &known) {
  if (known.varies()) return {};
  std::string words = " by";
  if (!known.constants.empty())
    words += known.constants.size() == 1 ? " the constant" : " the constants";
  for (std::size_t i = 0; i < known.constants.size(); ++i)
    words += (i == 0 ? " " : ", ") + known.constants[i];
  words += " [";
  for (int shift = 60; shift >= 32; shift -= 4)
    words += "0123456789abcdef"[known.how >> shift & 15];
  return words + "]";
}

std::string words_of_turns(const Known &first, const Known &end, std::int64_t step,
                           const Known &turns) {
  if (!first.number || !end.number) return words_of(turns);
  const std::int64_t from = *first.number, to = *end.number;
  const auto distance = static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  const std::uint64_t count = to > from ? (distance - 1) / static_cast<std::uint64_t>(step) + 1 : 0;
  return " of " + std::to_string(count) + (count == 1 ? " turn" : " turns");
}

} // namespace weft::ranks
