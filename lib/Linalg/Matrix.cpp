// Copies and products of views of matrices, and batches of them.
#include "Linalg/Matrix.h"

#include "Kernels/Matmul.h"
#include "Runtime/StridedCopy.h"
#include "Support/Fault.h"
#include "Support/Threads.h"

namespace weft::kernels {

const LinalgLevel &linalg_level() {
  static const LinalgLevel &level =
      of_host_level(linalg_level_v2, linalg_level_v3, linalg_level_v4);
  return level;
}

template <class T>
void copy(const Matrix<const std::type_identity_t<T>> &from, const Matrix<T> &to) {
  if (from.rows * from.columns <= kSmall * kSmall) return copy_small<T>(from, to);
  if (to.row == 1 && to.column != 1) return copy<T>(from.transposed(), to.transposed());
  const std::int64_t sizes[] = {from.rows, from.columns}, source[] = {from.row, from.column},
                     target[] = {to.row, to.column};
  copy_strided(sizeof(T), sizes, reinterpret_cast<const std::byte *>(from.data), source,
               reinterpret_cast<std::byte *>(to.data), target);
}

template <class T>
void copy_adjoint(const Matrix<const std::type_identity_t<T>> &from, const Matrix<T> &to) {
  copy<T>(from.transposed(), to);
  if constexpr (kComplex<T>)
    for (std::int64_t i = 0; i < to.rows; ++i)
      for (std::int64_t j = 0; j < to.columns; ++j) to(i, j) = std::conj(to(i, j));
}

template <class T>
void copy_hermitian(const Matrix<const std::type_identity_t<T>> &from, const Matrix<T> &to,
                    Triangles which) {
  // Blocks that are read along rows and along columns from the first cache.
  constexpr std::int64_t kBlock = 32;
  constexpr Real<T> kHalf = Real<T>(0.5);
  const std::int64_t size = from.rows, blocks = (size + kBlock - 1) / kBlock;
  const auto rows = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin * kBlock; i < std::min(end * kBlock, size); i += kBlock)
      for (std::int64_t j = 0; j < size; j += kBlock)
        for (std::int64_t r = i; r < std::min(i + kBlock, size); ++r)
          for (std::int64_t c = j; c < std::min(j + kBlock, size); ++c)
            to(r, c) = which == Triangles::lower && c > r
                           ? T(0)
                           : kHalf * from(r, c) + kHalf * conjugated(from(c, r));
  };
  threads::parallel_for_noexcept(0, blocks, rows_each(size * kBlock), rows);
}

/// What becomes of the elements that a product is written over.
enum class Into { set, add, subtract };

template <class T>
static void product(const Matrix<T> &c, const Matrix<const T> &a, const Matrix<const T> &b,
                    bool add) {
  if (c.rows == 0 || c.columns == 0) return;
  if (c.column != 1) // its transpose, whose columns are adjacent
    return product<T>(c.transposed(), b.transposed(), a.transposed(), add);
  matmul(std::same_as<T, float> ? DType::f32 : DType::f64, {.batch = 1,
                                                            .m = c.rows,
                                                            .n = c.columns,
                                                            .k = a.columns,
                                                            .a = a.data,
                                                            .a_batch = 0,
                                                            .a_row = a.row,
                                                            .a_col = a.column,
                                                            .b = b.data,
                                                            .b_batch = 0,
                                                            .b_row = b.row,
                                                            .b_col = b.column,
                                                            .c = c.data,
                                                            .c_batch = 0,
                                                            .c_row = c.row,
                                                            .add = add});
}

template <class T>
static Matrix<T> negated(const Matrix<const T> &a, Workspace<T> &work) {
  const Matrix<T> result = work.take(a.rows, a.columns);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j) result(i, j) = -a(i, j);
  return result;
}

/// The real or the imaginary parts of a matrix.
template <class R>
static Matrix<const R> part_of(const Matrix<const std::complex<R>> &x, int number) {
  return {x.rows, x.columns, reinterpret_cast<const R *>(x.data) + number, 2 * x.row, 2 * x.column};
}

/// Of complex numbers, as four products of real ones.
template <class R>
static void complex_product(const Matrix<std::complex<R>> &c, const Factor<std::complex<R>> &a,
                            const Factor<std::complex<R>> &b, Into into) {
  Workspace<R> memory[2];
  const R of_a = a.conjugated ? R(-1) : R(1), of_b = b.conjugated ? R(-1) : R(1);
  for (const int number : {0, 1}) {
    const Matrix<R> first = memory[0].take(c.rows, c.columns),
                    second = memory[1].take(c.rows, c.columns);
    product<R>(first, part_of(a.matrix, 0), part_of(b.matrix, number), false);
    product<R>(second, part_of(a.matrix, 1), part_of(b.matrix, 1 - number), false);
    const R sign = number == 0 ? R(1) : of_b, other = number == 0 ? -of_a * of_b : of_a;
    for (std::int64_t i = 0; i < c.rows; ++i)
      for (std::int64_t j = 0; j < c.columns; ++j) {
        R &to = reinterpret_cast<R *>(&c(i, j))[number];
        const R sum = sign * first(i, j) + other * second(i, j);
        to = into == Into::set ? sum : into == Into::add ? to + sum : to - sum;
      }
  }
}

template <class T>
void set_product(const Matrix<T> &c, const Factor<std::type_identity_t<T>> &a,
                 const Factor<std::type_identity_t<T>> &b) {
  if constexpr (kComplex<T>) complex_product<Real<T>>(c, a, b, Into::set);
  else product<T>(c, a.matrix, b.matrix, false);
}
template <class T>
void add_product(const Matrix<T> &c, const Factor<std::type_identity_t<T>> &a,
                 const Factor<std::type_identity_t<T>> &b) {
  if constexpr (kComplex<T>) complex_product<Real<T>>(c, a, b, Into::add);
  else product<T>(c, a.matrix, b.matrix, true);
}
template <class T>
void subtract_product(const Matrix<T> &c, const Factor<std::type_identity_t<T>> &a,
                      const Factor<std::type_identity_t<T>> &b, Workspace<T> &work) {
  if constexpr (kComplex<T>) complex_product<Real<T>>(c, a, b, Into::subtract);
  else if (a.matrix.rows <= b.matrix.columns)
    product<T>(c, negated<T>(a.matrix, work), b.matrix, true);
  else product<T>(c, a.matrix, negated<T>(b.matrix, work), true);
}

template <class T>
void exchange_rows(const Matrix<T> &a, std::span<const std::int64_t> pivots) {
  const auto count = static_cast<std::int64_t>(pivots.size());
  // Each thread in columns of its own, a row's all before the next.
  const auto columns = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t other = pivots[static_cast<std::size_t>(i)];
      if (other == i) continue;
      if (a.column == 1)
        std::swap_ranges(&a(i, begin), &a(i, begin) + (end - begin), &a(other, begin));
      else
        for (std::int64_t j = begin; j < end; ++j) std::swap(a(i, j), a(other, j));
    }
  };
  threads::parallel_for_noexcept(0, a.columns, rows_each(count), columns);
}

template void copy<std::int64_t>(const Matrix<const std::int64_t> &, const Matrix<std::int64_t> &);
#define WEFT_MATRIX_OF(T)                                                                          \
  template void copy<T>(const Matrix<const T> &, const Matrix<T> &);                               \
  template void copy_adjoint<T>(const Matrix<const T> &, const Matrix<T> &);                       \
  template void copy_hermitian<T>(const Matrix<const T> &, const Matrix<T> &, Triangles);          \
  template void set_product<T>(const Matrix<T> &, const Factor<T> &, const Factor<T> &);           \
  template void add_product<T>(const Matrix<T> &, const Factor<T> &, const Factor<T> &);           \
  template void subtract_product<T>(const Matrix<T> &, const Factor<T> &, const Factor<T> &,       \
                                    Workspace<T> &);                                               \
  template void exchange_rows<T>(const Matrix<T> &, std::span<const std::int64_t>);
WEFT_MATRIX_OF(float)
WEFT_MATRIX_OF(double)
WEFT_MATRIX_OF(std::complex<float>)
WEFT_MATRIX_OF(std::complex<double>)
#undef WEFT_MATRIX_OF

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

Batches::Batches(const RoutineCall &call) : call_(call), batches_(call.operands[0].rank - 2) {
  for (std::int64_t axis = 0; axis < batches_; ++axis) count_ *= call.operands[0].sizes[axis];
}

std::int64_t Batches::offset(const RoutineTensor &tensor, std::int64_t i) const {
  if (batches_ == 0) return 0;
  std::int64_t offset = 0;
  for (std::int64_t axis = batches_ - 1; axis > 0; --axis) {
    offset += i % tensor.sizes[axis] * tensor.strides[axis];
    i /= tensor.sizes[axis];
  }
  return offset + i * tensor.strides[0]; // of one axis without divisions
}

std::optional<std::int64_t> Batches::step_between(const RoutineTensor &tensor,
                                                  std::int64_t lanes) const {
  if (lanes != kLanes || batches_ == 0) return std::nullopt;
  std::int64_t elements = 1;
  for (std::int64_t axis = tensor.rank - 1; axis >= batches_; --axis) {
    if (tensor.strides[axis] != elements) return std::nullopt;
    elements *= tensor.sizes[axis];
  }
  for (std::int64_t axis = batches_ - 1; axis > 0; --axis)
    if (tensor.strides[axis - 1] != tensor.strides[axis] * tensor.sizes[axis]) return std::nullopt;
  return tensor.strides[batches_ - 1];
}

void Batches::for_each(std::int64_t size,
                       FunctionRef<void(std::int64_t, std::int64_t)> body) const {
  // Products of matrices of more rows are cut for threads themselves.
  constexpr std::int64_t kLarge = 512, kWork = 1 << 15;
  if (size > kLarge) return body(0, count_);
  const std::int64_t each = std::max<std::int64_t>(size * size * size, 1);
  threads::parallel_for(0, count_, std::max<std::int64_t>(kWork / each, 1), body);
}

void Batches::for_each_group(std::int64_t size, std::int64_t groups,
                             FunctionRef<void(std::int64_t, std::int64_t)> body) const {
  constexpr std::int64_t kWork = 1 << 15;
  const std::int64_t each = std::max<std::int64_t>(size * size * size * kLanes, 1);
  threads::parallel_for(0, groups, std::max<std::int64_t>(kWork / each, 1), body);
}

void Batches::refuse(std::string_view function, std::int64_t i, const std::string &what) const {
  raise(ErrorKind::linalg, std::string(function) + ": " +
                               (batches_ == 0 ? std::string("the matrix")
                                              : "matrix " + std::to_string(i) + " of the batch") +
                               " " + what);
}

} // namespace weft::kernels
