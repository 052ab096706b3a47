// Which arguments are drawn, and how often: mostly such that fit each other, and each kind of wrong
// one now and then.
#include "Draw.h"

#include <algorithm>
#include <array>
#include <limits>
#include <sstream>

namespace weft::fuzz {

template <class Result>
Result Argument::as() const {
  switch (kind_) {
  case Kind::boolean: return Result(integer_ != 0);
  case Kind::integer: return Result(static_cast<std::int64_t>(integer_));
  case Kind::large: return Result(integer_);
  case Kind::floating: return Result(floating_);
  case Kind::tensor: break;
  }
  return Result(tensor_);
}

Argument::operator Operand() const { return as<Operand>(); }

OptionalOperand Argument::optional() const { return as<OptionalOperand>(); }

// splitmix64 (Steele, Lea & Flood 2014).
std::uint64_t Draw::Random::next() {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

namespace {

const std::set<int> &nothing() {
  static const std::set<int> none;
  return none;
}

constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min(),
                       kHigh = std::numeric_limits<std::int64_t>::max();

std::string text_of(double value) {
  std::ostringstream out;
  out.precision(17);
  out << value;
  return out.str();
}

} // namespace

Draw::Draw(std::uint64_t seed, const std::set<int> &plain, const std::vector<Tensor> *inputs)
    : seed_(seed), plain_(plain.empty() ? &nothing() : &plain), inputs_(inputs) {
  Random random(seed * 0x2545f4914f6cdd1d + 1);
  constexpr DType dtypes[] = {f32, f32, f32, f32, f64, i32, i64, boolean, u8, i8, u16, u64};
  dtype_ = dtypes[random.below(std::size(dtypes))];
  for (std::uint64_t rank = random.below(4); rank > 0; --rank)
    shape_.push_back(std::array<std::int64_t, 8>{0, 1, 1, 2, 2, 3, 4, 5}[random.below(8)]);
}

Draw::Random Draw::begin() {
  return Random((seed_ + 1) * 0x9e3779b97f4a7c15 ^ static_cast<std::uint64_t>(++number_) << 40);
}

std::uint64_t Draw::choose(std::uint64_t n) {
  Random random = begin();
  const std::uint64_t chosen = is_plain() ? 0 : random.below(n);
  note("choice", std::to_string(chosen));
  return chosen;
}

void Draw::note(const char *name, const std::string &text) {
  if (!text_.empty()) text_ += ", ";
  text_ += std::string(name) + " = " + text;
}

Shape Draw::shape_near(Random &random) const {
  Shape shape = shape_;
  const std::uint64_t way = random.below(16);
  if (way < 8) return shape;
  if (way < 10 && !shape.empty()) shape[random.below(shape.size())] = 1;
  else if (way < 12 && !shape.empty()) shape.erase(0);
  else if (way < 13) shape.insert(0, 2);
  else if (way < 14) shape.insert(0, 1);
  else if (way < 15 && !shape.empty())
    shape[random.below(shape.size())] = static_cast<std::int64_t>(random.below(6));
  else if (random.one_in(8)) shape = Shape(random.one_in(2) ? 8 : 40, 1);
  else shape = {static_cast<std::int64_t>(random.below(70))};
  return shape;
}

std::int64_t Draw::integer(Random &random) const {
  constexpr std::int64_t edges[] = {kLow,
                                    kLow + 1,
                                    kHigh,
                                    kHigh - 1,
                                    std::int64_t{1} << 31,
                                    -(std::int64_t{1} << 31),
                                    (std::int64_t{1} << 31) - 1,
                                    std::int64_t{1} << 62,
                                    std::int64_t{1} << 60,
                                    std::int64_t{1} << 40,
                                    256,
                                    255,
                                    64};
  if (random.one_in(12)) return edges[random.below(std::size(edges))];
  if (random.one_in(3)) return static_cast<std::int64_t>(random.below(9)) - 4;
  return static_cast<std::int64_t>(random.below(3));
}

double Draw::floating(Random &random) const {
  using Limits = std::numeric_limits<double>;
  constexpr double edges[] = {Limits::infinity(),
                              -Limits::infinity(),
                              Limits::quiet_NaN(),
                              Limits::max(),
                              Limits::lowest(),
                              Limits::denorm_min(),
                              1e300,
                              -1e300,
                              1e39,
                              -0.0,
                              0,
                              -1};
  if (random.one_in(5)) return edges[random.below(std::size(edges))];
  return static_cast<double>(random.below(4000)) / 1000 - (random.one_in(4) ? 2 : 0);
}

Ints Draw::ints(Random &random) const {
  const auto rank = static_cast<std::int64_t>(shape_.size());
  Ints result;
  switch (random.below(8)) {
  case 0:
  case 1: // a permutation
    for (std::int64_t i = 0; i < rank; ++i)
      result.insert(random.below(static_cast<std::uint64_t>(i) + 1), i);
    return result;
  case 2: return shape_near(random);
  case 3: return Ints(shape_.size(), 0);
  case 4: return Ints(shape_.size(), 1);
  case 5: return {rank == 0 ? 0 : static_cast<std::int64_t>(random.below(shape_.size()))};
  case 6:
    result = shape_;
    if (!result.empty()) result[random.below(result.size())] = integer(random);
    return result;
  default:
    for (std::uint64_t i = random.below(4); i > 0; --i) result.push_back(integer(random));
    return result;
  }
}

Tensor Draw::make_tensor(Random &random) {
  if (is_plain()) return ones({2}, *dtype_);
  const DType dtype = random.one_in(5) ? static_cast<DType>(random.below(kNumDTypes)) : *dtype_;
  const Shape shape = shape_near(random);
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  std::vector<double> values(static_cast<std::size_t>(count));
  const bool edges = random.one_in(4);
  for (double &value : values) {
    value = edges && random.one_in(3) ? floating(random)
            : is_floating(dtype)      ? static_cast<double>(random.below(4000)) / 1000 - 1.5
                                      : static_cast<double>(random.below(6)) - (edges ? 3 : 0);
  }
  Tensor drawn = cast(weft::tensor(values, shape), dtype);
  // A view of the same values, whose elements are not contiguous.
  if (random.one_in(6) && shape.size() == 2)
    drawn = transpose(transpose(drawn, {1, 0}).contiguous(), {1, 0});
  else if (random.one_in(12) && !shape.empty()) drawn = reverse(drawn, {.axes = Ints{0}});
  return drawn;
}

Tensor Draw::take(Tensor drawn) {
  drawn_.push_back(std::move(drawn));
  if (inputs_ == nullptr) return drawn_.back();
  return drawn_.size() <= inputs_->size() ? (*inputs_)[drawn_.size() - 1] : drawn_.back();
}

Tensor Draw::tensor(const char *name) {
  Random random = begin();
  Tensor drawn = make_tensor(random);
  note(name, to_string(drawn));
  return take(std::move(drawn));
}

std::vector<Tensor> Draw::tensors(const char *name) {
  std::vector<Tensor> list;
  const std::uint64_t count = 2 + choose(4);
  for (std::uint64_t i = 0; i < count; ++i) list.push_back(tensor(name));
  if (Random random = begin(); !is_plain() && random.one_in(30)) {
    note(name, "undefined");
    list[random.below(count)] = Tensor();
  }
  return list;
}

Argument Draw::operand(const char *name) {
  Random random = begin();
  const std::uint64_t way = is_plain() ? 99 : random.below(100);
  using Kind = Argument::Kind;
  if (way < 2) {
    note(name, "undefined");
    return Argument(Tensor());
  }
  if (way < 14) {
    const auto kind = static_cast<Kind>(1 + random.below(4));
    const std::int64_t whole = integer(random);
    const double real = floating(random);
    const std::uint64_t bits = kind == Kind::large ? ~std::uint64_t{0} - random.below(3)
                                                   : static_cast<std::uint64_t>(whole);
    note(name, kind == Kind::boolean    ? (bits != 0 ? "true" : "false")
               : kind == Kind::integer  ? std::to_string(whole)
               : kind == Kind::floating ? text_of(real)
                                        : std::to_string(bits));
    return {kind, bits, real};
  }
  Tensor drawn = make_tensor(random);
  note(name, to_string(drawn));
  return Argument(take(std::move(drawn)));
}

OptionalArgument Draw::optional(const char *name) {
  if (choose(3) == 0) return {};
  return OptionalArgument(operand(name));
}

Tensor Draw::key(const char *name) {
  if (choose(8) == 0) return tensor(name);
  Random random = begin();
  const std::uint64_t first = random.next(), second = random.next();
  const Tensor drawn = weft::tensor({first, second});
  note(name, to_string(drawn));
  return take(drawn);
}

Tensor Draw::state(const char *name) {
  if (choose(8) == 0) return tensor(name);
  Random random = begin();
  const auto seed = static_cast<std::int64_t>(random.next());
  const Tensor drawn = weft::tensor({seed, static_cast<std::int64_t>(random.next())});
  note(name, to_string(drawn));
  return take(drawn);
}

template <>
bool Draw::value<bool>(const char *name) {
  Random random = begin();
  const bool result = !is_plain() && random.one_in(2);
  note(name, result ? "true" : "false");
  return result;
}
template <>
std::int64_t Draw::value<std::int64_t>(const char *name) {
  Random random = begin();
  const std::int64_t result = is_plain() ? 0 : integer(random);
  note(name, std::to_string(result));
  return result;
}
template <>
std::uint64_t Draw::value<std::uint64_t>(const char *name) {
  Random random = begin();
  const std::uint64_t result = is_plain() ? 0 : random.one_in(4) ? random.next() : random.below(9);
  note(name, std::to_string(result));
  return result;
}
template <>
double Draw::value<double>(const char *name) {
  Random random = begin();
  const double result = is_plain() ? 0.5 : floating(random);
  note(name, text_of(result));
  return result;
}
template <>
DType Draw::value<DType>(const char *name) {
  Random random = begin();
  DType result = is_plain()         ? f32
                 : random.one_in(3) ? static_cast<DType>(random.below(kNumDTypes))
                                    : *dtype_;
  if (!is_plain() && random.one_in(25)) result = static_cast<DType>(kNumDTypes + random.below(200));
  note(name, "DType(" + std::to_string(static_cast<int>(result)) + ")");
  return result;
}
template <>
Ints Draw::value<Ints>(const char *name) {
  Random random = begin();
  const Ints result = is_plain() ? Ints{0} : ints(random);
  note(name, to_string(Shape(result)));
  return result;
}
template <>
Shape Draw::value<Shape>(const char *name) {
  Random random = begin();
  const Shape result = is_plain()         ? Shape{2}
                       : random.one_in(3) ? Shape(ints(random))
                                          : shape_near(random);
  note(name, to_string(result));
  return result;
}
template <>
std::string Draw::value<std::string>(const char *name) {
  Random random = begin();
  constexpr const char *texts[] = {"",         "name",       "{}",        "a {} b {}",
                                   "{",        "../x",       "\n",        "\"@",
                                   "\xff\xfe", "loss is {}", "ij,jk->ik", "...i,...j"};
  const std::string result = is_plain() ? "name" : texts[random.below(std::size(texts))];
  note(name, "'" + result + "'");
  return result;
}
template <>
Axes Draw::value<Axes>(const char *name) {
  if (choose(3) == 0) return std::nullopt;
  return value<Ints>(name);
}
template <>
std::optional<std::int64_t> Draw::value<std::optional<std::int64_t>>(const char *name) {
  if (choose(3) == 0) return std::nullopt;
  return value<std::int64_t>(name);
}
template <>
std::optional<Sizes> Draw::value<std::optional<Sizes>>(const char *name) {
  if (choose(2) == 0) return std::nullopt;
  return Sizes(value<Ints>(name));
}
template <>
IntList Draw::value<IntList>(const char *name) {
  return value<Ints>(name);
}
template <>
Integers Draw::value<Integers>(const char *name) {
  if (choose(3) == 0) return value<std::int64_t>(name);
  if (choose(3) == 0) return Integers(weft::tensor(value<std::int64_t>(name)));
  return value<Ints>(name);
}
template <>
std::optional<Size> Draw::value<std::optional<Size>>(const char *name) {
  if (choose(3) == 0) return std::nullopt;
  return Size(value<std::int64_t>(name));
}
template <>
RealList Draw::value<RealList>(const char *name) {
  if (choose(2) == 0) return value<double>(name);
  return std::vector<double>{value<double>(name), 0.5};
}
template <>
NormOrder Draw::value<NormOrder>(const char *name) {
  switch (choose(3)) {
  case 0: return {};
  case 1: return "fro";
  default: return value<double>(name);
  }
}
template <>
TakeMode Draw::value<TakeMode>(const char *) {
  return static_cast<TakeMode>(choose(3));
}
template <>
SearchSide Draw::value<SearchSide>(const char *) {
  return static_cast<SearchSide>(choose(2));
}
template <>
GridIndexing Draw::value<GridIndexing>(const char *) {
  return static_cast<GridIndexing>(choose(2));
}
template <>
PadMode Draw::value<PadMode>(const char *) {
  return static_cast<PadMode>(choose(10));
}
template <>
ScatterReduction Draw::value<ScatterReduction>(const char *) {
  return static_cast<ScatterReduction>(choose(5));
}
template <>
QuantileMethod Draw::value<QuantileMethod>(const char *) {
  return static_cast<QuantileMethod>(choose(5));
}
template <>
ConvolveMode Draw::value<ConvolveMode>(const char *) {
  return static_cast<ConvolveMode>(choose(3));
}
template <>
PadWidths Draw::value<PadWidths>(const char *name) {
  if (choose(2) == 0) return value<std::int64_t>(name);
  std::vector<std::array<std::int64_t, 2>> pairs;
  for (const std::int64_t number : value<Ints>(name)) pairs.push_back({number, 1});
  return pairs;
}
template <>
Bins Draw::value<Bins>(const char *name) {
  if (choose(2) == 0) return value<std::int64_t>(name);
  return std::vector<double>{0, value<double>(name)};
}
template <>
Size Draw::value<Size>(const char *name) {
  return value<std::int64_t>(name);
}
template <>
std::optional<RealList> Draw::value<std::optional<RealList>>(const char *name) {
  if (choose(3) == 0) return std::nullopt;
  return value<RealList>(name);
}
template <>
std::optional<DType> Draw::value<std::optional<DType>>(const char *name) {
  if (choose(3) == 0) return std::nullopt;
  return value<DType>(name);
}
template <>
fft::Norm Draw::value<fft::Norm>(const char *) {
  return static_cast<fft::Norm>(choose(3));
}
template <>
linalg::QrMode Draw::value<linalg::QrMode>(const char *) {
  return static_cast<linalg::QrMode>(choose(2));
}
template <>
ContractedAxes Draw::value<ContractedAxes>(const char *name) {
  if (choose(2) == 0) return value<std::int64_t>(name);
  return {value<Ints>(name), value<Ints>(name)};
}
template <>
Sections Draw::value<Sections>(const char *name) {
  if (choose(2) == 0) return value<std::int64_t>(name);
  return value<Ints>(name);
}
template <>
std::optional<double> Draw::value<std::optional<double>>(const char *name) {
  if (choose(3) == 0) return std::nullopt;
  return value<double>(name);
}

} // namespace weft::fuzz
