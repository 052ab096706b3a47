// The words of signatures, written for variables here and read back.
#include "Function/Signature.h"

#include <algorithm>

#include "Runtime/Variable.h"

namespace weft::detail {

void ArgumentReader::variable(const Variable &value) {
  const VariableState &state = *value.state();
  if (!state.initialized()) {
    // It has no type yet, so none can stand for it: the trace takes the variable itself.
    literal("a variable without a value, number " + std::to_string(state.number()));
    return;
  }
  std::size_t number = 0;
  while (number < variables.size() && variables[number]->get() != &state) ++number;
  if (number == variables.size()) variables.push_back(&value.state());
  const TensorType &type = state.type();
  key.push_back(static_cast<std::uint64_t>(Node::variable) | std::uint64_t(type.dtype) << 8 |
                std::uint64_t(type.shape.size()) << 16 | std::uint64_t(state.trainable()) << 24 |
                std::uint64_t(number) << 32);
  for (const std::int64_t dim : type.shape) key.push_back(static_cast<std::uint64_t>(dim));
}

namespace {

constexpr std::uint64_t kText = 0xff;
constexpr std::uint64_t kObject = 6; ///< an object of another language, by its number

std::uint64_t literal_kind(std::uint64_t head) { return head >> 8 & 0xff; }

std::string text_of(const SignatureKey &key, const SignatureEntry &entry) {
  return {reinterpret_cast<const char *>(key.data() + entry.at + 1), entry.head >> 16};
}

template <class T>
T value_of(std::uint64_t word) {
  T value;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

/// A number without the zeros behind its point.
std::string number(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (!text.empty() && text.back() == '.') text += '0';
  return text;
}

/// A literal as C++ would have it.
std::string literal_of(const SignatureKey &key, const SignatureEntry &entry) {
  const std::uint64_t kind = literal_kind(entry.head), bytes = entry.head >> 16;
  if (kind == kText) return '"' + text_of(key, entry) + '"';
  const std::uint64_t word = key[entry.at + 1];
  if (kind == 2) return word != 0 ? "true" : "false";
  if (kind == 3) return number(bytes == 4 ? value_of<float>(word) : value_of<double>(word));
  if (kind == 5) return std::to_string(word);
  if (kind == kObject) return "object " + std::to_string(word);
  switch (bytes) {
  case 1: return std::to_string(value_of<std::int8_t>(word));
  case 2: return std::to_string(value_of<std::int16_t>(word));
  case 4: return std::to_string(value_of<std::int32_t>(word));
  default: return std::to_string(value_of<std::int64_t>(word));
  }
}

std::string literal_type(const SignatureEntry &entry) {
  const std::string bits = std::to_string((entry.head >> 16) * 8);
  switch (literal_kind(entry.head)) {
  case kText: return "text";
  case 1: return "enum";
  case 2: return "bool";
  case 3: return "f" + bits;
  case 4: return "i" + bits;
  default: return "u" + bits;
  }
}

TensorType type_of(const SignatureKey &key, const SignatureEntry &entry) {
  TensorType type{static_cast<DType>(entry.head >> 8 & 0xff), {}};
  for (std::size_t i = 1; i < entry.words; ++i)
    type.shape.push_back(static_cast<std::int64_t>(key[entry.at + i]));
  return type;
}

std::string describe(const SignatureKey &key, const SignatureEntry &entry) {
  const std::string count = std::to_string(entry.head >> 8);
  switch (entry.node()) {
  case Node::tensor: return to_string(type_of(key, entry));
  case Node::variable: return "a variable " + to_string(type_of(key, entry));
  case Node::literal:
    if (literal_kind(entry.head) == kObject) return literal_of(key, entry);
    return literal_type(entry) + ' ' + literal_of(key, entry);
  case Node::sequence: return "a sequence of " + count;
  case Node::tuple: return "a tuple of " + count;
  case Node::map: return "a map of " + count;
  case Node::record: return "a struct of " + count;
  case Node::empty: return "nothing";
  }
  return "?";
}

class Reader {
public:
  explicit Reader(const SignatureKey &key) : key_(key) {}

  std::vector<SignatureEntry> read() {
    for (std::size_t argument = 0; at_ < key_.size(); ++argument)
      read("argument " + std::to_string(argument), argument);
    return std::move(entries_);
  }

private:
  void read(const std::string &location, std::size_t argument) {
    SignatureEntry entry{location, argument, at_, 1, key_[at_]};
    if (entry.node() == Node::tensor || entry.node() == Node::variable)
      entry.words += entry.head >> 16 & 0xff;
    if (entry.node() == Node::literal)
      entry.words += literal_kind(entry.head) == kText ? ((entry.head >> 16) + 7) / 8 : 1;
    at_ += entry.words;
    entries_.push_back(entry);
    const bool map = entry.node() == Node::map;
    const bool container = map || entry.node() == Node::sequence || entry.node() == Node::tuple ||
                           entry.node() == Node::record;
    if (!container) return;
    for (std::uint64_t i = 0; i < entry.head >> 8; ++i) {
      std::string inner = std::to_string(i);
      if (map) {
        const std::size_t key = entries_.size();
        read(location + ", key " + inner, argument);
        inner = literal_of(key_, entries_[key]);
      }
      std::string name = location;
      name += '[' + inner + ']';
      read(name, argument);
    }
  }

  const SignatureKey &key_;
  std::size_t at_ = 0;
  std::vector<SignatureEntry> entries_;
};

std::string became(const std::string &location, const std::string &before, const std::string &now) {
  return location + ": " + before + " became " + now;
}

std::string size_text(std::uint64_t word) {
  return word == kUnknownSize ? "?" : std::to_string(word);
}

/// Adds what differs between two entries of the same location; false if they are not of one kind,
/// and what follows them cannot be compared.
bool compare(const SignatureKey &before, const SignatureEntry &a, const SignatureKey &now,
             const SignatureEntry &b, std::vector<std::string> &differences) {
  if (a.words == b.words &&
      std::equal(before.data() + a.at, before.data() + a.at + a.words, now.data() + b.at))
    return true;
  const bool alike = a.head == b.head;
  if (alike && a.node() == Node::tensor) {
    for (std::size_t i = 1; i < a.words; ++i)
      if (before[a.at + i] != now[b.at + i])
        differences.push_back(became(a.location + ", dimension " + std::to_string(i - 1),
                                     size_text(before[a.at + i]), size_text(now[b.at + i])));
    return true;
  }
  const bool kinds_alike = a.node() == b.node();
  if (kinds_alike && a.node() == Node::literal &&
      (alike || (literal_kind(a.head) == kText && literal_kind(b.head) == kText))) {
    differences.push_back(became(a.location, literal_of(before, a), literal_of(now, b)));
    return true;
  }
  if (kinds_alike && a.node() == Node::variable && a.head << 32 == b.head << 32 &&
      type_of(before, a) == type_of(now, b)) {
    differences.push_back(became(a.location,
                                 "variable " + std::to_string(a.head >> 32) + " of the call",
                                 "variable " + std::to_string(b.head >> 32)));
    return true;
  }
  differences.push_back(became(a.location, describe(before, a), describe(now, b)));
  const bool leaves = kinds_alike && (a.node() == Node::tensor || a.node() == Node::variable ||
                                      a.node() == Node::literal);
  return leaves;
}

} // namespace

std::vector<SignatureEntry> entries_of(const SignatureKey &key) { return Reader(key).read(); }

std::vector<std::string> differences(const SignatureKey &before, const SignatureKey &now) {
  const std::vector<SignatureEntry> a = entries_of(before), b = entries_of(now);
  std::vector<std::string> all;
  const auto skip = [](const std::vector<SignatureEntry> &entries, std::size_t &at) {
    const std::size_t argument = entries[at].argument;
    while (at < entries.size() && entries[at].argument == argument) ++at;
  };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (compare(before, a[i], now, b[j], all)) {
      ++i;
      ++j;
    } else {
      skip(a, i);
      skip(b, j);
    }
  }
  if (i < a.size()) all.push_back(a[i].location + " is missing");
  if (j < b.size()) all.push_back(b[j].location + " is new");
  return all;
}

std::optional<std::vector<std::uint32_t>> differing_sizes(const SignatureKey &before,
                                                          const SignatureKey &now) {
  if (before.size() != now.size()) return std::nullopt;
  std::vector<std::uint32_t> positions;
  std::size_t compared = 0;
  for (const SignatureEntry &entry : entries_of(now)) {
    if (entry.node() != Node::tensor) continue;
    if (!std::equal(before.data() + compared, before.data() + entry.at + 1, now.data() + compared))
      return std::nullopt;
    compared = entry.at + entry.words;
    for (std::size_t i = entry.at + 1; i < compared; ++i)
      if (before[i] != now[i]) positions.push_back(static_cast<std::uint32_t>(i));
  }
  if (!std::equal(before.data() + compared, before.data() + before.size(), now.data() + compared))
    return std::nullopt;
  return positions;
}

std::vector<TensorType> tensor_types(const SignatureKey &key) {
  std::vector<TensorType> types;
  for (const SignatureEntry &entry : entries_of(key))
    if (entry.node() == Node::tensor) types.push_back(type_of(key, entry));
  return types;
}

} // namespace weft::detail
