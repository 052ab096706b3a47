// Lists what checkpoints keep of a structure, and takes its state at one moment.
#include <charconv>

#include "Checkpoint/Checkpoint.h"
#include "Distributed/Tree.h"
#include "Ops/Interpreter.h"
#include "Runtime/StridedCopy.h"
#include "Runtime/Variable.h"
#include "Support/Messages.h"
#include <weft/detail/saved_parts.h>
#include <weft/error.h>
#include <weft/ops.h>

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

void PartCollector::add_constant(const std::string &text) {
  constants->push_back("'" + path() + "' = " + text);
}

void PartCollector::add_tensor(const Tensor &value, Tensor *target) {
  tensors.push_back({own_path(), value, target});
}

void PartCollector::add_number(std::string text,
                               std::function<bool(const std::string &, bool)> take) {
  numbers.push_back({own_path(), std::move(text), std::move(take)});
}

} // namespace weft::detail

namespace weft {

using namespace saved_names;

detail::PartCollector collect_parts(const char *function,
                                    const std::vector<CheckpointPart> &parts) {
  if (const Interpreter *interpreter = Interpreter::current();
      interpreter != nullptr && interpreter->traces())
    throw StateError(std::string(function) +
                     ": inside of a traced function there are no values: save and restore "
                     "outside, or in a host call");
  detail::PartCollector all;
  for (const CheckpointPart &part : parts) part.collect(all);
  for (auto &part : all.variables)
    if (const auto cut = part.variable.state()->cut()) part.variable = Variable(cut->part);
  return all;
}

std::vector<VariableState *> states_of(const std::vector<Variable> &variables) {
  std::vector<VariableState *> states;
  for (const Variable &variable : variables)
    if (variable.initialized()) states.push_back(variable.state().get());
  return states;
}

namespace {

std::string named(std::string_view kind, const std::string &path) {
  return std::string(kind) + path;
}

} // namespace

namespace {

/// Leaves of whole tensors, which all have, those that one writes: they are as even in bytes as
/// tensors allow.
void keep_share(std::vector<SafetensorsItem> &items, const PartOf &of) {
  const auto bytes_of = [](const SafetensorsItem &item) {
    return item.tensor.size() * static_cast<std::int64_t>(item_size(item.tensor.dtype()));
  };
  std::int64_t all = 0, at = 0;
  for (const SafetensorsItem &item : items) all += bytes_of(item);
  const auto [begin, end] = distributed::share_of(all, of.number, of.parts);
  std::erase_if(items, [&](const SafetensorsItem &item) {
    const std::int64_t first = at;
    at += bytes_of(item);
    // Those without elements at the very end are of the last one.
    const bool last = of.number + 1 == of.parts && first == all;
    return !last && (first < begin || first >= end);
  });
}

/// The elements of a part that are of the whole.
Tensor of_whole(const VariablePiece &piece, const Tensor &part) {
  const std::int64_t count = piece.elements(part.size());
  return count == part.size() ? part : part[{slice(0, count)}];
}

/// A piece by a name that no other piece has.
SafetensorsItem piece_item(const std::string &path, const VariablePiece &piece,
                           const Tensor &elements, std::map<std::string, std::string> &texts) {
  const std::string name = path + '[' + std::to_string(piece.begin) + ':' +
                           std::to_string(piece.begin + elements.size()) + ']';
  texts.emplace(named(kPiecePrefix, name),
                PieceOfTensor{.of = path, .whole = piece.whole, .begin = piece.begin}.text());
  return {name, elements};
}

} // namespace

Snapshot take_snapshot(const char *function, const Checkpoint &what, const SaveOptions &options,
                       const PartOf &of) {
  const detail::PartCollector parts = collect_parts(function, what.parts());
  Snapshot snapshot;
  std::map<std::string, std::string> &texts = snapshot.texts;
  texts.emplace(kFormat, kCheckpointFormat);
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  texts.emplace(kTime, detail::text_of_number(now.count()));
  if (options.metric) texts.emplace(kMetric, detail::text_of_number(*options.metric));
  if (options.step) texts.emplace(kStep, detail::text_of_number(*options.step));
  for (const auto &part : parts.numbers) texts.emplace(named(kNumber, part.path), part.text);
  for (const auto &part : parts.states)
    texts.emplace(named(kState, part.path), part.state->saved_state());
  for (const auto &[path, value, target] : parts.tensors)
    if (value.defined()) snapshot.items.push_back(writable_item(function, path, value));
    else texts.emplace(named(kUnset, path), "");

  std::vector<Variable> variables;
  for (const auto &part : parts.variables) variables.push_back(part.variable);
  // Between two updates: compiled calls and optimizers hold all that they change. What they change
  // next gets memory of its own, for these tensors keep theirs.
  const HeldVariables held(states_of(variables));
  std::vector<SafetensorsItem> pieces;
  std::map<std::string, std::string> texts_of_pieces;
  for (const auto &[paths, variable] : parts.variables) {
    for (std::size_t i = 1; i < paths.size(); ++i) texts.emplace(named(kAlias, paths[i]), paths[0]);
    const VariablePiece *const piece = variable.state()->piece();
    if (!variable.initialized()) {
      texts.emplace(named(kUnset, paths[0]), "");
    } else if (piece == nullptr) {
      snapshot.items.push_back({paths[0], variable.state()->load()});
    } else if (of.parts == 1) {
      throw StateError(said_of_cut(std::string(function) + ": '" + paths[0] + "'", piece->ranks) +
                       std::string(kGatherOnAll));
    } else if (const Tensor elements = of_whole(*piece, variable.state()->load());
               elements.size() != 0) {
      pieces.push_back(piece_item(paths[0], *piece, elements, texts_of_pieces));
    }
  }
  if (of.parts == 1) return snapshot;
  keep_share(snapshot.items, of);
  snapshot.items.insert(snapshot.items.end(), pieces.begin(), pieces.end());
  // What is no tensor is in the first part.
  if (of.number != 0) texts.clear();
  texts.insert(texts_of_pieces.begin(), texts_of_pieces.end());
  return snapshot;
}

} // namespace weft
