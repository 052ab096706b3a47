// The values of files of trees, between the files and the structures of C++ and Python.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/tensor.h>
#include <weft/variable.h>

namespace weft::detail {

/// A tree as its file holds it. Structures of C++ make some of the kinds only, and read them all
/// but the complex numbers.
struct SavedValue {
  enum class Kind : std::uint8_t {
    none,
    boolean,
    integer, ///< of any size
    floating,
    complex,
    text,
    tensor,
    array,  ///< a tensor that is an array of NumPy in Python
    scalar, ///< and a scalar of NumPy
    variable,
    list,
    tuple,
    named, ///< a namedtuple
    dict,
    ordered, ///< a collections.OrderedDict
    record,  ///< a dataclass of Python, or a struct with WEFT_FIELDS
  };

  Kind kind = Kind::none;
  /// The digits of an integer, a text, or the class of a named tuple or record, as
  /// "module:Class"; empty of a struct.
  std::string text = {};
  double real = 0, imaginary = 0; ///< a number; `real` is not 0 of a bool that is true
  Tensor tensor = {};
  std::optional<Variable> variable = {};
  std::vector<SavedValue> keys = {};    ///< of a dict
  std::vector<std::string> fields = {}; ///< of a named tuple or record
  std::vector<SavedValue> entries = {}; ///< of a container: the values of the keys or fields

  static SavedValue integer(std::int64_t value);
  static SavedValue integer(std::uint64_t value);
  static SavedValue of_text(std::string_view text);
  /// Throws nothing: false if it is no integer, or does not fit.
  bool read(std::int64_t &value) const;
  bool read(std::uint64_t &value) const;
};

/// How deep trees may be nested.
inline constexpr int kDeepestSaved = 256;

/// Writes a tree as a safetensors file: the tensors and variables by their paths, each once, the
/// rest as JSON in the metadata. The file appears as a whole or not at all. Throws IOError,
/// ValueError for a tree that is nested too deep and for texts that are not UTF-8, StateError for
/// what has no value, naming its path.
void write_saved(const std::string &path, const SavedValue &tree,
                 std::source_location where = WEFT_HERE);

/// Reads one: tensors and variables that were one are one again. Throws IOError, naming the file,
/// if it is damaged or none of these, DTypeError for a dtype that Weft lacks, OutOfMemory.
SavedValue read_saved(const std::string &path, std::source_location where = WEFT_HERE);

/// A position in a tree that is being read, for messages.
struct SavedPosition {
  const std::string &file;
  const SavedPosition *outer = nullptr;
  std::string_view name = {}; ///< of a field or a key
  std::size_t number = 0;     ///< where there is no name
  const std::source_location &where;
};

/// "layers.0.w"; empty at the root.
std::string path_of(const SavedPosition &place);
/// Throws IOError: the file has something else there than is wanted, such as "a text".
[[noreturn]] void refuse_saved(const SavedPosition &place, const SavedValue &found,
                               const std::string &wanted);
/// Throws IOError: what is there is `wrong`.
[[noreturn]] void fail_saved(const SavedPosition &place, const std::string &wrong);
/// The fields of a struct in the order of `names`. Throws IOError that lists those that are missing
/// or too many.
std::vector<const SavedValue *> saved_fields(const SavedPosition &place, const SavedValue &found,
                                             const std::string_view *names, std::size_t count);

} // namespace weft::detail
