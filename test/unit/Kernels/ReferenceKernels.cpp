// Every kernel of the table as a plain scalar loop, one scalar function per op.
#include "ReferenceKernels.h"

#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

#include "Runtime/Elements.h"

namespace weft {

namespace {

template <class T>
concept Number = !std::same_as<T, bool>;

/// Integer arithmetic without undefined overflow.
template <std::integral T>
using Wrapping = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

//===----------------------------------------------------------------------===//
// Scalar functions
//===----------------------------------------------------------------------===//

struct Add {
  template <Number T>
  static T of(T a, T b) {
    if constexpr (std::integral<T>) return static_cast<T>(Wrapping<T>(a) + Wrapping<T>(b));
    else return a + b;
  }
};
struct Subtract {
  template <Number T>
  static T of(T a, T b) {
    if constexpr (std::integral<T>) return static_cast<T>(Wrapping<T>(a) - Wrapping<T>(b));
    else return a - b;
  }
};
struct Multiply {
  template <Number T>
  static T of(T a, T b) {
    if constexpr (std::integral<T>) return static_cast<T>(Wrapping<T>(a) * Wrapping<T>(b));
    else return a * b;
  }
};
struct Divide {
  template <std::floating_point T>
  static T of(T a, T b) {
    return a / b;
  }
};
struct Remainder {
  template <Number T>
  static T of(T a, T b) {
    if constexpr (std::integral<T>) {
      if (b == 0) return 0;
      if constexpr (std::unsigned_integral<T>) return a % b;
      if (b == static_cast<T>(-1)) return 0; // the quotient of the lowest number would overflow
      const T r = a % b;
      return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
    } else {
      const T r = std::fmod(a, b);
      if (r == 0) return std::copysign(T(0), b);
      return (r < 0) != (b < 0) ? r + b : r;
    }
  }
};
struct Power {
  template <Number T>
  static T of(T base, T exponent) {
    if constexpr (std::floating_point<T>) {
      return std::pow(base, exponent);
    } else {
      if constexpr (std::signed_integral<T>)
        if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
      Wrapping<T> result = 1, square = Wrapping<T>(base);
      for (; exponent != 0; exponent /= 2, square *= square)
        if (exponent % 2 != 0) result *= square;
      return static_cast<T>(result);
    }
  }
};
struct Maximum {
  template <Number T>
  static T of(T a, T b) {
    if constexpr (std::floating_point<T>) {
      if (a != a || b != b) return a + b;
      if (a == b) return std::signbit(a) ? b : a; // 0 is above -0
    }
    return a > b ? a : b;
  }
};
struct Minimum {
  template <Number T>
  static T of(T a, T b) {
    if constexpr (std::floating_point<T>) {
      if (a != a || b != b) return a + b;
      if (a == b) return std::signbit(a) ? a : b;
    }
    return a < b ? a : b;
  }
};

struct Negate {
  template <Number T>
  static T of(T x) {
    if constexpr (std::integral<T>) return static_cast<T>(Wrapping<T>(0) - Wrapping<T>(x));
    else return -x;
  }
};
struct Abs {
  template <Number T>
  static T of(T x) {
    if constexpr (std::integral<T>) return x < 0 ? Negate::of(x) : x;
    else return std::fabs(x);
  }
};
struct Sign {
  template <Number T>
  static T of(T x) {
    if (x > 0) return 1;
    if (x < 0) return static_cast<T>(-1);
    return x == 0 ? T(0) : x;
  }
};

struct Floor {
  template <Number T>
  static T of(T x) {
    if constexpr (std::integral<T>) return x;
    else return std::floor(x);
  }
};
struct Ceil {
  template <Number T>
  static T of(T x) {
    if constexpr (std::integral<T>) return x;
    else return std::ceil(x);
  }
};

struct BitwiseAnd {
  template <std::integral T>
  static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct BitwiseOr {
  template <std::integral T>
  static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct BitwiseXor {
  template <std::integral T>
  static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct BitwiseInvert {
  template <std::integral T>
  static T of(T x) {
    if constexpr (std::same_as<T, bool>) return !x;
    else return static_cast<T>(~x);
  }
};
struct LeftShift {
  template <Number T>
    requires std::integral<T>
  static T of(T a, T b) {
    if (b < 0 || b >= static_cast<T>(8 * sizeof(T))) return 0;
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << b);
  }
};
struct RightShift {
  template <Number T>
    requires std::integral<T>
  static T of(T a, T b) {
    if (b < 0 || b >= static_cast<T>(8 * sizeof(T))) return a < 0 ? T(-1) : T(0);
    return static_cast<T>(a >> b);
  }
};
struct Signbit {
  template <Number T>
  static bool of(T x) {
    if constexpr (std::integral<T>) return x < 0;
    else return std::signbit(x);
  }
};
struct Nextafter {
  template <std::floating_point T>
  static T of(T a, T b) {
    return std::nextafter(a, b);
  }
  template <class T>
    requires(is_floating_type<T> && !std::floating_point<T>)
  static T of(T a, T b) {
    const float from = a, to = b;
    if (from != from || to != to) return std::numeric_limits<T>::quiet_NaN();
    if (from == to) return b;
    using Bits = decltype(a.bits);
    constexpr int kSign = 1 << (8 * sizeof(Bits) - 1);
    if (from == 0) return T::from_bits(static_cast<Bits>(to < 0 ? kSign + 1 : 1));
    return T::from_bits(static_cast<Bits>((from < to) == (from > 0) ? a.bits + 1 : a.bits - 1));
  }
};

#define WEFT_FLOAT_FUNCTION(Name, expression)                                                      \
  struct Name {                                                                                    \
    template <std::floating_point T>                                                               \
    static T of(T x) {                                                                             \
      return expression;                                                                           \
    }                                                                                              \
  }
WEFT_FLOAT_FUNCTION(Exp, std::exp(x));
WEFT_FLOAT_FUNCTION(Log, std::log(x));
WEFT_FLOAT_FUNCTION(Log2, std::log2(x));
WEFT_FLOAT_FUNCTION(Log10, std::log10(x));
WEFT_FLOAT_FUNCTION(Expm1, std::expm1(x));
WEFT_FLOAT_FUNCTION(Log1p, std::log1p(x));
WEFT_FLOAT_FUNCTION(Tanh, std::tanh(x));
WEFT_FLOAT_FUNCTION(Erf, std::erf(x));
WEFT_FLOAT_FUNCTION(Logistic, T(1) / (T(1) + std::exp(-x)));
WEFT_FLOAT_FUNCTION(Sqrt, std::sqrt(x));
WEFT_FLOAT_FUNCTION(Rsqrt, T(1) / std::sqrt(x));
WEFT_FLOAT_FUNCTION(Sin, std::sin(x));
WEFT_FLOAT_FUNCTION(Cos, std::cos(x));
#undef WEFT_FLOAT_FUNCTION

#define WEFT_COMPARISON(Name, op)                                                                  \
  struct Name {                                                                                    \
    template <class T>                                                                             \
    static bool of(T a, T b) {                                                                     \
      return a op b;                                                                               \
    }                                                                                              \
  }
WEFT_COMPARISON(Equal, ==);
WEFT_COMPARISON(NotEqual, !=);
WEFT_COMPARISON(Less, <);
WEFT_COMPARISON(LessEqual, <=);
WEFT_COMPARISON(Greater, >);
WEFT_COMPARISON(GreaterEqual, >=);
#undef WEFT_COMPARISON

#define WEFT_LOGICAL(Name, op)                                                                     \
  struct Name {                                                                                    \
    template <std::same_as<bool> T>                                                                \
    static bool of(T a, T b) {                                                                     \
      return a op b;                                                                               \
    }                                                                                              \
  }
WEFT_LOGICAL(LogicalAnd, &&);
WEFT_LOGICAL(LogicalOr, ||);
WEFT_LOGICAL(LogicalXor, !=);
#undef WEFT_LOGICAL
struct LogicalNot {
  template <std::same_as<bool> T>
  static bool of(T x) {
    return !x;
  }
};

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

template <class Op, class T>
void unary(void *const *buffers, const std::int64_t *dims) {
  const auto *x = static_cast<const T *>(buffers[0]);
  auto *y = static_cast<decltype(Op::of(T())) *>(buffers[1]);
  for (std::int64_t i = 0; i < dims[0]; ++i) y[i] = Op::of(x[i]);
}

template <class Op, class T, int Variant>
void binary(void *const *buffers, const std::int64_t *dims) {
  const auto *a = static_cast<const T *>(buffers[0]), *b = static_cast<const T *>(buffers[1]);
  auto *y = static_cast<decltype(Op::of(T(), T())) *>(buffers[2]);
  for (std::int64_t i = 0; i < dims[0]; ++i)
    y[i] = Op::of(a[Variant & 1 ? 0 : i], b[Variant & 2 ? 0 : i]);
}

template <class T, int Variant>
void select(void *const *buffers, const std::int64_t *dims) {
  const auto *pred = static_cast<const bool *>(buffers[0]);
  const auto *a = static_cast<const T *>(buffers[1]), *b = static_cast<const T *>(buffers[2]);
  auto *y = static_cast<T *>(buffers[3]);
  for (std::int64_t i = 0; i < dims[0]; ++i)
    y[i] = pred[Variant & 1 ? 0 : i] ? a[Variant & 2 ? 0 : i] : b[Variant & 4 ? 0 : i];
}

template <class From, class To>
void cast(void *const *buffers, const std::int64_t *dims) {
  const auto *x = static_cast<const From *>(buffers[0]);
  auto *y = static_cast<To *>(buffers[1]);
  for (std::int64_t i = 0; i < dims[0]; ++i) y[i] = convert_element<To>(x[i]);
}

/// `Init::of<T>()` is the neutral element.
template <class Op, class Init, class T>
void reduce_columns(void *const *buffers, const std::int64_t *dims) {
  const auto *x = static_cast<const T *>(buffers[0]);
  auto *y = static_cast<T *>(buffers[1]);
  const std::int64_t outer = dims[0], reduced = dims[1], inner = dims[2];
  for (std::int64_t i = 0; i < outer; ++i)
    for (std::int64_t k = 0; k < inner; ++k) {
      T sum = Init::template of<T>();
      for (std::int64_t j = 0; j < reduced; ++j)
        sum = Op::of(sum, x[i * dims[3] + j * dims[4] + k]);
      y[i * inner + k] = sum;
    }
}
template <class Op, class Init, class T>
void reduce_rows(void *const *buffers, const std::int64_t *dims) {
  const std::int64_t of_columns[] = {dims[0], dims[1], 1, dims[2], 1};
  reduce_columns<Op, Init, T>(buffers, of_columns);
}

struct Zero {
  template <class T>
  static T of() {
    return T(0);
  }
};
struct One {
  template <class T>
  static T of() {
    return T(1);
  }
};
struct Lowest {
  template <class T>
  static T of() {
    if constexpr (std::floating_point<T>) return -std::numeric_limits<T>::infinity();
    else return std::numeric_limits<T>::lowest();
  }
};
struct Highest {
  template <class T>
  static T of() {
    if constexpr (std::floating_point<T>) return std::numeric_limits<T>::infinity();
    else return std::numeric_limits<T>::max();
  }
};

struct LogAddExp {
  template <std::floating_point T>
  static T of(T a, T b) {
    if (a != a || b != b) return a + b;
    if (a == b) return a + std::log(T(2));
    return std::max(a, b) + std::log1p(std::exp(-std::fabs(a - b)));
  }
};
struct Linear {
  template <Number T>
  static T of(T before, T factor, T added) {
    return Add::of(Multiply::of(factor, before), added);
  }
};

/// One line along the axis after the other; of two operands the first are the factors.
template <class Op, class Init, class T, int Operands>
void cumulative(void *const *buffers, const std::int64_t *dims) {
  const auto *a = static_cast<const T *>(buffers[0]);
  const auto *x = static_cast<const T *>(buffers[Operands - 1]);
  const std::int64_t flags = *static_cast<const std::int64_t *>(buffers[Operands]);
  auto *y = static_cast<T *>(buffers[Operands + 1]);
  const std::int64_t outer = dims[0], size = dims[1], inner = dims[2];
  for (std::int64_t line = 0; line < outer * inner; ++line) {
    const auto index = [&](std::int64_t i) {
      if (flags & kReverse) i = size - 1 - i;
      return (line / inner * size + i) * inner + line % inner;
    };
    T sum = Init::template of<T>();
    for (std::int64_t i = 0; i < size; ++i) {
      const T before = sum;
      if (i == 0) sum = x[index(0)];
      else if constexpr (Operands == 1) sum = Op::of(sum, x[index(i)]);
      else sum = Op::of(sum, a[index(flags & kShifted ? i - 1 : i)], x[index(i)]);
      y[index(i)] = flags & kExclusive ? before : sum;
    }
  }
}

template <class T>
void argmax(void *const *buffers, const std::int64_t *dims) {
  const auto *x = static_cast<const T *>(buffers[0]);
  auto *y = static_cast<std::int64_t *>(buffers[1]);
  const std::int64_t outer = dims[0], reduced = dims[1], inner = dims[2], pitch = dims[4];
  for (std::int64_t i = 0; i < outer; ++i)
    for (std::int64_t k = 0; k < inner; ++k) {
      const T *column = x + i * dims[3] + k;
      std::int64_t best = 0;
      for (std::int64_t j = 1; j < reduced; ++j) {
        const T top = column[best * pitch], other = column[j * pitch];
        if (other > top || (other != other && top == top)) best = j;
      }
      y[i * inner + k] = best;
    }
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// Calls `use.template operator()<T>(dtype)` for the C++ type of every dtype but complex ones.
template <class Use>
void for_each_dtype(const Use &use) {
#define WEFT_DTYPE(enumerator, cpp, ...)                                                           \
  if constexpr (!is_complex(DType::enumerator))                                                    \
    use.template operator()<cpp>(static_cast<int>(DType::enumerator));
#include <weft/dtypes.def>
}

KernelTable make_table() {
  KernelTable table{};
  for_each_dtype([&]<class T>(int dtype) {
    // Others are computed in another dtype; their elements are only moved, cast and counted on.
    constexpr bool computes = std::floating_point<T> || std::integral<T>;
    const auto set_unary = [&]<class Op>(Op, OpCode op) {
      if constexpr (computes && requires(T x) { Op::of(x); })
        table.elementwise[static_cast<int>(op)][dtype][0] = unary<Op, T>;
    };
    const auto set_binary = [&]<class Op>(Op, OpCode op) {
      if constexpr ((computes || std::same_as<Op, Nextafter>) && requires(T x) { Op::of(x, x); }) {
        Kernel *row = table.elementwise[static_cast<int>(op)][dtype];
        row[0] = binary<Op, T, 0>;
        row[1] = binary<Op, T, 1>;
        row[2] = binary<Op, T, 2>;
      }
    };
    const auto set_reduce = [&]<class Op, class Init>(Op, Init, OpCode op) {
      if constexpr (computes && requires(T x) { Op::of(x, x); }) {
        table.reduce_rows[static_cast<int>(op)][dtype] = reduce_rows<Op, Init, T>;
        table.reduce_columns[static_cast<int>(op)][dtype] = reduce_columns<Op, Init, T>;
      }
    };
    const auto set_cumulative = [&]<class Op, class Init>(Op, Init, OpCode op) {
      if constexpr (computes && requires(T x) { Op::of(x, x); })
        table.cumulative[static_cast<int>(op)][dtype] = cumulative<Op, Init, T, 1>;
    };
    set_cumulative(Add(), Zero(), OpCode::cumsum);
    set_cumulative(Multiply(), One(), OpCode::cumprod);
    set_cumulative(Maximum(), Lowest(), OpCode::cummax);
    set_cumulative(Minimum(), Highest(), OpCode::cummin);
    set_cumulative(LogAddExp(), Lowest(), OpCode::logcumsumexp);
    if constexpr (computes && Number<T>)
      table.cumulative[static_cast<int>(OpCode::linear_recurrence)][dtype] =
          cumulative<Linear, Zero, T, 2>;
    set_binary(Add(), OpCode::add);
    set_binary(Subtract(), OpCode::subtract);
    set_binary(Multiply(), OpCode::multiply);
    set_binary(Divide(), OpCode::divide);
    set_binary(Remainder(), OpCode::remainder);
    set_binary(Power(), OpCode::power);
    set_binary(Maximum(), OpCode::maximum);
    set_binary(Minimum(), OpCode::minimum);
    set_unary(Negate(), OpCode::negate);
    set_unary(Abs(), OpCode::abs);
    set_unary(Sign(), OpCode::real_sign);
    set_unary(Floor(), OpCode::floor);
    set_unary(Ceil(), OpCode::ceil);
    set_unary(Exp(), OpCode::exp);
    set_unary(Log(), OpCode::log);
    set_unary(Log2(), OpCode::log2);
    set_unary(Log10(), OpCode::log10);
    set_unary(Expm1(), OpCode::expm1);
    set_unary(Log1p(), OpCode::log1p);
    set_unary(Tanh(), OpCode::tanh);
    set_unary(Erf(), OpCode::erf);
    set_unary(Logistic(), OpCode::logistic);
    set_unary(Sqrt(), OpCode::sqrt);
    set_unary(Rsqrt(), OpCode::rsqrt);
    set_unary(Sin(), OpCode::sin);
    set_unary(Cos(), OpCode::cos);
    set_binary(Equal(), OpCode::equal);
    set_binary(NotEqual(), OpCode::not_equal);
    set_binary(Less(), OpCode::less);
    set_binary(LessEqual(), OpCode::less_equal);
    set_binary(Greater(), OpCode::greater);
    set_binary(GreaterEqual(), OpCode::greater_equal);
    set_binary(LogicalAnd(), OpCode::logical_and);
    set_binary(LogicalOr(), OpCode::logical_or);
    set_binary(LogicalXor(), OpCode::logical_xor);
    set_unary(LogicalNot(), OpCode::logical_not);
    set_binary(BitwiseAnd(), OpCode::bitwise_and);
    set_binary(BitwiseOr(), OpCode::bitwise_or);
    set_binary(BitwiseXor(), OpCode::bitwise_xor);
    set_unary(BitwiseInvert(), OpCode::bitwise_invert);
    set_binary(LeftShift(), OpCode::bitwise_left_shift);
    set_binary(RightShift(), OpCode::bitwise_right_shift);
    set_unary(Signbit(), OpCode::signbit);
    set_binary(Nextafter(), OpCode::nextafter);
    set_reduce(Add(), Zero(), OpCode::sum);
    set_reduce(Multiply(), One(), OpCode::prod);
    set_reduce(Maximum(), Lowest(), OpCode::reduce_max);
    set_reduce(Minimum(), Highest(), OpCode::reduce_min);
    set_reduce(LogicalAnd(), One(), OpCode::reduce_all);
    set_reduce(LogicalOr(), Zero(), OpCode::any);
    Kernel *row = table.elementwise[static_cast<int>(OpCode::select)][dtype];
    [&]<int... Variant>(std::integer_sequence<int, Variant...>) {
      ((row[Variant] = select<T, Variant>), ...);
    }(std::make_integer_sequence<int, 7>());
    for_each_dtype([&]<class To>(int to) { table.cast[dtype][to] = cast<T, To>; });
    if constexpr (computes && Number<T>) table.argmax[dtype] = argmax<T>;
  });
  return table;
}

} // namespace

const KernelTable &reference_kernels() {
  static const KernelTable table = make_table();
  return table;
}

} // namespace weft
