// Reads the sample calls that the records give, and draws the elements of their operands.
#include "OpSamples.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <concepts>
#include <limits>
#include <stdexcept>
#include <string_view>

#include <weft/composites.h>

namespace weft::test {

namespace {

struct Row {
  OpCode op;
  std::string_view operands, attrs;
};

constexpr Row kRows[] = {
#include "Samples.inc"
};

[[noreturn]] void refuse(std::string_view what, std::string_view words) {
  throw std::logic_error(std::string(what) + " of a sample is written '" + std::string(words) +
                         "'");
}

bool take(std::string_view &words, std::string_view prefix) {
  if (!words.starts_with(prefix)) return false;
  words.remove_prefix(prefix.size());
  return true;
}

std::vector<std::string_view> parts(std::string_view text) {
  std::vector<std::string_view> list;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("; "), text.size());
    list.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return list;
}

std::optional<DType> take_dtype(std::string_view &words) {
  for (int i = 0; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (take(words, std::string(name_of(dtype)) + " ")) return dtype;
  }
  return std::nullopt;
}

/// Of "[[1, 2], [3, 4]]": the elements and the shape.
void read_integers(std::string_view words, std::vector<std::int64_t> &values, Shape &shape) {
  std::vector<std::int64_t> counts;
  std::size_t depth = 0;
  for (std::size_t at = 0; at < words.size();) {
    const char c = words[at];
    if (c == '[') {
      if (++depth > counts.size()) {
        counts.push_back(0);
        shape.push_back(0);
      }
      counts[depth - 1] = words[at + 1] == ']' ? 0 : 1;
      ++at;
    } else if (c == ']') {
      --depth;
      shape[static_cast<std::int64_t>(depth)] = counts[depth];
      ++at;
    } else if (c == ',' || c == ' ') {
      if (c == ',') ++counts[depth - 1];
      ++at;
    } else {
      std::size_t length = 0;
      values.push_back(std::stoll(std::string(words.substr(at)), &length));
      at += length;
    }
  }
}

Shape read_shape(std::string_view words) {
  Shape shape;
  if (words == "scalar") return shape;
  for (std::size_t at = 0; at <= words.size();) {
    const std::size_t end = std::min(words.find('x', at), words.size());
    shape.push_back(std::stoll(std::string(words.substr(at, end - at))));
    at = end + 1;
  }
  return shape;
}

SampleOperand read_operand(std::string_view words, const OperandInfo &info) {
  SampleOperand operand;
  operand.dtype = take_dtype(words);
  if (take(words, "finite ")) operand.elements = SampleOperand::Elements::finite;
  else if (take(words, "regular ")) operand.elements = SampleOperand::Elements::regular;
  else if (take(words, "definite ")) operand.elements = SampleOperand::Elements::definite;
  if (take(words, "transposed ")) operand.view = SampleOperand::View::transposed;
  else if (take(words, "backwards ")) operand.view = SampleOperand::View::backwards;
  else if (take(words, "strided ")) operand.view = SampleOperand::View::strided;
  const bool counts = info.role == OperandRole::index;
  if (words == "special") {
    operand.elements = SampleOperand::Elements::special;
  } else if (words.starts_with('[') ||
             (counts && words.find('x') == std::string_view::npos && words != "scalar")) {
    operand.elements = SampleOperand::Elements::given;
    read_integers(words, operand.values, operand.shape);
  } else {
    operand.shape = read_shape(words);
    // Drawn indices would be out of range.
    if (counts) operand.elements = SampleOperand::Elements::given;
  }
  return operand;
}

Attr read_attr(std::string_view words, const AttrInfo &info) {
  switch (info.kind) {
  case AttrKind::flag: return words == "true";
  case AttrKind::axis:
  case AttrKind::number:
  case AttrKind::count: return std::int64_t{std::stoll(std::string(words))};
  case AttrKind::axes:
  case AttrKind::permutation:
  case AttrKind::per_axis:
  case AttrKind::spatial:
  case AttrKind::shape: {
    std::vector<std::int64_t> values;
    Shape shape;
    read_integers(words, values, shape);
    return Ints(values.begin(), values.end());
  }
  case AttrKind::dtype:
    for (int i = 0; i < kNumDTypes; ++i)
      if (name_of(static_cast<DType>(i)) == words) return static_cast<DType>(i);
    break;
  case AttrKind::constant:
    if (const std::optional<DType> dtype = take_dtype(words))
      return constant_of(sample(*dtype, read_shape(words), 3));
    break;
  case AttrKind::text:
  case AttrKind::variable: break;
  }
  refuse(info.name, words);
}

template <class T>
inline constexpr bool is_complex_type = false;
template <class T>
inline constexpr bool is_complex_type<std::complex<T>> = true;

template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  if constexpr (is_complex_type<T>) {
    // Each part with some of the other.
    using Part = typename T::value_type;
    const Part parts[] = {Part(0),     Part(-0.0), Part(1),        Part(-2.5),      Part(1e-3),
                          Part(20.25), Part(1e10), Part(INFINITY), Part(-INFINITY), Part(NAN)};
    std::vector<T> values;
    for (std::size_t i = 0; i < std::size(parts); ++i)
      for (const std::size_t j : {i, 3 * i + 1, 7 * i + 2})
        values.emplace_back(parts[i], parts[j % std::size(parts)]);
    return values;
  } else if constexpr (std::same_as<T, bool>) return {false, true};
  else if constexpr (is_floating_type<T>)
    return {T(0),
            T(-0.0),
            T(1),
            T(-1),
            T(0.5),
            T(-2.5),
            T(3),
            T(1e-3),
            T(20.25),
            T(-88.75),
            T(710),
            T(1e10),
            Limits::infinity(),
            T(-Limits::infinity()),
            Limits::quiet_NaN(),
            Limits::denorm_min(),
            T(-Limits::min()),
            Limits::max(),
            Limits::lowest()};
  else
    return {T(0), T(1), T(-1), T(2), T(-3), T(7), T(31), T(100000), Limits::max(), Limits::min()};
}

/// std::vector<bool> has no elements in a row.
template <class T>
Tensor make(const std::vector<T> &values, const Shape &shape) {
  if constexpr (std::same_as<T, bool>) {
    std::vector<std::int32_t> numbers(values.begin(), values.end());
    return cast(tensor(numbers, shape), DType::boolean);
  } else {
    return tensor(values, shape);
  }
}

} // namespace

Tensor SampleOperand::as_wanted(const Tensor &drawn) const {
  const bool definite = elements == Elements::definite;
  if (!definite && elements != Elements::regular) return drawn;
  const std::int64_t size = drawn.size(-1);
  const Tensor diagonal = cast(4 * size + 1, drawn.dtype()) * eye(size, drawn.dtype());
  if (definite) return 0.5 * (drawn + conj(swapaxes(drawn, -1, -2))) + diagonal;
  // Of more rows than columns the last ones are as they are drawn.
  const std::int64_t more = drawn.size(-2) - size;
  const Tensor shifted = reverse(diagonal, {1});
  return drawn + (more > 0 ? concatenate({shifted, zeros({more, size}, drawn.dtype())}) : shifted);
}

Tensor SampleOperand::seen(const Tensor &whole) const {
  switch (view) {
  case View::whole: return whole;
  case View::transposed: {
    Ints axes;
    for (std::int64_t i = shape.rank(); i-- > 0;) axes.push_back(i);
    return whole.transpose(axes);
  }
  case View::backwards: return whole[slice({}, {}, -2)];
  case View::strided: return whole[slice({}, {}, 2)];
  }
  return whole;
}

std::vector<OpSample> samples_of(OpCode op) {
  const OpInfo &info = op_info(op);
  std::vector<OpSample> samples;
  for (const Row &row : kRows) {
    if (row.op != op) continue;
    OpSample sample{op,
                    std::string(info.name) + "(" + std::string(row.operands) + " | " +
                        std::string(row.attrs) + ")",
                    {},
                    {}};
    for (std::string_view words : parts(row.operands))
      sample.operands.push_back(read_operand(words, operand_info(info, sample.operands.size())));
    for (std::string_view words : parts(row.attrs))
      sample.attrs.push_back(read_attr(words, info.attrs[sample.attrs.size()]));
    samples.push_back(std::move(sample));
  }
  return samples;
}

std::vector<DType> admitted(const DTypeSet &set) {
  std::vector<DType> dtypes;
  for (int i = 0; i < kNumDTypes; ++i)
    if (set.contains(static_cast<DType>(i))) dtypes.push_back(static_cast<DType>(i));
  return dtypes;
}

const OperandInfo &operand_info(const OpInfo &info, std::size_t i) {
  return info.operands[std::min(i, info.operands.size() - 1)];
}

std::size_t special_count(DType dtype) {
  return visit_dtype(dtype, []<class T>() { return special_values<T>().size(); });
}

Tensor specials(DType dtype, std::size_t count, std::size_t stride) {
  return visit_dtype(dtype, [&]<class T>() {
    const std::vector<T> special = special_values<T>();
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = special[i / stride % special.size()];
    return make(values, Shape{static_cast<std::int64_t>(count)});
  });
}

Tensor sample(DType dtype, const Shape &shape, int seed, bool finite) {
  return visit_dtype(dtype, [&]<class T>() {
    const std::vector<T> special = special_values<T>();
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    std::vector<T> values(static_cast<std::size_t>(count));
    std::uint64_t state = 0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(seed + 1);
    for (std::size_t i = 0; i < values.size(); ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const std::uint64_t bits = state >> 33;
      if (bits % 16 == 0 && !finite) values[i] = special[bits / 16 % special.size()];
      else if constexpr (std::same_as<T, bool>) values[i] = bits >> 8 & 1;
      else if constexpr (std::floating_point<T>) values[i] = T(bits % 80001) / T(10000) - T(4);
      else if constexpr (is_complex_type<T>)
        values[i] = {static_cast<typename T::value_type>(bits % 80001) / 10000 - 4,
                     static_cast<typename T::value_type>(bits % 70001) / 10000 - 3};
      else if constexpr (is_floating_type<T>)
        values[i] = T(static_cast<float>(bits % 80001) / 10000 - 4);
      else values[i] = static_cast<T>(static_cast<std::int64_t>(bits % 201) - 100);
    }
    return make(values, shape);
  });
}

Tensor given(const std::vector<std::int64_t> &values, const Shape &shape, DType dtype) {
  return cast(tensor(values, shape), dtype);
}

ConstantRef constant_of(const Tensor &tensor) {
  const Tensor dense = tensor.contiguous();
  auto data = std::make_shared<ConstantData>();
  data->type = dense.type();
  data->bytes = dense.impl()->data;
  data->owner = std::make_shared<Tensor>(dense);
  return data;
}

} // namespace weft::test
