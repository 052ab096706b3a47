// Writes and reads the names of calls of collectives.
#include "OpDefs/CollectiveSymbol.h"

#include <charconv>

namespace weft {

const Attr *attr_of(OpCode op, const Attrs &attrs, std::string_view name) {
  const std::span<const AttrInfo> infos = op_info(op).attrs;
  for (std::size_t i = 0; i < infos.size(); ++i)
    if (infos[i].name == name) return &attrs[i];
  return nullptr;
}

bool gives_the_same(OpCode op) {
#define WEFT_COLLECTIVE(collective, function, same)                                                \
  if (op == OpCode::collective) return same;
#include "Collectives.inc"
#undef WEFT_COLLECTIVE
  return false;
}

std::string collective_symbol(OpCode op, const Attrs &attrs) {
  std::string text(kCollectivePrefix);
  text += op_info(op).name;
  for (const Attr &attr : attrs) {
    text += ' ';
    if (const auto *flag = std::get_if<bool>(&attr)) {
      text += *flag ? '1' : '0';
    } else if (const auto *list = std::get_if<Ints>(&attr)) {
      text += '[';
      for (std::size_t i = 0; i < list->size(); ++i)
        text += (i == 0 ? "" : ",") + std::to_string((*list)[i]);
      text += ']';
    } else {
      text += std::to_string(std::get<std::int64_t>(attr));
    }
  }
  return text;
}

namespace {

/// Reads the text of attributes from left to right.
class Reader {
public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool done() const { return text_.empty(); }
  bool take(char letter) {
    if (text_.empty() || text_.front() != letter) return false;
    text_.remove_prefix(1);
    return true;
  }
  std::optional<std::int64_t> number() {
    std::int64_t value = 0;
    const auto read = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (read.ec != std::errc()) return std::nullopt;
    text_.remove_prefix(static_cast<std::size_t>(read.ptr - text_.data()));
    return value;
  }
  std::optional<Ints> list() {
    Ints values;
    if (!take('[')) return std::nullopt;
    if (take(']')) return values;
    do {
      const std::optional<std::int64_t> value = number();
      if (!value) return std::nullopt;
      values.push_back(*value);
    } while (take(','));
    return take(']') ? std::optional(values) : std::nullopt;
  }

private:
  std::string_view text_;
};

} // namespace

std::optional<CollectiveCall> collective_of(std::string_view symbol) {
  if (!symbol.starts_with(kCollectivePrefix)) return std::nullopt;
  symbol.remove_prefix(kCollectivePrefix.size());
  const std::size_t end = std::min(symbol.find(' '), symbol.size());
  const OpInfo *const info = find_op(symbol.substr(0, end));
  if (info == nullptr || info->kind != OpKind::collective) return std::nullopt;
  CollectiveCall call{info->op, {}};
  Reader reader(symbol.substr(end));
  for (const AttrInfo &attr : info->attrs) {
    if (!reader.take(' ')) return std::nullopt;
    if (attr.kind == AttrKind::axes || attr.kind == AttrKind::spatial) {
      std::optional<Ints> list = reader.list();
      if (!list) return std::nullopt;
      call.attrs.push_back(*std::move(list));
      continue;
    }
    const std::optional<std::int64_t> value = reader.number();
    if (!value) return std::nullopt;
    call.attrs.push_back(attr.kind == AttrKind::flag ? Attr(*value != 0) : Attr(*value));
  }
  return reader.done() ? std::optional(std::move(call)) : std::nullopt;
}

} // namespace weft
