// Copies rows of arrays into elements and batches, converted on the way.
#include "Data/Arrays.h"

#include <algorithm>
#include <cstring>

#include "Runtime/NewTensor.h"
#include "Runtime/StridedCopy.h"
#include "Support/Fault.h"
#include "Support/Threads.h"

namespace weft::data::detail {

namespace {

std::size_t stored_bytes(const Column &column) {
  switch (column.stored) {
  case Stored::u8:
  case Stored::i8: return 1;
  case Stored::i16: return 2;
  case Stored::as_dtype: break;
  }
  return item_size(column.stored_dtype);
}

/// `count` elements, converted as the op `cast` converts those that these sources have.
template <class From, class To>
void convert(const std::byte *from, std::int64_t count, To *to, double scale) {
  const auto *values = reinterpret_cast<const From *>(from);
  if constexpr (std::is_floating_point_v<To>) {
    const To factor = static_cast<To>(scale);
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(values[i]) * factor;
  } else {
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(values[i]);
  }
}

template <class To>
void convert_from(const Column &column, const std::byte *from, std::int64_t count, To *to) {
  switch (column.stored) {
  case Stored::u8: return convert<std::uint8_t>(from, count, to, column.scale);
  case Stored::i8: return convert<std::int8_t>(from, count, to, column.scale);
  case Stored::i16: return convert<std::int16_t>(from, count, to, column.scale);
  case Stored::as_dtype: break;
  }
  visit_dtype(column.stored_dtype,
              [&]<class From>() { convert<From>(from, count, to, column.scale); });
}

/// Fetches the first bytes of a row that will be copied next: rows in a random order are nowhere
/// near each other, and the processor sees a row coming only once it is at it.
void prefetch_row(const std::byte *row, std::size_t bytes) {
  constexpr std::size_t kLine = 64, kMost = 4096; // from where on the processor sees it
  for (std::size_t at = 0; at < std::min(bytes, kMost); at += kLine) __builtin_prefetch(row + at);
}

/// The rows of these numbers, stacked; without an axis for them if `single`.
Tensor rows_of(const Column &column, std::span<const std::int64_t> indices, bool single) {
  Shape shape;
  if (!single) shape.push_back(static_cast<std::int64_t>(indices.size()));
  for (const std::int64_t size : column.row) shape.push_back(size);
  Tensor result = weft::detail::new_tensor(column.dtype, shape);
  // Sizes beside a zero may have a product that no number holds.
  const std::int64_t count =
      result.size() / std::max<std::int64_t>(1, static_cast<std::int64_t>(indices.size()));
  const std::size_t bytes = static_cast<std::size_t>(count) * stored_bytes(column);
  const auto row = [&](std::int64_t index) {
    return column.data + static_cast<std::size_t>(index) * bytes;
  };
  // Below some 64 KiB for a thread, waking others takes longer than the copy.
  const std::int64_t grain = std::max<std::int64_t>(1, 65536 / std::max<std::int64_t>(count, 1));
  const bool as_is =
      column.stored == Stored::as_dtype && column.stored_dtype == column.dtype && column.scale == 1;
  threads::parallel_for(
      0, static_cast<std::int64_t>(indices.size()), grain,
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const auto from = row(indices[static_cast<std::size_t>(i)]);
          if (bytes == 0) continue; // and maybe no memory
          if (i + 2 < end) prefetch_row(row(indices[static_cast<std::size_t>(i) + 2]), bytes);
          if (as_is) {
            std::memcpy(result.impl()->data + static_cast<std::size_t>(i) * bytes, from, bytes);
          } else {
            visit_dtype(column.dtype, [&]<class To>() {
              convert_from(column, from, count, weft::detail::elements<To>(result) + i * count);
            });
          }
        }
      });
  return result;
}

class ArrayRows final : public Maker {
public:
  ArrayRows(std::string file, std::vector<Column> columns, std::shared_ptr<const Form> form)
      : file_(std::move(file)), columns_(std::move(columns)), form_(std::move(form)) {}
  Item make(std::int64_t index) const override { return rows({&index, 1}, true); }
  std::optional<Item> gather(std::span<const std::int64_t> indices) const override {
    return rows(indices, false);
  }
  std::string origin(std::int64_t index) const override {
    return (file_.empty() ? "" : file_ + ", ") + "record " + std::to_string(index);
  }

private:
  Item rows(std::span<const std::int64_t> indices, bool single) const {
    Item item{{}, form_};
    item.tensors.reserve(columns_.size());
    for (const Column &column : columns_) item.tensors.push_back(rows_of(column, indices, single));
    return item;
  }

  std::string file_;
  std::vector<Column> columns_;
  std::shared_ptr<const Form> form_;
};

} // namespace

std::vector<Column> columns_of(std::span<const Tensor> tensors) {
  std::vector<Column> columns;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::string name = "tensor " + std::to_string(i);
    if (!tensors[i].defined()) raise(ErrorKind::state, name + " is undefined");
    if (tensors[i].traced())
      raise(ErrorKind::state, name + " stands for a value of a traced function");
    if (tensors[i].rank() == 0)
      raise(ErrorKind::shape, name + " has no axis to take rows along: its shape is ()");
    auto kept = std::make_shared<const Tensor>(make_contiguous(tensors[i]));
    const Shape shape = kept->shape();
    const DType dtype = kept->dtype();
    const std::byte *data = kept->impl()->data;
    columns.push_back({std::move(kept), data, Stored::as_dtype, dtype, shape[0],
                       Shape(std::span<const std::int64_t>(shape).subspan(1)), dtype, 1});
  }
  return columns;
}

StagePointer make_arrays(std::string function, std::string file, std::vector<Column> columns,
                         std::shared_ptr<const Form> form) {
  if (columns.empty()) raise(ErrorKind::value, "there is no tensor to take rows of");
  std::string description = std::move(function);
  const std::size_t name = file.rfind('/') + 1; // a folder may be moved
  if (!file.empty()) description += " '" + file.substr(name) + "'";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].rows != columns[0].rows)
      raise(ErrorKind::shape, "tensor " + std::to_string(i) + " has " +
                                  std::to_string(columns[i].rows) + " rows and tensor 0 has " +
                                  std::to_string(columns[0].rows));
    Shape shape{columns[i].rows};
    for (const std::int64_t size : columns[i].row) shape.push_back(size);
    description += (i == 0 ? " " : ", ") + to_string(TensorType{columns[i].dtype, shape});
    if (columns[i].scale != 1) description += " scaled";
  }
  const std::int64_t rows = columns[0].rows;
  return std::make_shared<RowStage>(
      std::move(description), rows,
      std::make_shared<ArrayRows>(std::move(file), std::move(columns), std::move(form)));
}

} // namespace weft::data::detail
