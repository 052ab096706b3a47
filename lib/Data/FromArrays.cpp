// Data sets of files that hold arrays: IDX, .npy, .npz and CSV.
#include <weft/data/files.h>
#include <weft/io.h>

#include "Data/Arrays.h"
#include "Data/Idx.h"
#include "IO/InputFile.h"
#include "Support/CallSite.h"
#include "Support/Fault.h"
#include "Support/Files.h"
#include "Support/Messages.h"

namespace weft::data {

namespace {

using detail::Column;
using detail::make_arrays;
using detail::Pipeline;
using detail::Stored;

/// How elements of an IDX file lie in memory, and the dtype that they become by themselves.
std::pair<Stored, DType> stored_as(IdxType type) {
  switch (type) {
  case IdxType::u8: return {Stored::u8, DType::i32};
  case IdxType::i8: return {Stored::i8, DType::i32};
  case IdxType::i16: return {Stored::i16, DType::i32};
  case IdxType::i32: return {Stored::as_dtype, DType::i32};
  case IdxType::f32: return {Stored::as_dtype, DType::f32};
  case IdxType::f64: return {Stored::as_dtype, DType::f64};
  }
  raise(ErrorKind::internal, "from_idx: a header was accepted whose type has no case");
}

Column idx_column(const std::string &path, const ArrayOptions &options) {
  auto array = std::make_shared<const IdxArray>(read_idx_file(path));
  if (array->header.dims.empty())
    raise(ErrorKind::shape, path + " has no axis to take rows along: its shape is ()");
  const auto [stored, dtype] = stored_as(array->header.type);
  Column column;
  column.data = array->bytes.data();
  column.stored = stored;
  column.stored_dtype = dtype;
  column.rows = array->header.dims[0];
  for (std::size_t i = 1; i < array->header.dims.size(); ++i)
    column.row.push_back(array->header.dims[i]);
  column.dtype = options.dtype.value_or(dtype);
  column.scale = options.scale;
  if (column.dtype == DType::boolean || promote(column.dtype, dtype) != column.dtype)
    raise(ErrorKind::dtype, path + " has elements that become " + std::string(name_of(dtype)) +
                                ", and " + std::string(name_of(column.dtype)) +
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
