// Tensors: immutable, reference-counted arrays of numbers.
#pragma once

#include <array>
#include <complex>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <weft/detail/tensor_impl.h>
#include <weft/error.h>
#include <weft/shape.h>
#include <weft/source.h>

namespace weft {

struct MemoryOptions;
struct ReduceAllOptions;
class Index;
class Operand;
class Size;
class Sizes;
class Tensor;
class TensorAt;
class Variable;
class VariableAt;

namespace detail {
/// Throws StateError: somebody asked an undefined tensor for more than `defined()`, by that member.
[[noreturn]] void throw_undefined(const char *member, const std::source_location &where);
TensorType type_of(const Tensor &tensor);
/// What the sizes are in the call that a trace is for, as far as it is for one and knows them: all
/// that a trace of that call alone would know.
Shape hint_of(const Tensor &tensor);
/// The shape; of a traced tensor the one in the call that its trace is for, which is then pinned to
/// it, and `unknown` for sizes that it does not know.
Shape shape_for_call(const Tensor &tensor);
/// One size of it.
std::int64_t size_for_call(const Tensor &tensor, std::int64_t axis);

/// What the compiler says of other element types.
#define WEFT_ELEMENT_WANTED(what)                                                                  \
  what ": T must be the C++ type of a dtype: bool, std::int32_t, std::int64_t, float or double, "  \
       ".."
} // namespace detail

/// A cheap handle to an immutable array. Copies share elements, and may be used from any thread. A
/// default-constructed tensor is undefined: it has no dtype or shape, and all but `defined()`
/// throws StateError. Inside a traced function tensors stand for values to come: they have dtype
/// and shape but no elements.
class Tensor {
public:
  Tensor() = default;
  /// The variable's present value, as Variable::value() reads it.
  Tensor(const Variable &variable, std::source_location where = WEFT_HERE);
  /// The present values of some of a variable's elements.
  Tensor(const VariableAt &elements, std::source_location where = WEFT_HERE);
  Tensor(const Tensor &other) noexcept : impl_(other.impl_) { detail::retain(impl_); }
  Tensor(Tensor &&other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
  Tensor &operator=(const Tensor &other) & noexcept {
    Tensor(other).swap(*this);
    return *this;
  }
  Tensor &operator=(Tensor &&other) & noexcept {
    Tensor(std::move(other)).swap(*this);
    return *this;
  }
  /// Not of what an expression gave: `x[0] = y` would change a temporary and nothing else.
  template <class Value>
  void operator=(Value &&) && { // NOLINT(misc-unconventional-assign-operator): it only refuses
    static_assert(std::is_void_v<Value>,
                  "tensors do not change: write x = x.at(0).set(y) for x[0] = y, or "
                  "v[0].assign(y) of a Variable");
  }
  ~Tensor() { detail::release(impl_); }
  void swap(Tensor &other) noexcept { std::swap(impl_, other.impl_); }

  // weft/foreign_memory.h defines these.

  /// A tensor on memory of somebody else, without a copy: of a pointer, a span, or a view with the
  /// members of `std::mdspan`. See MemoryOptions for strides, owners and deleters.
  template <class T>
  static Tensor from_memory(T *data, const Shape &shape, std::source_location where = WEFT_HERE);
  template <class T>
  static Tensor from_memory(T *data, const Shape &shape, const MemoryOptions &options,
                            std::source_location where = WEFT_HERE);
  template <class T, std::size_t N>
  static Tensor from_memory(std::span<T, N> memory, std::source_location where = WEFT_HERE);
  template <class T, std::size_t N>
  static Tensor from_memory(std::span<T, N> memory, const Shape &shape,
                            std::source_location where = WEFT_HERE);
  template <class T, std::size_t N>
  static Tensor from_memory(std::span<T, N> memory, const Shape &shape,
                            const MemoryOptions &options, std::source_location where = WEFT_HERE);
  template <class View, class = decltype(std::declval<const View &>().data_handle())>
  static Tensor from_memory(const View &view, std::source_location where = WEFT_HERE);
  template <class View, class = decltype(std::declval<const View &>().data_handle())>
  static Tensor from_memory(const View &view, const MemoryOptions &options,
                            std::source_location where = WEFT_HERE);
  /// A new tensor whose elements `fill(std::span<T>)` writes, row-major, where they stay:
  /// `Tensor::filled<float>({480, 640}, [&](std::span<float> to) { camera.read(to); })`.
  template <class T, class Fill>
  static Tensor filled(const Shape &shape, const Fill &fill,
                       std::source_location where = WEFT_HERE);

  bool defined() const { return impl_ != nullptr; }

  // Of an undefined tensor all that follows is a StateError.

  DType dtype(std::source_location where = WEFT_HERE) const {
    return checked("dtype", where).dtype;
  }
  /// Of a traced tensor with open sizes it is the shape in the call that is traced, which the trace
  /// is pinned to, and `unknown` where a size is not known: in open signatures, and where it
  /// depends on values. `size(axis)` is the size for all calls.
  Shape shape(std::source_location where = WEFT_HERE) const {
    const detail::TensorImpl &impl = checked("shape", where);
    if (impl.storage == detail::Storage::traced) [[unlikely]]
      return detail::shape_for_call(*this);
    return Shape(impl.sizes());
  }
  std::int64_t rank(std::source_location where = WEFT_HERE) const {
    return checked("rank", where).rank;
  }
  /// Size of one axis: a number, or of an open axis of a traced tensor a value for all calls. A
  /// negative axis counts from the end. Throws IndexError.
  Size size(std::int64_t axis, std::source_location where = WEFT_HERE) const;
  /// Number of elements, as `shape()` knows it.
  std::int64_t size(std::source_location where = WEFT_HERE) const {
    const detail::TensorImpl &impl = checked("size", where);
    return impl.size == unknown ? open_count() : impl.size;
  }
  Device device(std::source_location where = WEFT_HERE) const {
    return checked("device", where).device;
  }
  TensorType type(std::source_location where = WEFT_HERE) const {
    return {checked("type", where).dtype, shape(where)};
  }
  /// Whether it stands for a value of a trace.
  bool traced(std::source_location where = WEFT_HERE) const {
    return checked("traced", where).storage == detail::Storage::traced;
  }

  // Element types have names that every compiler writes alike only where no constraint is part of
  // them: these members are inline, and what the library exports takes a dtype.

  /// The only element as a C++ value, converted from the tensor's dtype as the op `cast` converts.
  /// Throws ShapeError if there is not exactly one element, StateError on a traced tensor.
  template <class T>
  T item(std::source_location where = WEFT_HERE) const {
    static_assert(Element<T>, WEFT_ELEMENT_WANTED("item<T>()"));
    T value{};
    if constexpr (Element<T>) item_as(dtype_of<T>, &value, where);
    return value;
  }
  /// The elements, row-major. `T` must be the C++ type of the dtype (DTypeError) and the tensor
  /// contiguous (see `contiguous()`; StateError) and on the CPU (see `to()`; DeviceError). Valid as
  /// long as the tensor.
  template <class T>
  std::span<const T> span(std::source_location where = WEFT_HERE) const {
    static_assert(Element<T>, WEFT_ELEMENT_WANTED("span<T>()"));
    if constexpr (Element<T>)
      return {static_cast<const T *>(checked_data(dtype_of<T>, where)),
              static_cast<std::size_t>(size(where))};
    else return {};
  }
  /// The elements copied out, row-major, converted from the tensor's dtype as the op `cast`
  /// converts. Throws StateError on a traced tensor.
  template <class T>
  std::vector<T> to_vector(std::source_location where = WEFT_HERE) const {
    static_assert(Element<T>, WEFT_ELEMENT_WANTED("to_vector<T>()"));
    if constexpr (Element<T>) {
      const Tensor source = elements_as(dtype_of<T>, where);
      const auto *first = reinterpret_cast<const T *>(source.impl_->data);
      return std::vector<T>(first, first + source.impl_->size);
    } else {
      return {};
    }
  }

  bool is_contiguous(std::source_location where = WEFT_HERE) const {
    return detail::in_order(checked("is_contiguous", where));
  }
  /// The same tensor if it is row-major without gaps, otherwise such a copy.
  Tensor contiguous(std::source_location where = WEFT_HERE) const;
  /// The same elements on another device, `x.to("gpu:0")`, or the tensor itself if it is there.
  /// Throws DeviceError, which says why, if the device cannot be used, and OutOfMemory; StateError
  /// on a traced tensor, whose values are where its function runs.
  Tensor to(Device device, std::source_location where = WEFT_HERE) const;
  /// The same values in another dtype, as the op `cast` converts them.
  Tensor astype(DType dtype, std::source_location where = WEFT_HERE) const;

  /// NumPy's basic indexing with integers, slices, `all`, `ellipsis` and `newaxis`:
  /// `x[{1, all}]`, `x[{slice({}, {}, -1), 0}]`. Throws IndexError. Without the braces `x[1, 0]` is
  /// `x[0]` in C++20, of which compilers warn; from C++23 on it is `x[{1, 0}]`.
  Tensor operator[](std::initializer_list<Index> indices) const;
  Tensor operator[](const Index &index) const;
#ifdef __cpp_multidimensional_subscript
  template <class... Rest>
  Tensor operator[](const Index &first, const Index &second, const Rest &...rest) const;
#endif

  /// The elements at an index, for updates that give a new tensor: `x.at({0, all}).set(1)`,
  /// `x.at(2).add(y)`. The index is as in `x[...]`.
  TensorAt at(std::initializer_list<Index> indices) const;
  TensorAt at(const Index &index) const;

  // The members below are the free functions of the same names (weft/ops.h) with `*this` first.
  Tensor sum(Axes axes = {}, bool keepdims = false, std::source_location where = WEFT_HERE) const;
  Tensor mean(Axes axes = {}, bool keepdims = false, std::source_location where = WEFT_HERE) const;
  Tensor max(Axes axes = {}, bool keepdims = false, std::source_location where = WEFT_HERE) const;
  Tensor min(Axes axes = {}, bool keepdims = false, std::source_location where = WEFT_HERE) const;
  Tensor reshape(const Ints &shape, std::source_location where = WEFT_HERE) const;
  Tensor transpose(const Ints &permutation, std::source_location where = WEFT_HERE) const;
  /// The last two axes swapped. Throws ShapeError for a rank below 2.
  Tensor mT(std::source_location where = WEFT_HERE) const;

  /// For the library itself.
  friend TensorType detail::type_of(const Tensor &tensor);
  explicit Tensor(detail::TensorImpl *owned) : impl_(owned) {}
  detail::TensorImpl *impl() const { return impl_; }
  detail::TensorImpl *detach() && { return std::exchange(impl_, nullptr); }

private:
  detail::TensorImpl &checked(const char *member, const std::source_location &where) const {
    if (__builtin_expect(impl_ == nullptr, 0)) detail::throw_undefined(member, where);
    return *impl_;
  }
  const void *checked_data(DType wanted, const std::source_location &where) const;
  void item_as(DType dtype, void *value, const std::source_location &where) const;
  Size open_size(std::int64_t axis, const std::source_location &where) const;
  std::int64_t open_count() const;
  /// Contiguous, and of that dtype.
  Tensor elements_as(DType dtype, const std::source_location &where) const;

  detail::TensorImpl *impl_ = nullptr;
};

/// The type of a tensor as its trace knows it; unlike `Tensor::type()` and `shape()` this does not
/// tell the trace that the program wants to know sizes which may be `unknown`.
inline TensorType detail::type_of(const Tensor &tensor) {
  const TensorImpl &impl = tensor.checked("type", std::source_location());
  return {impl.dtype, Shape(impl.sizes())};
}

/// The number of a size is asked for, which a traced function knows only when it runs.
class SymbolicSizeError : public StateError {
public:
  using StateError::StateError;
};

namespace detail {
template <class T>
inline constexpr bool is_size = std::is_same_v<T, Size>;
template <class A, class B>
using IfSizes =
    std::enable_if_t<(is_size<A> || is_size<B>) && (is_size<A> || std::is_integral_v<A>) &&
                     (is_size<B> || std::is_integral_v<B>)>;
} // namespace detail

/// A size: a number, or an integer scalar of a trace, which is known only when the function runs:
/// `Size n = x.size(0); reshape(y, {n, n * 2, -1})`. Arithmetic is of integers; numbers stay
/// numbers. Where a number is asked for (`std::int64_t m = n`, `n > 2`, a loop's bound) it is that
/// of the call that is traced, and the trace serves calls of the same sizes only; where the trace
/// cannot know it, that is a SymbolicSizeError.
class Size {
public:
  Size() = default;
  template <class Number, class = detail::IfInteger<Number>>
  Size(Number number) : number_(static_cast<std::int64_t>(number)) {}
  /// Throws DTypeError unless it is an integer, ShapeError unless it is a scalar.
  Size(const Tensor &scalar, std::source_location where = WEFT_HERE);

  operator std::int64_t() const { return is_number() ? number_ : in_this_call(); }

  bool is_number() const { return !value_.defined(); }
  /// The number; detail::kDynamic if it is none.
  std::int64_t number() const { return number_; }
  /// As an i64 scalar.
  Tensor tensor() const;
  /// The traced scalar; undefined of a number.
  const Tensor &value() const { return value_; }

  Size operator-() const { return Size(0) - *this; }

  // Templates, so that tensors beside a size are not taken for sizes.
#define WEFT_SIZE_FUNCTION(result, name, function)                                                 \
  template <class A, class B, class = detail::IfSizes<A, B>>                                       \
  friend result name(const A &a, const B &b) {                                                     \
    return function(a, b);                                                                         \
  }
  WEFT_SIZE_FUNCTION(Size, operator+, sum)
  WEFT_SIZE_FUNCTION(Size, operator-, difference)
  WEFT_SIZE_FUNCTION(Size, operator*, product)
  /// Rounded down, and what is left then.
  WEFT_SIZE_FUNCTION(Size, operator/, quotient)
  WEFT_SIZE_FUNCTION(Size, operator%, rest)
  WEFT_SIZE_FUNCTION(Size, max, larger)
  WEFT_SIZE_FUNCTION(Size, min, smaller)
  // Two sizes that one value stands for are equal in all calls; else numbers are compared.
  WEFT_SIZE_FUNCTION(bool, operator==, 0 == compare)
  WEFT_SIZE_FUNCTION(bool, operator!=, 0 != compare)
  WEFT_SIZE_FUNCTION(bool, operator<, 0> compare)
  WEFT_SIZE_FUNCTION(bool, operator<=, 0 >= compare)
  WEFT_SIZE_FUNCTION(bool, operator>, 0 < compare)
  WEFT_SIZE_FUNCTION(bool, operator>=, 0 <= compare)
#undef WEFT_SIZE_FUNCTION

private:
  static Size sum(const Size &a, const Size &b);
  static Size difference(const Size &a, const Size &b);
  static Size product(const Size &a, const Size &b);
  static Size quotient(const Size &a, const Size &b);
  static Size rest(const Size &a, const Size &b);
  static Size larger(const Size &a, const Size &b);
  static Size smaller(const Size &a, const Size &b);
  /// As of numbers: below, equal or above 0.
  static int compare(const Size &a, const Size &b);
  std::int64_t in_this_call() const;

  std::int64_t number_ = 0;
  Tensor value_;
};

/// "7", or "?".
std::string to_string(const Size &size);
std::ostream &operator<<(std::ostream &out, const Size &size);

inline Size Tensor::size(std::int64_t axis, std::source_location where) const {
  const detail::TensorImpl &impl = checked("size", where);
  const std::int64_t at = axis < 0 ? axis + impl.rank : axis;
  if (at >= 0 && at < impl.rank && impl.dims()[at] != unknown) [[likely]]
    return impl.dims()[at];
  return open_size(axis, where);
}

/// Prints as `tensor([[8, 11],\n        [16, 23]], shape=(2, 2), dtype=f32)`; a scalar as its
/// number alone, like `print`. `to_string` writes shape and dtype of scalars too.
std::ostream &operator<<(std::ostream &out, const Tensor &tensor);
std::string to_string(const Tensor &tensor);

//===----------------------------------------------------------------------===//
// Making tensors
//===----------------------------------------------------------------------===//

namespace detail {

/// A tensor of `count` elements, copied. Throws ShapeError if the shape has another number of them.
Tensor tensor_of(DType dtype, const void *values, std::size_t count, const Shape &shape,
                 const std::source_location &where);

/// Writes the rows of a nested list behind each other. Throws ShapeError where it is ragged.
class NestedList {
public:
  NestedList(DType dtype, std::initializer_list<std::size_t> sizes,
             const std::source_location &where);
  /// So many rows come next: of a list of rank 3.
  void rows(std::size_t count) const;
  void row(const void *values, std::size_t count);
  Tensor finish() && { return std::move(tensor_); }

private:
  Tensor tensor_;
  std::byte *next_;
  std::source_location where_;
};

template <class T, class Write>
Tensor nested_tensor(std::initializer_list<std::size_t> sizes, const std::source_location &where,
                     const Write &write) {
  static_assert(Element<T>, WEFT_ELEMENT_WANTED("tensor({T, ...})"));
  if constexpr (Element<T>) {
    NestedList list(dtype_of<T>, sizes, where);
    write(list);
    return std::move(list).finish();
  } else {
    return Tensor();
  }
}

/// A number of any type in a list of several types, such as {1, 2.5}.
class Number {
public:
  template <class T, class = std::enable_if_t<Element<T>>>
  Number(T value) : dtype(dtype_of<T>) {
    if constexpr (is_floating_type<T>) floating = value;
    else if constexpr (!is_complex_number<T>) integer = value;
    else floating = value.real(), imaginary = value.imag();
  }

  DType dtype;
  union {
    std::int64_t integer;
    double floating;
  };
  double imaginary = 0; ///< of a complex one, whose real part is `floating`
};

/// Bools that lie behind each other in memory.
using Bools = InlineVector<bool, 64>;

} // namespace detail

/// A tensor of the nested list's elements: `tensor({{1.f, 2.f}, {3.f, 4.f}})`; its dtype is that of
/// the C++ type (int is i32, float f32, double f64, bool bool). Throws ShapeError on a ragged list.
template <class T>
Tensor tensor(T value, std::source_location where = WEFT_HERE) {
  static_assert(Element<T>, WEFT_ELEMENT_WANTED("tensor(T)"));
  if constexpr (Element<T>) return detail::tensor_of(dtype_of<T>, &value, 1, Shape(), where);
  else return Tensor();
}
template <class T>
Tensor tensor(std::initializer_list<T> values, std::source_location where = WEFT_HERE) {
  return detail::nested_tensor<T>({values.size()}, where,
                                  [&](auto &list) { list.row(values.begin(), values.size()); });
}
template <class T>
Tensor tensor(std::initializer_list<std::initializer_list<T>> values,
              std::source_location where = WEFT_HERE) {
  const std::size_t columns = values.size() == 0 ? 0 : values.begin()->size();
  return detail::nested_tensor<T>({values.size(), columns}, where, [&](auto &list) {
    for (const auto &row : values) list.row(row.begin(), row.size());
  });
}
template <class T>
Tensor tensor(std::initializer_list<std::initializer_list<std::initializer_list<T>>> values,
              std::source_location where = WEFT_HERE) {
  const std::size_t rows = values.size() == 0 ? 0 : values.begin()->size(),
                    columns = rows == 0 ? 0 : values.begin()->begin()->size();
  return detail::nested_tensor<T>({values.size(), rows, columns}, where, [&](auto &list) {
    for (const auto &matrix : values) {
      list.rows(matrix.size());
      for (const auto &row : matrix) list.row(row.begin(), row.size());
    }
  });
}

// Numbers of several types are promoted as tensors are: {1, 2.5} is of f64, {1, 2.5f} of f32.
Tensor tensor(std::initializer_list<detail::Number> values, std::source_location where = WEFT_HERE);
Tensor tensor(std::initializer_list<std::initializer_list<detail::Number>> values,
              std::source_location where = WEFT_HERE);
Tensor
tensor(std::initializer_list<std::initializer_list<std::initializer_list<detail::Number>>> values,
       std::source_location where = WEFT_HERE);

/// A tensor that copies `values` (row-major) in the given shape, of one axis if none is given.
/// Throws ShapeError if the counts differ.
template <class T>
Tensor tensor(std::span<T> values, const Shape &shape, std::source_location where = WEFT_HERE) {
  using Value = std::remove_const_t<T>;
  static_assert(Element<Value>, WEFT_ELEMENT_WANTED("tensor(span<T>)"));
  if constexpr (Element<Value>)
    return detail::tensor_of(dtype_of<Value>, values.data(), values.size(), shape, where);
  else return Tensor();
}
template <class T>
Tensor tensor(std::span<T> values, std::source_location where = WEFT_HERE) {
  return tensor(values, {static_cast<std::int64_t>(values.size())}, where);
}
template <class T>
Tensor tensor(const std::vector<T> &values, const Shape &shape,
              std::source_location where = WEFT_HERE) {
  if constexpr (std::is_same_v<T, bool>) { // whose vector has bits for elements
    const detail::Bools bools(values.begin(), values.end());
    return tensor(std::span<const bool>(bools.data(), bools.size()), shape, where);
  } else {
    return tensor(std::span<const T>(values), shape, where);
  }
}
template <class T>
Tensor tensor(const std::vector<T> &values) {
  return tensor(values, {static_cast<std::int64_t>(values.size())}, std::source_location());
}
template <class T, std::size_t N>
Tensor tensor(const std::array<T, N> &values, const Shape &shape,
              std::source_location where = WEFT_HERE) {
  return tensor(std::span<const T>(values), shape, where);
}
template <class T, std::size_t N>
Tensor tensor(const std::array<T, N> &values) {
  return tensor(std::span<const T>(values), std::source_location());
}

/// A tensor of one value: a number, or a tensor of rank 0, which is converted as `cast` does.
/// Throws ValueError for a whole number of C++ that does not fit an integer dtype, ShapeError on a
/// negative size, more bytes than 2^63 - 1 or a value that has axes, OutOfMemory on more bytes than
/// there are.
Tensor full(const Sizes &shape, const Operand &value, DType dtype = DType::f32,
            std::source_location where = WEFT_HERE);
Tensor zeros(const Sizes &shape, DType dtype = DType::f32, std::source_location where = WEFT_HERE);
Tensor ones(const Sizes &shape, DType dtype = DType::f32, std::source_location where = WEFT_HERE);
/// `zeros`, `ones` and `full` of the shape of another tensor, and its dtype if none is given.
Tensor zeros_like(const Tensor &like, std::optional<DType> dtype = std::nullopt,
                  std::source_location where = WEFT_HERE);
Tensor ones_like(const Tensor &like, std::optional<DType> dtype = std::nullopt,
                 std::source_location where = WEFT_HERE);
Tensor full_like(const Tensor &like, const Operand &value,
                 std::optional<DType> dtype = std::nullopt, std::source_location where = WEFT_HERE);
namespace detail {
Tensor arange_of_integers(std::int64_t start, std::int64_t stop, std::int64_t step, DType dtype,
                          std::source_location where);
[[noreturn]] void throw_arange_bounds(std::source_location where);
} // namespace detail

/// start, start + step, ... below stop (above it for a negative step). Throws ValueError if the
/// step is 0, a bound is not finite or a number does not fit the dtype.
Tensor arange(std::int64_t stop, DType dtype = DType::i32, std::source_location where = WEFT_HERE);
/// Of whole numbers, exactly: `arange(2, 11, 3)` is of i32.
template <std::integral Start, std::integral Stop, std::integral Step = int>
Tensor arange(Start start, Stop stop, Step step = 1, DType dtype = DType::i32,
              std::source_location where = WEFT_HERE) {
  if (!std::in_range<std::int64_t>(start) || !std::in_range<std::int64_t>(stop) ||
      !std::in_range<std::int64_t>(step))
    detail::throw_arange_bounds(where);
  return detail::arange_of_integers(static_cast<std::int64_t>(start),
                                    static_cast<std::int64_t>(stop),
                                    static_cast<std::int64_t>(step), dtype, where);
}
Tensor arange(double start, double stop, double step, DType dtype = DType::f32,
              std::source_location where = WEFT_HERE);
/// The identity matrix.
Tensor eye(std::int64_t n, DType dtype = DType::f32, std::source_location where = WEFT_HERE);

//===----------------------------------------------------------------------===//
// Arguments of ops
//===----------------------------------------------------------------------===//

/// What every op takes: a tensor, a C++ scalar, or a nested list. A scalar is weak: it takes the
/// dtype of the tensors it meets, and alone is bool, i32 or f32. Whole numbers up to 2^64 - 1 keep
/// their value. It knows the line of the call that it is created for.
class Operand {
public:
  Operand(const Tensor &tensor, std::source_location where = WEFT_HERE)
      : impl_(tensor.impl()), where_(where), kind_(Kind::borrowed) {}
  Operand(const Variable &variable, std::source_location where = WEFT_HERE);
  Operand(const VariableAt &elements, std::source_location where = WEFT_HERE);
  /// A weak scalar like the number that it stands for.
  Operand(const Size &size, std::source_location where = WEFT_HERE)
      : integer_(size.number()), where_(where), kind_(Kind::weak_integer) {
    if (size.is_number()) [[likely]]
      return;
    size_ = Tensor(size.value()).detach();
    kind_ = Kind::weak_size;
  }
  // A template, so that pointers do not convert to bool on their way here.
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Operand(T value, std::source_location where = WEFT_HERE) : where_(where), kind_(weak_kind_of<T>) {
    if constexpr (std::is_floating_point_v<T>) {
      floating_ = static_cast<double>(value);
    } else {
      integer_ = static_cast<std::int64_t>(value);
      if constexpr (std::is_unsigned_v<T> && sizeof(T) == sizeof integer_)
        if (integer_ < 0) kind_ = Kind::weak_large;
    }
  }
  template <class T>
  Operand(std::complex<T> value, std::source_location where = WEFT_HERE)
      : complex_{static_cast<double>(value.real()), static_cast<double>(value.imag())},
        where_(where), kind_(Kind::weak_complex) {}
  template <class T>
  Operand(std::initializer_list<T> values, std::source_location where = WEFT_HERE)
      : Operand(Made{}, weft::tensor(values, where), where) {}
  template <class T>
  Operand(std::initializer_list<std::initializer_list<T>> values,
          std::source_location where = WEFT_HERE)
      : Operand(Made{}, weft::tensor(values, where), where) {}
  template <class T>
  Operand(std::initializer_list<std::initializer_list<std::initializer_list<T>>> values,
          std::source_location where = WEFT_HERE)
      : Operand(Made{}, weft::tensor(values, where), where) {}
  Operand(std::initializer_list<detail::Number> values, std::source_location where = WEFT_HERE)
      : Operand(Made{}, weft::tensor(values, where), where) {}
  Operand(std::initializer_list<std::initializer_list<detail::Number>> values,
          std::source_location where = WEFT_HERE)
      : Operand(Made{}, weft::tensor(values, where), where) {}
  Operand(const Operand &) = delete;
  Operand &operator=(const Operand &) = delete;
  ~Operand() {
    if (kind_ == Kind::owned) detail::release(impl_);
    if (kind_ == Kind::weak_size) [[unlikely]]
      detail::release(size_);
  }

  bool weak() const { return kind_ > Kind::owned; }
  /// The tensor, null for a weak scalar.
  detail::TensorImpl *impl() const { return impl_; }
  /// The user's line, if it is known.
  const std::source_location &where() const { return where_; }
  /// The dtype; of a weak scalar the one it has alone (bool, i32, f32, c64).
  DType dtype() const;
  std::int64_t rank() const { return impl_ == nullptr ? 0 : impl_->rank; }
  /// Whether it is an undefined tensor, which no op takes.
  bool undefined() const { return impl_ == nullptr && !weak(); }
  /// The kind of a weak scalar.
  DTypeKind weak_kind() const {
    return kind_ == Kind::weak_bool       ? DTypeKind::boolean
           : kind_ == Kind::weak_floating ? DTypeKind::floating
           : kind_ == Kind::weak_complex  ? DTypeKind::complex
                                          : DTypeKind::integer;
  }
  /// The tensor itself, or the scalar as a tensor of rank 0 of that dtype. Throws ValueError if a
  /// whole number does not fit an integer dtype, in the name of `op` if there is one, StateError
  /// for an undefined tensor.
  Tensor materialize(DType dtype, std::string_view op = {}) const;
  /// `materialize` to its own dtype.
  Tensor materialize() const { return materialize(dtype()); }
  /// Converts a weak scalar; false if `T` is an integer type that cannot hold it or a real one and
  /// the scalar complex, and for a size that is no number.
  template <class T>
  bool exactly_as(T &value) const {
    if (kind_ == Kind::weak_size) return false;
    if constexpr (is_complex_number<T>) {
      using Component = typename T::value_type;
      Component real{};
      if (kind_ != Kind::weak_complex) return exactly_as(real) && (value = T(real), true);
      value = T(static_cast<Component>(complex_.real), static_cast<Component>(complex_.imaginary));
      return true;
    } else if (kind_ == Kind::weak_complex) {
      return false;
    } else if constexpr (is_floating_type<T>) {
      value = kind_ == Kind::weak_floating ? static_cast<T>(floating_)
              : kind_ == Kind::weak_large  ? static_cast<T>(static_cast<std::uint64_t>(integer_))
                                           : static_cast<T>(integer_);
      return true;
    } else if constexpr (std::is_same_v<T, bool>) {
      value = static_cast<T>(integer_);
      return kind_ < Kind::weak_large && static_cast<std::int64_t>(value) == integer_;
    } else {
      value = static_cast<T>(integer_);
      if (kind_ == Kind::weak_large) return std::is_unsigned_v<T> && sizeof(T) == sizeof integer_;
      return kind_ < Kind::weak_large && std::in_range<T>(integer_);
    }
  }

private:
  /// weak_large: of 2^63 and more, whose bits are in `integer_`. weak_size: known when the function
  /// runs.
  enum class Kind : std::int32_t {
    borrowed,
    owned,
    weak_bool,
    weak_integer,
    weak_large,
    weak_floating,
    weak_complex,
    weak_size
  };
  template <class T>
  static constexpr Kind weak_kind_of = std::is_same_v<T, bool>       ? Kind::weak_bool
                                       : std::is_floating_point_v<T> ? Kind::weak_floating
                                                                     : Kind::weak_integer;
  struct Owned {};
  Operand(Owned, Tensor tensor, const std::source_location &where)
      : impl_(std::move(tensor).detach()), where_(where), kind_(Kind::owned) {}
  struct Made {};
  /// Of numbers of C++, which have no device.
  Operand(Made, Tensor tensor, const std::source_location &where)
      : Operand(Owned{}, std::move(tensor), where) {
    impl_->uncommitted = impl_->storage != detail::Storage::traced;
  }

  detail::TensorImpl *impl_ = nullptr;
  union {
    std::int64_t integer_ = 0;
    double floating_;
    struct {
      double real, imaginary;
    } complex_;
    detail::TensorImpl *size_; ///< a traced i64 scalar
  };
  std::source_location where_;
  Kind kind_;
};

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// A range of an axis: start, stop and step as in Python, `{}` for the default.
struct Slice {
  std::optional<std::int64_t> start, stop;
  std::int64_t step = 1;
};

/// `slice(1, 5)`, `slice({}, {}, -1)`.
Slice slice(std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
            std::int64_t step = 1);

/// The whole axis in an index; called, the reduction `reduce_all`: `all(x > 0)`.
struct All {
  Tensor operator()(const Operand &x) const;
  Tensor operator()(const Operand &x, ReduceAllOptions options) const;
  template <class Given, class = detail::IfAxes<Given>>
  Tensor operator()(const Operand &x, const Given &axes) const;
};
inline constexpr All all;
/// As many whole axes as are left.
struct Ellipsis {};
inline constexpr Ellipsis ellipsis;
/// A new axis of size 1.
struct NewAxis {};
inline constexpr NewAxis newaxis;

/// One entry between the brackets of `x[{...}]`.
class Index {
public:
  // Any integer type; a number that is too large for i64 is out of every axis's range as that is.
  template <class T, class = std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>>
  Index(T position, std::source_location where = WEFT_HERE) : where_(where) {
    constexpr auto last = std::numeric_limits<std::int64_t>::max();
    if constexpr (std::is_unsigned_v<T> && sizeof(T) == sizeof last)
      value_ = position > static_cast<T>(last) ? last : static_cast<std::int64_t>(position);
    else value_ = static_cast<std::int64_t>(position);
  }
  Index(Slice range, std::source_location where = WEFT_HERE) : value_(range), where_(where) {}
  Index(All, std::source_location where = WEFT_HERE) : value_(Slice{}), where_(where) {}
  Index(Ellipsis, std::source_location where = WEFT_HERE) : value_(Ellipsis{}), where_(where) {}
  Index(NewAxis, std::source_location where = WEFT_HERE) : value_(NewAxis{}), where_(where) {}

  const std::variant<std::int64_t, Slice, Ellipsis, NewAxis> &value() const { return value_; }
  /// The user's line, if it is known.
  const std::source_location &where() const { return where_; }

private:
  std::variant<std::int64_t, Slice, Ellipsis, NewAxis> value_;
  std::source_location where_;
};

/// The elements of a tensor at an index, as `x.at({...})` gives them: each member is the whole
/// tensor with these elements changed, and the tensor itself stays as it is. A value is repeated to
/// the shape of the elements; a C++ scalar takes the tensor's dtype. Throws IndexError for an index
/// out of range, ShapeError for a value that does not broadcast, and DTypeError for one of another
/// dtype.
class TensorAt {
public:
  TensorAt(Tensor x, std::vector<Index> indices);

  Tensor get() const;
  Tensor set(const Operand &value) const;
  Tensor add(const Operand &value) const;
  Tensor subtract(const Operand &value) const;
  Tensor multiply(const Operand &value) const;
  Tensor min(const Operand &value) const;
  Tensor max(const Operand &value) const;

private:
  Tensor replaced(const char *function, const Operand &value,
                  Tensor (*combine)(const Operand &, const Operand &)) const;

  Tensor x_;
  std::vector<Index> indices_;
};
inline TensorAt::TensorAt(Tensor x, std::vector<Index> indices)
    : x_(std::move(x)), indices_(std::move(indices)) {}

#ifdef __cpp_multidimensional_subscript
template <class... Rest>
Tensor Tensor::operator[](const Index &first, const Index &second, const Rest &...rest) const {
  return (*this)[{first, second, Index(rest, first.where())...}];
}
#endif

} // namespace weft

#include <weft/size.h> // IWYU pragma: export
