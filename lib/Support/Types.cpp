// Printing, parsing and checks of dtypes, shapes and tensor types.
#include <algorithm>
#include <deque>
#include <mutex>
#include <ostream>

#include "Support/Enumerators.h"
#include "Support/Fault.h"
#include "Support/SizeNames.h"
#include <weft/error.h>
#include <weft/shape.h>

namespace weft {

std::optional<DType> parse_dtype(std::string_view name) {
  for (std::size_t i = 0; i < kNumDTypes; ++i)
    if (detail::kDTypeInfos[i].name == name) return static_cast<DType>(i);
  return std::nullopt;
}

std::ostream &operator<<(std::ostream &out, DType dtype) { return out << name_of(dtype); }

DType DTypeJoin::common_or_throw(std::string_view function) const {
  if (const std::optional<DType> dtype = common()) return *dtype;
  std::string with_sign, without, stored, other;
  for (std::uint32_t rest = seen_; rest != 0; rest &= rest - 1) {
    const auto dtype = static_cast<DType>(std::countr_zero(rest));
    (kind_of(dtype) == DTypeKind::integer ? with_sign : without) = name_of(dtype);
    (is_storage(dtype) && stored.empty() ? stored : other) = name_of(dtype);
  }
  if (!stored.empty())
    raise(ErrorKind::dtype, std::string(function) + ": " + stored + " and " + other +
                                " have no common dtype, as elements of " + stored +
                                " are only kept: cast them first, with astype");
  raise(ErrorKind::dtype,
        std::string(function) + ": " + without + " and " + with_sign +
            " have no common dtype, as none holds the numbers of both: cast one of them");
}

std::string detail::list_of_dtypes(std::string_view DTypeInfo::*column,
                                   std::string_view before_last) {
  std::string text;
  for (std::size_t i = 0; i < kNumDTypes; ++i) {
    if (i != 0) text += i + 1 == kNumDTypes ? before_last : ", ";
    text += dtype_info(kDTypesInOrder[i]).*column;
  }
  return text;
}

std::string no_dtype(DType dtype) {
  return "the value " + std::to_string(static_cast<int>(dtype)) + " is no dtype; there are " +
         detail::list_of_dtypes(&DTypeInfo::name, ", ");
}

void check_dtype(std::string_view function, DType dtype) {
  if (!is_dtype(dtype)) throw DTypeError(std::string(function) + ": " + no_dtype(dtype));
}

namespace detail {
void throw_no_such_axis(std::size_t axis, std::size_t rank) {
  throw IndexError("shape: axis " + std::to_string(static_cast<std::int64_t>(axis)) +
                   " is out of range for " + std::to_string(rank) +
                   (rank == 1 ? " axis" : " axes") + ": those of a shape count from 0");
}
} // namespace detail

bool Shape::is_static() const {
  for (std::int64_t dim : *this)
    if (dim < 0) return false;
  return true;
}

namespace {

/// The number of the first name; the next ones are below it.
constexpr std::int64_t kLastSizeName = -1000;

/// All names of sizes, which are few and stay for good.
struct SizeNames {
  std::mutex mutex;
  std::deque<std::string> names;
};
SizeNames &size_names() {
  static SizeNames &all = *new SizeNames;
  return all;
}

} // namespace

std::int64_t size_of_name(const std::string &name) {
  SizeNames &all = size_names();
  const std::lock_guard lock(all.mutex);
  auto found = std::ranges::find(all.names, name);
  if (found == all.names.end()) found = all.names.insert(found, name);
  return kLastSizeName - (found - all.names.begin());
}

bool is_name_of_size(std::int64_t size) {
  if (size > kLastSizeName) return false;
  SizeNames &all = size_names();
  const std::lock_guard lock(all.mutex);
  return size > kLastSizeName - static_cast<std::int64_t>(all.names.size());
}

const std::string &name_of_size(std::int64_t size) {
  SizeNames &all = size_names();
  const std::lock_guard lock(all.mutex);
  return all.names[static_cast<std::size_t>(kLastSizeName - size)];
}

std::string to_string(const Shape &shape) {
  if (is_any_rank(shape)) return "(...)";
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i != 0) text += ", ";
    text += shape[i] == unknown         ? "?"
            : is_name_of_size(shape[i]) ? name_of_size(shape[i])
                                        : std::to_string(shape[i]);
  }
  if (shape.size() == 1) text += ',';
  return text + ')';
}

std::ostream &operator<<(std::ostream &out, const Shape &shape) { return out << to_string(shape); }

std::string to_string(const TensorType &type) {
  return std::string(name_of(type.dtype)) + to_string(type.shape);
}

} // namespace weft
