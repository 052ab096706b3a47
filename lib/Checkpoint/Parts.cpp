// Lists what checkpoints keep of a structure.
#include <weft/detail/saved_parts.h>

#include <charconv>

#include "Support/Messages.h"
#include <weft/error.h>

namespace weft::detail {

std::string text_of_number(std::int64_t value) { return number_text(value); }
std::string text_of_number(std::uint64_t value) { return number_text(value); }
std::string text_of_number(double value) { return number_text(value); }

namespace {

template <class T>
bool read_whole(std::string_view text, T &value) {
  const char *const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

} // namespace

bool read_number(std::string_view text, std::int64_t &value) { return read_whole(text, value); }
bool read_number(std::string_view text, std::uint64_t &value) { return read_whole(text, value); }
bool read_number(std::string_view text, double &value) { return read_whole(text, value); }

std::string PartCollector::own_path() {
  std::string own = path().empty() ? "value" : path();
  if (!taken_.insert(own).second)
    throw ValueError("Checkpoint: two parts have the path '" + own +
                     "': call one of them something else");
  return own;
}

void PartCollector::variable(const Variable &value) {
  const auto [found, fresh] = seen_.emplace(value.state().get(), variables.size());
  if (fresh) variables.push_back({.paths = {}, .variable = value});
  variables[found->second].paths.push_back(own_path());
}

void PartCollector::stateful(Stateful &value) { states.push_back({own_path(), &value}); }

void PartCollector::add_tensor(const Tensor &value, Tensor *target) {
  tensors.push_back({own_path(), value, target});
}

void PartCollector::add_number(std::string text,
                               std::function<bool(const std::string &, bool)> take) {
  numbers.push_back({own_path(), std::move(text), std::move(take)});
}

} // namespace weft::detail
