// Shape functions of linear algebra: matrices are the last two axes, and axes before them batches.
#include "OpDefs/ShapeFunctions.h"

#include <algorithm>
#include <string>

namespace weft::shapes {

namespace {

/// "x", the name of the first operand.
std::string first_of(const InferContext &call) {
  return std::string(op_info(call.op).operands[0].name);
}

/// A fault unless operand `i` has `axes` axes behind its batches, which are the first operand's.
Check check_matrices(const InferContext &call, std::size_t i, std::int64_t axes) {
  const OperandInfo &info = op_info(call.op).operands[i];
  const TensorType &first = call.operands[0], &type = call.operands[i];
  const std::string name(info.name);
  if (type.shape.rank() < axes)
    return Fault{ErrorKind::shape, name + " has the shape " + to_string(type.shape) + ": " +
                                       (axes == 2 ? "a matrix" : "a vector") + " is wanted"};
  if (i != 0 && info.role == OperandRole::value && type.dtype != first.dtype)
    return Fault{ErrorKind::dtype, "the dtypes differ: " + first_of(call) + " is " +
                                       std::string(name_of(first.dtype)) + " and " + name + " is " +
                                       std::string(name_of(type.dtype))};
  const std::int64_t batches = first.shape.rank() - 2;
  bool same = type.shape.rank() - axes == batches;
  for (std::int64_t axis = 0; same && axis < batches; ++axis)
    same = first.shape[axis] == type.shape[axis] || first.shape[axis] == unknown ||
           type.shape[axis] == unknown;
  if (!same)
    return Fault{ErrorKind::shape, "the batches differ: " + first_of(call) + " has the shape " +
                                       to_string(first.shape) + ", and " + name + " has " +
                                       to_string(type.shape)};
  return std::nullopt;
}

/// A fault unless the first operand is square matrices.
Check check_square(const InferContext &call) {
  if (Check fault = check_matrices(call, 0, 2)) return fault;
  const Shape &shape = call.operands[0].shape;
  const std::int64_t rows = shape[shape.rank() - 2], columns = shape[shape.rank() - 1];
  if (rows == columns || rows == unknown || columns == unknown) return std::nullopt;
  return Fault{ErrorKind::shape, words::not_square(first_of(call), to_string(shape))};
}

/// A fault unless the first operand is matrices with at least as many rows as columns.
Check check_tall(const InferContext &call) {
  if (Check fault = check_matrices(call, 0, 2)) return fault;
  const Shape &shape = call.operands[0].shape;
  const std::int64_t rows = shape[shape.rank() - 2], columns = shape[shape.rank() - 1];
  if (rows == unknown || columns == unknown || rows >= columns) return std::nullopt;
  return Fault{ErrorKind::shape, "x has the shape " + to_string(shape) +
                                     ": at least as many rows as columns are wanted"};
}

/// A fault unless operand `i` has the first one's number of rows in that axis from the end.
Check check_rows(const InferContext &call, std::size_t i, std::int64_t from_end,
                 const char *what = "rows") {
  const Shape &x = call.operands[0].shape, &other = call.operands[i].shape;
  const std::int64_t rows = x[x.rank() - 2], has = other[other.rank() - from_end];
  if (rows == has || rows == unknown || has == unknown) return std::nullopt;
  return Fault{ErrorKind::shape,
               words::rows_differ(first_of(call), to_string(x), op_info(call.op).operands[i].name,
                                  std::to_string(rows), what, to_string(other))};
}

/// A fault unless both operands are square matrices of one size.
Check check_two_square(const InferContext &call) {
  if (Check fault = check_square(call)) return fault;
  if (Check fault = check_matrices(call, 1, 2)) return fault;
  if (Check fault = check_rows(call, 1, 2)) return fault;
  return check_rows(call, 1, 1, "columns");
}

/// The shape of batches with these sizes behind.
Shape behind(const Shape &batches, std::initializer_list<std::int64_t> sizes) {
  Shape shape(std::span(batches).first(batches.size() - 2));
  for (const std::int64_t size : sizes) shape.push_back(size);
  return shape;
}

std::int64_t smaller(std::int64_t rows, std::int64_t columns) {
  if (rows == 0 || columns == 0) return 0;
  return rows == unknown || columns == unknown ? unknown : std::min(rows, columns);
}

} // namespace

Result<TensorType> square_matrix(const InferContext &call) {
  if (Check fault = check_square(call)) return *fault;
  return call.operands[0];
}

Result<TensorType> det(const InferContext &call) {
  if (Check fault = check_square(call)) return *fault;
  return TensorType{call.operands[0].dtype, behind(call.operands[0].shape, {})};
}

Result<TensorType> cofactors_along(const InferContext &call) {
  if (Check fault = check_two_square(call)) return *fault;
  return call.operands[0];
}

Result<TensorType> pinv(const InferContext &call) {
  if (Check fault = check_tall(call)) return *fault;
  const TensorType &x = call.operands[0];
  const std::int64_t rows = x.shape[x.shape.rank() - 2], columns = x.shape[x.shape.rank() - 1];
  const Shape wanted[] = {{}, {columns}, {rows, columns}, {columns, columns}};
  for (const std::size_t i : {1, 2, 3}) {
    const auto axes = static_cast<std::int64_t>(wanted[i].size());
    if (Check fault = check_matrices(call, i, axes)) return *fault;
    const Shape &has = call.operands[i].shape;
    for (std::int64_t axis = 0; axis < axes; ++axis) {
      const std::int64_t size = wanted[i][axis], own = has[has.rank() - axes + axis];
      if (size == own || size == unknown || own == unknown) continue;
      return Fault{ErrorKind::shape, "x has the shape " + to_string(x.shape) + ", so " +
                                         std::string(op_info(call.op).operands[i].name) + " is " +
                                         to_string(wanted[i]) + ", but it has the shape " +
                                         to_string(has)};
    }
  }
  return TensorType{x.dtype, behind(x.shape, {columns, rows})};
}

Result<TensorType> lu(const InferContext &call) {
  if (Check fault = check_matrices(call, 0, 2)) return *fault;
  const Shape &shape = call.operands[0].shape;
  const std::int64_t rows = shape[shape.rank() - 2], columns = shape[shape.rank() - 1];
  call.more[0] = {DType::i64, behind(shape, {smaller(rows, columns)})};
  call.more[1] = {DType::i64, behind(shape, {rows})};
  return call.operands[0];
}

Result<TensorType> lu_solve(const InferContext &call) {
  if (Check fault = check_square(call)) return *fault;
  for (const std::size_t i : {1, 2, 3}) {
    if (Check fault = check_matrices(call, i, i == 2 ? 1 : 2)) return *fault;
    if (Check fault = check_rows(call, i, i == 2 ? 1 : 2)) return *fault;
  }
  if (Check fault = check_rows(call, 1, 1)) return *fault;
  return call.operands[3];
}

Result<TensorType> gesv(const InferContext &call) {
  if (Check fault = check_square(call)) return *fault;
  if (Check fault = check_matrices(call, 1, 2)) return *fault;
  if (Check fault = check_rows(call, 1, 2)) return *fault;
  return call.operands[1];
}

Result<TensorType> triangular_solve(const InferContext &call) { return gesv(call); }

Result<TensorType> qr(const InferContext &call) {
  if (Check fault = check_tall(call)) return *fault;
  const TensorType &x = call.operands[0];
  const std::int64_t rows = x.shape[x.shape.rank() - 2], columns = x.shape[x.shape.rank() - 1];
  const std::int64_t kept = QrAttrs(call.attrs).complete ? rows : columns;
  call.more[0] = {x.dtype, behind(x.shape, {kept, columns})};
  const Shape q = behind(x.shape, {rows, kept});
  if (Result<std::int64_t> count = element_count(q, item_size(x.dtype)); !count)
    return count.fault();
  return TensorType{x.dtype, q};
}

/// Eigenvalues in a dtype, and vectors in another.
static Result<TensorType> eigensystem(const InferContext &call, DType values, DType vectors) {
  if (Check fault = check_square(call)) return *fault;
  const Shape &shape = call.operands[0].shape;
  const std::int64_t rows = shape[shape.rank() - 2], columns = shape[shape.rank() - 1];
  call.more[0] = {vectors, shape};
  return TensorType{values, behind(shape, {rows == unknown ? columns : rows})};
}

Result<TensorType> eigh(const InferContext &call) {
  const DType dtype = call.operands[0].dtype;
  return eigensystem(call, component_of(dtype), dtype);
}

Result<TensorType> eig(const InferContext &call) {
  const DType dtype = complex_of(call.operands[0].dtype);
  return eigensystem(call, dtype, dtype);
}

Result<TensorType> svd(const InferContext &call) {
  if (Check fault = check_tall(call)) return *fault;
  const TensorType &x = call.operands[0];
  const std::int64_t columns = x.shape[x.shape.rank() - 1];
  call.more[0] = x;
  call.more[1] = {x.dtype, behind(x.shape, {columns, columns})};
  return TensorType{component_of(x.dtype), behind(x.shape, {columns})};
}

} // namespace weft::shapes
