// Data sets of files: IDX, .npy, .npz, CSV, lines of text and TFRecord.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <weft/data/dataset.h>
#include <weft/options.h>
#include <weft/safetensors.h>

namespace weft::data {

struct IdxOptions {
  /// The dtype to convert the elements to; by default they keep that of the file: u8, i8, i16, i32,
  /// f32 or f64.
  std::optional<DType> dtype;
};
WEFT_OPTIONS(IdxOptions, dtype)

/// Reads an IDX file, the format of MNIST: `read_idx("digits-images.idx3-ubyte", {.dtype = f32})`
/// has shape (1797, 8, 8). Throws IOError, naming the file and what is wrong with it, for a file
/// that is missing, compressed, truncated, too long, or no IDX file.
Tensor read_idx(const std::string &path, IdxOptions options = {},
                std::source_location where = WEFT_HERE);

/// How the elements of a file of arrays become those of a data set.
struct ArrayOptions {
  /// As in IdxOptions; of the first file.
  std::optional<DType> dtype = std::nullopt;
  /// What elements of a floating dtype are multiplied by, in the copy into a batch: 1 / 255.0 makes
  /// bytes numbers of [0, 1]. Of the first file.
  double scale = 1;
};
WEFT_OPTIONS(ArrayOptions, dtype, scale)

/// The rows of an IDX file, which stay the bytes that they are in the file until they are copied
/// into an element or a batch. Throws as `read_idx` does; ShapeError for a file of rank 0,
/// DTypeError for a dtype that is narrower than the file's, or a scale of integers.
BasicDataset<Tensor> from_idx(const std::string &path, const ArrayOptions &options = {},
                              std::source_location where = WEFT_HERE);
/// Pairs of rows, such as images and labels: `from_idx(images, labels, {.dtype = f32, .scale = 1 /
/// 255.0})`.
Dataset from_idx(const std::string &path, const std::string &labels,
                 const ArrayOptions &options = {}, std::source_location where = WEFT_HERE);

/// The rows of a .npy file. Throws as `load_npy` and `from_tensors` do.
BasicDataset<Tensor> from_npy(const std::string &path, std::source_location where = WEFT_HERE);

/// All arrays of a .npz file by their names, as `numpy.savez` and `savez_compressed` write it.
/// Throws IOError, naming the file and the member, for what is damaged, lies about its size, is
/// encrypted, larger than 4 GiB, or no array of Weft's dtypes.
std::map<std::string, Tensor> read_npz(const std::string &path,
                                       std::source_location where = WEFT_HERE);
/// Rows of all arrays of a .npz file, by their names.
BasicDataset<std::map<std::string, Tensor>> from_npz(const std::string &path,
                                                     std::source_location where = WEFT_HERE);
/// Pairs of rows of two of its arrays: `from_npz("mnist.npz", "x_train", "y_train")`. Throws
/// ValueError for a name that is not there.
Dataset from_npz(const std::string &path, const std::string &first, const std::string &second,
                 std::source_location where = WEFT_HERE);

/// Rows of all tensors of a safetensors file, or of an index and its files, by their names. Throws
/// as `load_safetensors` and `from_tensors` do.
BasicDataset<std::map<std::string, Tensor>>
from_safetensors(const std::string &path, const SafetensorsOptions &options = {},
                 std::source_location where = WEFT_HERE);
/// Pairs of rows of two of its tensors, of which no others are read. Throws IOError for a name that
/// is not there.
Dataset from_safetensors(const std::string &path, const std::string &first,
                         const std::string &second, const SafetensorsOptions &options = {},
                         std::source_location where = WEFT_HERE);

/// Options of `read_csv` and `from_csv`.
struct CsvOptions {
  /// The columns to read, by name or, without a header, by number from 0; by default all.
  std::vector<std::string> columns = {};
  /// Their dtypes: one for each, or a single one.
  std::vector<DType> dtypes = {DType::f32};
  /// Whether the first line has the names of the columns.
  bool header = true;
  char delimiter = ',';
};
WEFT_OPTIONS(CsvOptions, columns, dtypes, header, delimiter)

/// The columns of a CSV file by name, each of shape (rows,). Quotes are those of RFC 4180. Bools
/// are 0, 1, true and false in any case. An empty field is NaN where the dtype is floating. Throws
/// IOError with line and column for a row of another length, a quote that is not closed and a field
/// that is no number of the dtype; ValueError for options that do not fit the file.
std::map<std::string, Tensor> read_csv(const std::string &path, const CsvOptions &options = {},
                                       std::source_location where = WEFT_HERE);
/// Rows of a CSV file: numbers by the names of their columns.
BasicDataset<std::map<std::string, Tensor>> from_csv(const std::string &path,
                                                     const CsvOptions &options = {},
                                                     std::source_location where = WEFT_HERE);

/// The lines of a text file, without their ends, LF or CR LF. Throws IOError for a file that cannot
/// be read.
BasicDataset<std::string> from_lines(const std::string &path,
                                     std::source_location where = WEFT_HERE);

/// The records of a TFRecord file, as bytes. The lengths of all records are read and checked at
/// once; a record is read and its checksum compared when it is needed. Throws IOError with file,
/// record and offset for what is truncated or damaged; in a loop too.
BasicDataset<std::string> from_tfrecord(const std::string &path,
                                        std::source_location where = WEFT_HERE);

/// The features of a `tf.train.Example`.
struct Example {
  std::map<std::string, Tensor> numbers;                   ///< f32(n,) or i64(n,)
  std::map<std::string, std::vector<std::string>> strings; ///< lists of bytes
  WEFT_FIELDS(Example, numbers, strings)
};
/// Parses the bytes of a `tf.train.Example`; fields that are not known are passed over. Throws
/// IOError for bytes that are none:
///
///     auto images = data::from_tfrecord("train.tfrecord").map([](const std::string &record) {
///       return data::parse_example(record).numbers.at("pixels");
///     });
Example parse_example(std::string_view bytes, std::source_location where = WEFT_HERE);

} // namespace weft::data
