// Rows of arrays, copied into elements and batches and converted on the way; and data sets of files
// that hold arrays: IDX, .npy, .npz and CSV.
#include "Data/Stage.h"

#include <algorithm>
#include <cstring>

#include "Data/Idx.h"
#include "IO/InputFile.h"
#include "Runtime/Elements.h"
#include "Runtime/NewTensor.h"
#include "Runtime/OnDevice.h"
#include "Runtime/StridedCopy.h"
#include "Support/CallSite.h"
#include "Support/Fault.h"
#include "Support/Files.h"
#include "Support/Messages.h"
#include "Support/Threads.h"
#include <weft/data/files.h>
#include <weft/io.h>

namespace weft::data::detail {

namespace {

/// `count` elements, converted as the op `cast` converts those that these sources have.
template <class From, class To>
void convert(const std::byte *from, std::int64_t count, To *to, double scale) {
  const auto *values = reinterpret_cast<const From *>(from);
  if constexpr (is_floating_type<To>) {
    using Number = std::conditional_t<std::is_floating_point_v<To>, To, float>;
    const auto factor = static_cast<Number>(scale);
    for (std::int64_t i = 0; i < count; ++i)
      to[i] = static_cast<To>(static_cast<Number>(values[i]) * factor);
  } else {
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(values[i]);
  }
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
  const std::size_t bytes = static_cast<std::size_t>(count) * item_size(column.stored_dtype);
  const auto row = [&](std::int64_t index) {
    return column.data + static_cast<std::size_t>(index) * bytes;
  };
  // Below some 64 KiB for a thread, waking others takes longer than the copy.
  const std::int64_t grain = std::max<std::int64_t>(1, 65536 / std::max<std::int64_t>(count, 1));
  const bool as_is = column.stored_dtype == column.dtype && column.scale == 1;
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
              visit_real(column.stored_dtype, [&]<class From>() {
                convert<From>(from, count, weft::detail::elements<To>(result) + i * count,
                              column.scale);
              });
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
    auto kept = std::make_shared<const Tensor>(make_contiguous(weft::detail::on_host(tensors[i])));
    const Shape shape = kept->shape();
    const DType dtype = kept->dtype();
    const std::byte *data = kept->impl()->data;
    columns.push_back({std::move(kept), data, dtype, shape[0],
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

namespace weft::data {

namespace {

using detail::Column;
using detail::make_arrays;
using detail::Pipeline;

Column idx_column(const std::string &path, const ArrayOptions &options) {
  auto array = std::make_shared<const IdxArray>(read_idx_file(path));
  if (array->header.dims.empty())
    raise(ErrorKind::shape, path + " has no axis to take rows along: its shape is ()");
  const DType dtype = *dtype_of_idx(array->header.type);
  Column column;
  column.data = array->bytes.data();
  column.stored_dtype = dtype;
  column.rows = array->header.dims[0];
  for (std::size_t i = 1; i < array->header.dims.size(); ++i)
    column.row.push_back(array->header.dims[i]);
  column.dtype = options.dtype.value_or(dtype);
  column.scale = options.scale;
  if (column.dtype == DType::boolean || DTypeJoin{column.dtype, dtype}.common() != column.dtype)
    raise(ErrorKind::dtype, path + " has elements of " + std::string(name_of(dtype)) + ", and " +
                                std::string(name_of(column.dtype)) +
                                " does not hold them: convert them with map");
  if (options.scale != 1 && !is_floating(column.dtype))
    raise(ErrorKind::dtype, "a scale is for floating dtypes, and the elements of " + path +
                                " become " + std::string(name_of(column.dtype)) +
                                ": set the option dtype to f32");
  column.owner = std::move(array);
  return column;
}

/// Rows of named arrays, side by side by their names.
BasicDataset<std::map<std::string, Tensor>> rows_of(const char *function, const std::string &path,
                                                    const std::map<std::string, Tensor> &arrays) {
  if (arrays.empty()) raise(ErrorKind::io, path + ": has no arrays");
  detail::Item item = detail::item_of(arrays);
  return BasicDataset<std::map<std::string, Tensor>>(Pipeline(
      make_arrays(function, path, detail::columns_of(item.tensors), std::move(item.form))));
}

} // namespace

BasicDataset<Tensor> from_idx(const std::string &path, const ArrayOptions &options,
                              std::source_location where) {
  const CompositeCall site("from_idx", where);
  check_path("from_idx", path);
  return naming(path, [&] {
    return BasicDataset<Tensor>(
        Pipeline(make_arrays("from_idx", path, {idx_column(path, options)})));
  });
}

Dataset from_idx(const std::string &path, const std::string &labels, const ArrayOptions &options,
                 std::source_location where) {
  const CompositeCall site("from_idx", where);
  check_path("from_idx", path);
  check_path("from_idx", labels);
  std::vector<Column> columns{naming(path, [&] { return idx_column(path, options); }),
                              naming(labels, [&] { return idx_column(labels, {}); })};
  if (columns[0].rows != columns[1].rows)
    raise(ErrorKind::shape, path + " has " + std::to_string(columns[0].rows) + " rows, and " +
                                labels + " has " + std::to_string(columns[1].rows));
  return Dataset(Pipeline(make_arrays("from_idx", path, std::move(columns))));
}

BasicDataset<Tensor> from_npy(const std::string &path, std::source_location where) {
  const CompositeCall site("from_npy", where);
  const Tensor array = load_npy(path);
  return naming(path, [&] {
    return BasicDataset<Tensor>(
        Pipeline(make_arrays("from_npy", path, detail::columns_of({&array, 1}))));
  });
}

BasicDataset<std::map<std::string, Tensor>> from_safetensors(const std::string &path,
                                                             const SafetensorsOptions &options,
                                                             std::source_location where) {
  const CompositeCall site("from_safetensors", where);
  const std::map<std::string, Tensor> tensors = load_safetensors(path, options);
  return naming(path, [&] { return rows_of("from_safetensors", path, tensors); });
}

Dataset from_safetensors(const std::string &path, const std::string &first,
                         const std::string &second, const SafetensorsOptions &options,
                         std::source_location where) {
  const CompositeCall site("from_safetensors", where);
  const SafetensorsFile file(path);
  const Tensor tensors[] = {file.load(first, options), file.load(second, options)};
  return naming(path, [&] {
    return Dataset(Pipeline(make_arrays("from_safetensors", path, detail::columns_of(tensors))));
  });
}

BasicDataset<std::map<std::string, Tensor>> from_npz(const std::string &path,
                                                     std::source_location where) {
  const CompositeCall site("from_npz", where);
  return naming(path, [&] { return rows_of("from_npz", path, read_npz(path)); });
}

Dataset from_npz(const std::string &path, const std::string &first, const std::string &second,
                 std::source_location where) {
  const CompositeCall site("from_npz", where);
  const std::map<std::string, Tensor> arrays = read_npz(path);
  std::vector<Tensor> tensors;
  for (const std::string &name : {first, second}) {
    const auto found = arrays.find(name);
    if (found == arrays.end()) {
      std::string there;
      for (const auto &[key, array] : arrays) there += (there.empty() ? "" : ", ") + shown(key);
      raise(ErrorKind::value, path + " has no array '" + name + "'; there are " + there);
    }
    tensors.push_back(found->second);
  }
  return naming(path, [&] {
    return Dataset(Pipeline(make_arrays("from_npz", path, detail::columns_of(tensors))));
  });
}

BasicDataset<std::map<std::string, Tensor>>
from_csv(const std::string &path, const CsvOptions &options, std::source_location where) {
  const CompositeCall site("from_csv", where);
  return naming(path, [&] { return rows_of("from_csv", path, read_csv(path, options)); });
}

} // namespace weft::data
