// Reads instances as the parser comes to them, and writes predictions.
#include "Json.h"

#include "RequestError.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <variant>

#include <nlohmann/json.hpp>

namespace serve {

using nlohmann::json;
using weft::DType;
using weft::Tensor;

namespace {

/// The shortest digits that are read back as the same number.
template <class T>
std::string text_of(T value) {
  if constexpr (!std::is_arithmetic_v<T>) {
    return text_of(static_cast<float>(value));
  } else {
    char digits[64];
    return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
  }
}

/// A nested list on its way to a tensor: its elements, and its sizes as far as they are known.
class NestedList {
public:
  NestedList(DType dtype, std::int64_t rank) : rank_(rank) {
    weft::visit_dtype(dtype, [&]<class T>() { values_ = std::vector<T>(); });
    dtype_ = dtype;
  }

  void open() {
    if (depth() == rank_)
      fail("a list where the program takes " + std::string(name_of(dtype_)) + ": it is of rank " +
           std::to_string(rank_));
    enter();
    counts_.push_back(0);
  }
  void close() {
    const std::int64_t count = counts_.back();
    counts_.pop_back();
    const auto level = static_cast<std::size_t>(depth());
    if (level < sizes_.size() && sizes_[level] >= 0 && sizes_[level] != count)
      fail("a list of " + std::to_string(count) + " where others have " +
           std::to_string(sizes_[level]));
    // Inner lists end first: the sizes that they left behind are those of deeper levels.
    if (level >= sizes_.size()) sizes_.resize(level + 1, -1);
    sizes_[level] = count;
  }
  template <class N>
  void number(N value) {
    expect_element();
    std::visit([&](auto &values) { add(values, value); }, values_);
  }
  void truth(bool value) {
    expect_element();
    if (auto *const values = std::get_if<std::vector<bool>>(&values_)) values->push_back(value);
    else fail("true or false where the program takes " + std::string(name_of(dtype_)));
  }

  Tensor finish() const {
    weft::Shape shape;
    for (std::int64_t i = 0; i < rank_; ++i)
      shape.push_back(static_cast<std::size_t>(i) < sizes_.size() ? sizes_[i] : 0);
    return std::visit([&](const auto &values) { return weft::tensor(values, shape); }, values_);
  }

  /// "[3][27]": the element that the parser is at.
  std::string position() const {
    std::string text;
    for (const std::int64_t count : counts_)
      text += "[" + std::to_string(count == 0 ? 0 : count - 1) + "]";
    return text;
  }
  [[noreturn]] void fail(const std::string &what) const {
    throw RequestError(400, "instances" + position() + ": " + what);
  }

private:
  std::int64_t depth() const { return static_cast<std::int64_t>(counts_.size()); }
  void enter() {
    if (counts_.empty()) return;
    const auto level = counts_.size() - 1;
    ++counts_.back();
    // Before more than others have is kept.
    if (level < sizes_.size() && sizes_[level] >= 0 && counts_.back() > sizes_[level])
      fail("one more than the " + std::to_string(sizes_[level]) + " that others have");
  }
  void expect_element() {
    enter();
    if (depth() != rank_)
      fail("one element where a list of rank " + std::to_string(rank_ - depth()) + " is wanted");
  }

  template <class T, class N>
  void add(std::vector<T> &values, N value) {
    if constexpr (std::is_same_v<T, bool>) {
      fail("a number where the program takes true and false");
    } else if constexpr (std::is_integral_v<T>) {
      if constexpr (std::is_floating_point_v<N>)
        fail(text_of(value) + " where the program takes whole numbers");
      else if (!std::in_range<T>(value)) fail(text_of(value) + beyond());
      else values.push_back(static_cast<T>(value));
    } else if constexpr (weft::is_complex_number<T>) {
      fail("a number where the program takes complex ones, which JSON has no form of");
    } else {
      const T converted = static_cast<T>(value);
      if (!std::isfinite(static_cast<double>(converted))) fail(text_of(value) + beyond());
      values.push_back(converted);
    }
  }
  std::string beyond() const {
    return " is beyond what " + std::string(name_of(dtype_)) + " holds";
  }

  DType dtype_;
  std::int64_t rank_;
  std::vector<std::int64_t> counts_; ///< of the lists that are open: elements so far
  std::vector<std::int64_t> sizes_;  ///< of the first list of each level; -1 while it is open
  template <class, class... T>
  using ListOf = std::variant<std::vector<T>...>;
#define WEFT_DTYPE(enumerator, cpp, ...) , cpp
  ListOf<void
#include <weft/dtypes.def>
         >
      values_;
};

/// Takes the parser's events: `{"instances": [...]}` and nothing else.
class Reader : public nlohmann::json_sax<json> {
public:
  explicit Reader(const Entry &entry) {
    for (const weft::TensorType &type : entry.inputs)
      inputs_.emplace_back(type.dtype, type.shape.rank());
  }

  std::vector<Tensor> finish() const {
    if (!seen_) throw RequestError(400, "the body has no member \"instances\"");
    std::vector<Tensor> tensors;
    for (const NestedList &input : inputs_) tensors.push_back(input.finish());
    return tensors;
  }

  bool start_object(std::size_t) override {
    if (depth_ > 0) refuse("an object");
    object_ = true;
    return true;
  }
  bool key(std::string &name) override {
    if (name != "instances")
      throw RequestError(400,
                         "the body has the member \"" + name + "\"; \"instances\" is the only one");
    if (seen_) throw RequestError(400, "the body has \"instances\" twice");
    seen_ = true;
    return true;
  }
  bool end_object() override { return true; }

  bool start_array(std::size_t) override {
    if (!object_) throw RequestError(400, "the body must be an object: {\"instances\": [...]}");
    ++depth_;
    if (depth_ == 1) {
      for (NestedList &input : inputs_) input.open();
    } else if (several() && depth_ == 2) {
      at_ = 0;
    } else {
      input().open();
    }
    return true;
  }
  bool end_array() override {
    --depth_;
    if (depth_ == 0) {
      for (NestedList &input : inputs_) input.close();
    } else if (several() && depth_ == 1) {
      if (at_ != inputs_.size())
        inputs_.front().fail("an instance has " + std::to_string(at_) +
                             " inputs and the program takes " + std::to_string(inputs_.size()));
    } else {
      input().close();
      next();
    }
    return true;
  }

  bool number_integer(std::int64_t value) override { return number(value); }
  bool number_unsigned(std::uint64_t value) override { return number(value); }
  bool number_float(double value, const std::string &) override { return number(value); }
  bool boolean(bool value) override {
    expect_list();
    input().truth(value);
    next();
    return true;
  }
  bool null() override { return refuse("null"); }
  bool string(std::string &) override { return refuse("a text"); }
  bool binary(binary_t &) override { return refuse("bytes"); }
  bool parse_error(std::size_t at, const std::string &, const json::exception &error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..." without the name.
    const std::string text = error.what();
    throw RequestError(400, "malformed JSON, at byte " + std::to_string(at) + ": " +
                                text.substr(text.find("] ") + 2));
  }

private:
  bool several() const { return inputs_.size() > 1; }
  NestedList &input() {
    if (at_ >= inputs_.size())
      inputs_.front().fail("an instance has more inputs than the " +
                           std::to_string(inputs_.size()) + " of the program");
    return inputs_[at_];
  }
  void next() {
    if (several() && depth_ == 2) ++at_;
  }
  template <class N>
  bool number(N value) {
    expect_list();
    input().number(value);
    next();
    return true;
  }
  void expect_list() const {
    if (!object_) throw RequestError(400, "the body must be an object: {\"instances\": [...]}");
    if (depth_ == 0) throw RequestError(400, "\"instances\" must be a list");
    if (several() && depth_ == 1)
      inputs_.front().fail("an instance must be the list of its " + std::to_string(inputs_.size()) +
                           " inputs");
  }
  bool refuse(const std::string &what) const {
    if (depth_ == 0) expect_list();
    inputs_[std::min(at_, inputs_.size() - 1)].fail(what + " where a number is wanted");
  }

  std::vector<NestedList> inputs_;
  std::size_t at_ = 0; ///< the input that comes next
  int depth_ = 0;      ///< of lists
  bool object_ = false, seen_ = false;
};

template <class T>
void append(std::string &text, T value) {
  if constexpr (std::is_same_v<T, bool>) {
    text += value ? "true" : "false";
  } else if constexpr (weft::is_complex_number<T>) {
    text += '[';
    append(text, value.real());
    text += ',';
    append(text, value.imag());
    text += ']';
  } else {
    if constexpr (weft::is_floating_type<T>)
      if (const auto number = static_cast<double>(value); !std::isfinite(number)) {
        text += std::isnan(number) ? "\"NaN\"" : number > 0 ? "\"Infinity\"" : "\"-Infinity\"";
        return;
      }
    text += text_of(value);
  }
}

/// The nested list of `shape[axis..]`, from `next` on.
template <class T>
void append_list(std::string &text, const weft::Shape &shape, std::size_t axis, const T *&next) {
  if (axis == shape.size()) {
    append(text, *next++);
    return;
  }
  text += '[';
  for (std::int64_t i = 0; i < shape[axis]; ++i) {
    if (i > 0) text += ',';
    append_list(text, shape, axis + 1, next);
  }
  text += ']';
}

void append_row(std::string &text, const Tensor &output, std::int64_t row) {
  const weft::Shape shape = output.shape();
  std::int64_t size = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) size *= shape[i];
  weft::visit_dtype(output.dtype(), [&]<class T>() {
    const T *next = output.span<T>().data() + row * size;
    append_list(text, shape, 1, next);
  });
}

} // namespace

std::vector<Tensor> parse_instances(std::string_view body, const Model &model) {
  Reader reader(model.entries.front());
  json::sax_parse(body, &reader);
  return reader.finish();
}

std::string format_predictions(const std::vector<Tensor> &outputs) {
  std::vector<Tensor> rows;
  for (const Tensor &output : outputs) rows.push_back(output.contiguous());
  std::string text = "{\"predictions\": [";
  for (std::int64_t row = 0; row < rows.front().size(0); ++row) {
    text += row == 0 ? "\n" : ",\n";
    if (rows.size() == 1) {
      append_row(text, rows.front(), row);
      continue;
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      text += i == 0 ? '[' : ',';
      append_row(text, rows[i], row);
    }
    text += ']';
  }
  return text + "\n]}\n";
}

std::string format_error(std::string_view message) {
  return json{{"error", message}}.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

} // namespace serve
