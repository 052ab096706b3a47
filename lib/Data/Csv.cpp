// Reads CSV files by RFC 4180 into tensors, one for each column.
#include <weft/data/files.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <limits>
#include <set>

#include "IO/InputFile.h"
#include "Runtime/Elements.h"
#include "Runtime/NewTensor.h"
#include "Support/CallSite.h"
#include "Support/Enumerators.h"
#include "Support/Fault.h"
#include "Support/Files.h"
#include "Support/Messages.h"

namespace weft::data {

namespace {

/// Far more than anybody has: a line of a gigabyte is no header.
constexpr std::size_t kMostColumns = std::size_t{1} << 20, kLongestName = std::size_t{1} << 16;

/// Goes through the fields of a text.
class CsvReader {
public:
  CsvReader(const std::string &path, std::string_view text, char delimiter)
      : path_(path), text_(text), delimiter_(delimiter) {
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3); // a mark of UTF-8
  }

  /// The fields of the next line that is not empty, good until the next call; false at the end.
  bool row(std::vector<std::string_view> &fields) {
    while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) end_line();
    if (at_ >= text_.size()) return false;
    line_ = next_line_;
    fields.clear();
    unquoted_.clear();
    for (;;) {
      if (fields.size() == kMostColumns)
        fail(line_, "there are more than " + std::to_string(kMostColumns) + " fields");
      fields.push_back(field());
      if (at_ < text_.size() && text_[at_] == delimiter_) {
        ++at_;
        continue;
      }
      if (at_ < text_.size()) end_line();
      return true;
    }
  }
  /// That of the row that was read last, from 1.
  std::size_t line() const { return line_; }

  [[noreturn]] void fail(std::size_t line, const std::string &what) const {
    raise(ErrorKind::io, path_ + ": line " + std::to_string(line) + ": " + what);
  }

private:
  void end_line() {
    if (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++at_;
    ++at_;
    ++next_line_;
  }
  bool ends_field() const {
    return at_ >= text_.size() || text_[at_] == delimiter_ || text_[at_] == '\n' ||
           text_[at_] == '\r';
  }
  std::string_view field() {
    if (at_ < text_.size() && text_[at_] == '"') return quoted();
    const std::size_t start = at_;
    while (!ends_field()) ++at_;
    return text_.substr(start, at_ - start);
  }
  std::string_view quoted() {
    const std::size_t start = next_line_, first = ++at_;
    bool doubled = false;
    for (;; ++at_) {
      if (at_ >= text_.size()) fail(start, "a quote is opened and not closed");
      if (text_[at_] == '"') {
        if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"') break;
        ++at_; // two stand for one
        doubled = true;
      }
      next_line_ += text_[at_] == '\n';
    }
    const std::string_view inside = text_.substr(first, at_ - first);
    ++at_;
    if (!ends_field()) fail(next_line_, "something follows a closing quote");
    return doubled ? without_doubled(inside) : inside;
  }
  std::string_view without_doubled(std::string_view inside) {
    std::string &value = unquoted_.emplace_back();
    for (std::size_t i = 0; i < inside.size(); ++i) {
      value += inside[i];
      if (inside[i] == '"') ++i;
    }
    return value;
  }

  const std::string &path_;
  std::string_view text_;
  char delimiter_;
  std::size_t at_ = 0, line_ = 1, next_line_ = 1;
  std::deque<std::string> unquoted_; ///< of the row
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

template <class T>
bool parse(std::string_view text, T &value) {
  text = trimmed(text);
  if constexpr (std::is_same_v<T, bool>) {
    std::string lower(text);
    std::ranges::transform(lower, lower.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
    value = lower == "1" || lower == "true";
    return value || lower == "0" || lower == "false";
  } else {
    if (is_floating_type<T> && text.empty()) {
      value = std::numeric_limits<T>::quiet_NaN();
      return true;
    }
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    constexpr bool has_16_bits = is_floating_type<T> && !std::is_floating_point_v<T>;
    std::conditional_t<has_16_bits, double, T> number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc()) value = static_cast<T>(number);
    return error == std::errc() && end == text.data() + text.size();
  }
}

/// A column while it is read.
struct Column {
  std::string name;
  std::size_t field = 0;
  DType dtype = DType::f32;
  std::string bytes; ///< of its elements
};

/// Some of the names, for a message.
std::string listed(const std::vector<std::string> &names) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    text += (i == 0 ? "" : ", ") + shown(names[i]);
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

std::vector<Column> chosen(const std::string &path, const std::vector<std::string> &names,
                           const CsvOptions &options) {
  const std::vector<std::string> &wanted = options.columns.empty() ? names : options.columns;
  if (options.dtypes.size() != 1 && options.dtypes.size() != wanted.size())
    raise(ErrorKind::value, path + ": there are " + std::to_string(wanted.size()) +
                                " columns and " + std::to_string(options.dtypes.size()) +
                                " dtypes; give one for each, or a single one");
  std::map<std::string_view, std::size_t> fields; // the first of each name
  for (std::size_t i = 0; i < names.size(); ++i) fields.emplace(names[i], i);
  std::set<std::string_view> taken;
  std::vector<Column> columns;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto found = fields.find(wanted[i]);
    if (found == fields.end())
      raise(ErrorKind::value,
            path + " has no column '" + shown(wanted[i]) + "'; there are " + listed(names));
    if (!taken.insert(wanted[i]).second)
      raise(options.columns.empty() ? ErrorKind::io : ErrorKind::value,
            path + ": there are two columns '" + shown(wanted[i]) + "'");
    const DType dtype = options.dtypes[options.dtypes.size() == 1 ? 0 : i];
    check_dtype("read_csv", dtype);
    if (is_complex(dtype))
      raise(ErrorKind::dtype, "a column is of real numbers, and " + std::string(name_of(dtype)) +
                                  " is complex: read the parts, and join them by complex");
    columns.push_back({wanted[i], found->second, dtype, {}});
  }
  return columns;
}

void append(const CsvReader &reader, std::string_view field, Column &column) {
  visit_real(column.dtype, [&]<class T>() {
    T value{};
    if (!parse(field, value))
      reader.fail(reader.line(), "column '" + shown(column.name) + "': '" + shown(field, 40) +
                                     "' is no number of " + std::string(name_of(column.dtype)));
    column.bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
  });
}

std::vector<std::string> names_of(const CsvReader &reader,
                                  const std::vector<std::string_view> &fields, bool header) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (header && fields[i].size() > kLongestName)
      reader.fail(reader.line(), "the name of column " + std::to_string(i) + " has " +
                                     std::to_string(fields[i].size()) + " bytes, more than " +
                                     std::to_string(kLongestName));
    names.push_back(header ? std::string(trimmed(fields[i])) : std::to_string(i));
  }
  return names;
}

std::map<std::string, Tensor> read_columns(const std::string &path, const CsvOptions &options) {
  const std::string text = read_file(path);
  CsvReader reader(path, text, options.delimiter);
  std::vector<std::string_view> fields;
  bool more = reader.row(fields);
  if (!more) raise(ErrorKind::io, path + ": has no lines");
  const std::vector<std::string> names = names_of(reader, fields, options.header);
  std::vector<Column> columns = chosen(path, names, options);
  if (options.header) more = reader.row(fields);
  std::int64_t rows = 0;
  for (; more; more = reader.row(fields), ++rows) {
    if (fields.size() != names.size())
      reader.fail(reader.line(), "there are " + std::to_string(fields.size()) + " fields and " +
                                     std::to_string(names.size()) + " columns");
    for (Column &column : columns) append(reader, fields[column.field], column);
  }
  std::map<std::string, Tensor> result;
  for (const Column &column : columns) {
    const Tensor tensor = weft::detail::new_tensor(column.dtype, {{rows}});
    std::ranges::copy(std::as_bytes(std::span(column.bytes)), tensor.impl()->data);
    result.emplace(column.name, tensor);
  }
  return result;
}

} // namespace

std::map<std::string, Tensor> read_csv(const std::string &path, const CsvOptions &options,
                                       std::source_location where) {
  const CompositeCall site("read_csv", where);
  check_path("read_csv", path);
  if (options.delimiter == '"' || options.delimiter == '\n' || options.delimiter == '\r')
    raise(ErrorKind::value, "the delimiter must not be a quote or the end of a line");
  return naming(path, [&] { return read_columns(path, options); });
}

} // namespace weft::data
