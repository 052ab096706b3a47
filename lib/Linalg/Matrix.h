// Matrices as the routines of linear algebra see them: views of strided memory, products that are
// subtracted, and loops over batches.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "Kernels/Routine.h"
#include "Linalg/LinalgKernels.h"
#include "Support/FunctionRef.h"

namespace weft::kernels {

/// The numbers that the parts of complex ones are, and real ones themselves.
template <class T>
struct RealOf {
  using Type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using Type = T;
};
template <class T>
using Real = typename RealOf<T>::Type;
template <class T>
inline constexpr bool kComplex = !std::same_as<T, Real<T>>;

template <class T>
T conjugated(T x) {
  if constexpr (kComplex<T>) return std::conj(x);
  else return x;
}

/// A view of rows and columns, by any strides.
template <class T>
struct Matrix {
  std::int64_t rows, columns;
  T *data;
  std::int64_t row, column; ///< elements from one to the next

  T &operator()(std::int64_t i, std::int64_t j) const { return data[i * row + j * column]; }
  Matrix block(std::int64_t i, std::int64_t j, std::int64_t height, std::int64_t width) const {
    return {height, width, data + i * row + j * column, row, column};
  }
  Matrix transposed() const { return {columns, rows, data, column, row}; }
  operator Matrix<const T>() const
    requires(!std::is_const_v<T>)
  {
    return {rows, columns, data, row, column};
  }
};

/// A factor of a product: a matrix, or itself with conjugated elements.
template <class T>
struct Factor {
  Matrix<const T> matrix;
  bool conjugated = false;

  Factor(const Matrix<const T> &m) : matrix(m) {}
  Factor(const Matrix<T> &m) : matrix(m) {}
  Factor(const Matrix<const T> &m, bool conj) : matrix(m), conjugated(conj) {}
  Factor transposed() const { return {matrix.transposed(), conjugated}; }
};
template <class T>
Factor<std::remove_const_t<T>> conjugate(const Matrix<T> &x) {
  return {Matrix<const T>(x), kComplex<std::remove_const_t<T>>};
}
template <class T>
Factor<std::remove_const_t<T>> adjoint(const Matrix<T> &x) {
  return conjugate(x.transposed());
}

/// Memory for the work on one matrix after another, which grows and is not cleared.
template <class T>
class Workspace {
public:
  /// At least so many elements, until the next call.
  T *take(std::int64_t count) {
    if (count > count_ || memory_ == nullptr) { // of none too, where lanes are counted from
      count_ = std::max<std::int64_t>(count, 1);
      memory_ = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(count_));
    }
    return memory_.get();
  }
  Matrix<T> take(std::int64_t rows, std::int64_t columns) {
    return {rows, columns, take(rows * columns), columns, 1};
  }

private:
  std::unique_ptr<T[]> memory_;
  std::int64_t count_ = 0;
};

/// The loops of the CPU's level.
const LinalgLevel &linalg_level();
/// Those of complex numbers, which lie in memory as the loops have them.
template <class R>
class ComplexLoops {
public:
  using T = std::complex<R>;

  void lu_panel(std::int64_t rows, std::int64_t columns, T *a, std::int64_t step,
                std::int64_t *pivots) const {
    loops_.lu_panel(rows, columns, raw(a), step, pivots);
  }
  void solve_rows(std::int64_t rows, std::int64_t columns, const T *l, std::int64_t l_row,
                  std::int64_t l_col, bool unit, T *b, std::int64_t b_row) const {
    loops_.solve_rows(rows, columns, raw(l), l_row, l_col, unit, raw(b), b_row);
  }
  T dot(std::int64_t count, const T *x, const T *y) const {
    const Number sum = loops_.dot(count, raw(x), raw(y));
    return {sum.re, sum.im};
  }
  T inner(std::int64_t count, const T *x, const T *y) const {
    const Number sum = loops_.inner(count, raw(x), raw(y));
    return {sum.re, sum.im};
  }
  void subtract(std::int64_t count, T factor, const T *x, T *y) const {
    loops_.subtract(count, {factor.real(), factor.imag()}, raw(x), raw(y));
  }
  void lu_lanes(std::int64_t size, T *a, std::int64_t *pivots) const {
    loops_.lu_lanes(size, raw(a), pivots);
  }
  void solve_lanes(std::int64_t size, std::int64_t columns, const T *a, T *b,
                   bool transposed) const {
    loops_.solve_lanes(size, columns, raw(a), raw(b), transposed);
  }

private:
  using Number = ComplexNumber<R>;
  static const LinalgKernels<Number> &loops() {
    if constexpr (std::same_as<R, float>) return linalg_level().c64;
    else return linalg_level().c128;
  }
  static Number *raw(T *x) { return reinterpret_cast<Number *>(x); }
  static const Number *raw(const T *x) { return reinterpret_cast<const Number *>(x); }

  const LinalgKernels<Number> &loops_ = loops();
};
template <class T>
decltype(auto) linalg_kernels() {
  if constexpr (kComplex<T>) return ComplexLoops<Real<T>>();
  else if constexpr (std::same_as<T, float>) return (linalg_level().f32);
  else return (linalg_level().f64);
}

/// Matrices a lane each, `[i][j][lane]`: one of them.
template <class T>
Matrix<T> lane_of(T *lanes, std::int64_t rows, std::int64_t columns, std::int64_t lane) {
  return {rows, columns, lanes + lane, columns * kLanes, kLanes};
}

/// Integers of the size of elements that `lane_moves` knows.
template <class T>
inline constexpr bool kMoves = sizeof(T) == 4 || sizeof(T) == 8;
template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <class Bits>
const LaneMoves<Bits> &lane_moves() {
  if constexpr (sizeof(Bits) == 4) return linalg_level().moves_4;
  else return linalg_level().moves_8;
}

/// A small matrix to a lane or from it.
template <class T>
void copy_small(const Matrix<const std::type_identity_t<T>> &from, const Matrix<T> &to) {
  for (std::int64_t i = 0; i < from.rows; ++i) {
    const T *x = from.data + i * from.row;
    T *y = to.data + i * to.row;
    for (std::int64_t j = 0; j < from.columns; ++j, x += from.column, y += to.column) *y = *x;
  }
}

/// The rows of `columns` elements each that a thread gets at the least, so that it is worth waking.
constexpr std::int64_t rows_each(std::int64_t columns) {
  constexpr std::int64_t kElements = 1 << 14;
  return kElements / std::max<std::int64_t>(columns, 1) + 1;
}

/// `to` = `from`, of the same size.
template <class T>
void copy(const Matrix<const std::type_identity_t<T>> &from, const Matrix<T> &to);

/// `to` = `from` transposed, and conjugated.
template <class T>
void copy_adjoint(const Matrix<const std::type_identity_t<T>> &from, const Matrix<T> &to);

/// Whether no element is infinite or NaN.
template <class T>
bool all_finite(const Matrix<const T> &x) {
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < x.columns; ++j)
      if (!std::isfinite(std::real(x(i, j))) || !std::isfinite(std::imag(x(i, j)))) return false;
  return true;
}

/// Every element becomes NaN.
template <class T>
void fill_nan(const Matrix<T> &x) {
  constexpr Real<T> kNaN = std::numeric_limits<Real<T>>::quiet_NaN();
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < x.columns; ++j)
      if constexpr (kComplex<T>) x(i, j) = {kNaN, kNaN};
      else x(i, j) = kNaN;
}

enum class Triangles { both, lower };

/// Half of the sum of a square matrix and its adjoint, whose diagonal is real, or the lower
/// triangle of that with zeros above.
template <class T>
void copy_hermitian(const Matrix<const std::type_identity_t<T>> &from, const Matrix<T> &to,
                    Triangles which = Triangles::both);

/// C = A B; of real numbers rows or columns of C are adjacent elements.
template <class T>
void set_product(const Matrix<T> &c, const Factor<std::type_identity_t<T>> &a,
                 const Factor<std::type_identity_t<T>> &b);
/// C += A B.
template <class T>
void add_product(const Matrix<T> &c, const Factor<std::type_identity_t<T>> &a,
                 const Factor<std::type_identity_t<T>> &b);
/// C -= A B; the negated smaller factor of real numbers lies in `work`.
template <class T>
void subtract_product(const Matrix<T> &c, const Factor<std::type_identity_t<T>> &a,
                      const Factor<std::type_identity_t<T>> &b, Workspace<T> &work);

/// Rows of `a` exchanged with those of these numbers, one after the other.
template <class T>
void exchange_rows(const Matrix<T> &a, std::span<const std::int64_t> pivots);

/// The smallest of the numbers that threads find.
class First {
public:
  void note(std::int64_t number) {
    std::int64_t known = number_.load(std::memory_order_relaxed);
    while (number < known && !number_.compare_exchange_weak(known, number)) {
    }
  }
  std::optional<std::int64_t> number() const {
    const std::int64_t found = number_;
    return found == kNone ? std::nullopt : std::optional(found);
  }

private:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::atomic<std::int64_t> number_ = kNone;
};

/// The tensors of a call for one matrix of the batch after the other.
class Batches {
public:
  /// The batches are the axes before the last two of the first operand.
  explicit Batches(const RoutineCall &call);

  std::int64_t count() const { return count_; }
  /// Matrix number `i` of an operand or a result.
  template <class T>
  Matrix<const T> operand(std::size_t number, std::int64_t i) const {
    return matrix<const T>(call_.operands[number], i);
  }
  template <class T>
  Matrix<T> result(std::size_t number, std::int64_t i) const {
    return matrix<T>(call_.results[number], i);
  }

  /// Copies matrices `first` and so on of an operand to `[i][j][lane]`, a lane each: `lanes` of
  /// them, at most kLanes.
  template <class T>
  void to_lanes(std::size_t number, std::int64_t first, std::int64_t lanes, T *to) const {
    const Matrix<const T> matrix = operand<T>(number, first);
    if constexpr (kMoves<T>)
      if (const auto step = step_between(call_.operands[number], lanes)) {
        using Bits = BitsOf<T>;
        if (*step == matrix.rows * matrix.columns)
          fetch_ahead(matrix.data, first + lanes, lanes * *step);
        return lane_moves<Bits>().to_lanes(matrix.rows * matrix.columns,
                                           reinterpret_cast<const Bits *>(matrix.data), *step,
                                           reinterpret_cast<Bits *>(to));
      }
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      copy_small<T>(operand<T>(number, first + lane),
                    lane_of(to, matrix.rows, matrix.columns, lane));
  }
  /// The other way, to those of a result.
  template <class T>
  void from_lanes(std::size_t number, std::int64_t first, std::int64_t lanes, const T *from) const {
    const Matrix<T> matrix = result<T>(number, first);
    if constexpr (kMoves<T>)
      if (const auto step = step_between(call_.results[number], lanes)) {
        using Bits = BitsOf<T>;
        return lane_moves<Bits>().from_lanes(matrix.rows * matrix.columns,
                                             reinterpret_cast<const Bits *>(from),
                                             reinterpret_cast<Bits *>(matrix.data), *step);
      }
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      copy_small<T>(lane_of(from, matrix.rows, matrix.columns, lane),
                    result<T>(number, first + lane));
  }

  /// The number of a batch that a result has of matrix `i`.
  template <class T>
  T &number(std::size_t result, std::int64_t i) const {
    const RoutineTensor &tensor = call_.results[result];
    return tensor.elements<T>()[offset(tensor, i)];
  }

  /// Calls `body` with ranges of numbers that cover all, on several threads if matrices are so
  /// small (`size` rows) that one of them keeps no thread of its own busy.
  void for_each(std::int64_t size, FunctionRef<void(std::int64_t, std::int64_t)> body) const;

  /// The same of groups of kLanes matrices.
  void for_each_group(std::int64_t size, std::int64_t groups,
                      FunctionRef<void(std::int64_t, std::int64_t)> body) const;

  /// Raises LinAlgError for matrix number `i`.
  [[noreturn]] void refuse(std::string_view function, std::int64_t i,
                           const std::string &what) const;

private:
  /// Brings the next group's matrices to the caches, which the reads of one line of each of many
  /// matrices in turn do not do by themselves. `next` is its first number.
  template <class T>
  void fetch_ahead(const T *group, std::int64_t next, std::int64_t elements) const {
    constexpr std::int64_t kLine = 64 / std::int64_t(sizeof(T));
    if (next + kLanes > count_) return;
    for (std::int64_t i = 0; i < elements; i += kLine) __builtin_prefetch(group + elements + i);
  }
  std::int64_t offset(const RoutineTensor &tensor, std::int64_t i) const;
  /// The elements from each matrix to the next, if kLanes are wanted and all lie as their rows.
  std::optional<std::int64_t> step_between(const RoutineTensor &tensor, std::int64_t lanes) const;
  /// A vector is one column.
  template <class T>
  Matrix<T> matrix(const RoutineTensor &tensor, std::int64_t i) const {
    const std::int64_t axes = tensor.rank - batches_;
    const std::int64_t *sizes = tensor.sizes + batches_, *strides = tensor.strides + batches_;
    const std::int64_t columns = axes == 1 ? 1 : sizes[1];
    // Of no elements there are strides, but no memory that they could step through.
    const bool empty = sizes[0] == 0 || columns == 0;
    T *const data = tensor.elements<T>() + (empty ? 0 : offset(tensor, i));
    return {sizes[0], columns, data, strides[0], axes == 1 ? 1 : strides[1]};
  }

  const RoutineCall &call_;
  std::int64_t batches_, count_ = 1;
};

} // namespace weft::kernels
