// Models: paths of variables and layers, seeds that follow from them, copies.
#include <weft/nn/model.h>

#include <set>

#include "Ops/LayerPaths.h"
#include "Runtime/Variable.h"
#include "Support/CallSite.h"
#include "Support/Fault.h"
#include "Support/Fork.h"
#include <weft/dtype_info.h>

namespace weft {

namespace {

/// The one copy of a text, which lives for ever: traces keep the names of layers.
const char *interned(std::string_view text) {
  static forks::Mutex<std::mutex> mutex;
  static auto &texts = *new std::set<std::string, std::less<>>;
  const std::lock_guard lock(mutex);
  const auto found = texts.find(text);
  return (found != texts.end() ? found : texts.emplace(text).first)->c_str();
}

/// A seed for the variable of that path: FNV-1a over the path, then the finalizer of SplitMix64, so
/// that seeds one apart have nothing in common.
std::uint64_t seed_of(std::uint64_t seed, std::string_view path) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  hash ^= seed * 0x9e3779b97f4a7c15;
  hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ hash >> 27) * 0x94d049bb133111eb;
  return hash ^ hash >> 31;
}

} // namespace

namespace nn {

static thread_local constinit std::optional<DType> precision = std::nullopt;

MixedPrecision::MixedPrecision(DType dtype, std::source_location where) : outer_(precision) {
  const CompositeCall site("mixed_precision", where);
  if (!is_floating(dtype))
    throw DTypeError("mixed_precision: the dtype must be floating, but it is " +
                     std::string(name_of(dtype)));
  precision = dtype_info(dtype).compute == dtype ? std::nullopt : std::optional(dtype);
}

MixedPrecision::~MixedPrecision() { precision = outer_; }

std::optional<DType> MixedPrecision::current() { return precision; }

struct LayerName::State {
  const char *const kind;
  const char *const given; ///< null if none was
  const std::optional<DType> computes_in = precision;
  std::atomic<const char *> path{""};
  std::atomic<const char *> numbered{""}; ///< the path that ends in a number, with the kind
};

LayerName::LayerName(const char *kind, std::string_view given)
    : state_(std::make_shared<State>(kind, given.empty() ? nullptr : interned(given))) {}

const std::optional<DType> &LayerName::computes_in() const { return state_->computes_in; }

const char *LayerName::kind() const { return state_->kind; }

const char *LayerName::path() const { return state_->path.load(std::memory_order_acquire); }

const char *LayerName::text() const {
  if (state_->given != nullptr) return state_->given;
  const char *const known = path();
  return *known == 0 ? state_->kind : known;
}

const char *LayerName::title() const {
  if (state_->given != nullptr) return state_->given;
  const std::string_view known = path();
  if (known.empty() || known.find_first_not_of("0123456789", known.rfind('.') + 1) != known.npos)
    return text();
  const char *title = state_->numbered.load(std::memory_order_acquire);
  if (*title == 0) {
    title = interned(std::string(known) + " (" + state_->kind + ")");
    state_->numbered.store(title, std::memory_order_release);
  }
  return title;
}

thread_local constinit LayerPaths *LayerPaths::current_ = nullptr;

void LayerName::set_path(std::string_view path) const {
  if (LayerPaths *paths = LayerPaths::current()) paths->note(*this, path);
  const char *expected = this->path();
  if (*expected == 0 && !path.empty())
    state_->path.compare_exchange_strong(expected, interned(path));
}

LayerName LayerName::another() const {
  const MixedPrecision same(state_->computes_in.value_or(DType::f32));
  return state_->given != nullptr ? LayerName(state_->kind, state_->given)
                                  : LayerName(state_->kind);
}

} // namespace nn

namespace detail {

void PathVisitor::push(std::string_view name) {
  lengths_.push_back(path_.size());
  if (!path_.empty()) path_ += '.';
  path_ += name;
}

void PathVisitor::pop() {
  path_.resize(lengths_.back());
  lengths_.pop_back();
}

std::string_view VariableLister::path_of_layer() const {
  const std::size_t dot = path().rfind('.');
  return std::string_view(path()).substr(0, dot == std::string::npos ? 0 : dot);
}

void VariableLister::variable(const Variable &value) {
  if (!seen_.emplace(value.state().get(), variables.size()).second) return;
  value.name_by_path(path());
  variables.push_back({path(), value});
}

void check_key(std::string_view key) {
  if (key.empty() || key.find('.') != std::string_view::npos)
    throw ValueError("the key '" + std::string(key) +
                     "' of a map in a model must not be empty or have a dot, for it is part of a "
                     "path");
}

Cloner::Cloner(std::unordered_set<const void *> originals) : originals_(std::move(originals)) {}

void Cloner::check_own(const void *part) const {
  if (originals_.contains(part))
    throw ValueError("clone: the copy of the model would change '" + path() +
                     "' of the original, which it holds by a reference or a pointer: models hold "
                     "their parts themselves");
}

void Cloner::layer(nn::LayerName &name) {
  check_own(&name);
  name = name.another();
}

void Cloner::variable(Variable &value) {
  check_own(&value);
  const auto found = copies_.find(value.state().get());
  if (found != copies_.end()) {
    value = found->second;
    return;
  }
  const Variable copy = value.clone();
  copies_.emplace(value.state().get(), copy);
  value = copy;
}

void seed_all(const std::vector<nn::NamedVariable> &variables, std::uint64_t seed,
              const std::source_location &where) {
  const CompositeCall site("nn::seed", where);
  for (const nn::NamedVariable &entry : variables)
    entry.variable.seed(seed_of(seed, entry.path), where);
}

std::vector<nn::NamedVariable> trained(std::vector<nn::NamedVariable> variables) {
  std::erase_if(variables, [](const nn::NamedVariable &entry) {
    return !entry.variable.trainable() || !entry.variable.initialized();
  });
  return variables;
}

std::int64_t elements_of(const std::vector<nn::NamedVariable> &variables) {
  std::int64_t count = 0;
  for (const nn::NamedVariable &entry : variables) {
    if (!is_floating(entry.variable.dtype())) continue; // states of generators, counters
    std::int64_t size = 1;
    for (const std::int64_t dim : entry.variable.shape()) size *= dim;
    count += size;
  }
  return count;
}

void assign_all(const std::vector<nn::NamedVariable> &to,
                const std::vector<nn::NamedVariable> &from, const std::source_location &where) {
  const CompositeCall site("nn::assign", where);
  if (to.size() != from.size())
    raise(ErrorKind::value, "nn::assign: one model has " + std::to_string(to.size()) +
                                " variables, the other " + std::to_string(from.size()));
  std::vector<Tensor> values;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const Variable &mine = to[i].variable, &other = from[i].variable;
    if (to[i].path != from[i].path)
      raise(ErrorKind::value, "nn::assign: variable " + std::to_string(i) + " is '" + to[i].path +
                                  "' in one model and '" + from[i].path + "' in the other");
    if (!other.initialized())
      raise(ErrorKind::state,
            "nn::assign: '" + from[i].path + "' has no value yet in the model that gives them");
    const bool fits =
        mine.dtype() == other.dtype() && (!mine.initialized() || mine.shape() == other.shape());
    if (!fits)
      raise(mine.dtype() == other.dtype() ? ErrorKind::shape : ErrorKind::dtype,
            "nn::assign: '" + to[i].path + "' is " +
                (mine.initialized() ? to_string(mine.state()->type())
                                    : std::string(name_of(mine.dtype()))) +
                " in one model and " + to_string(other.state()->type()) + " in the other");
    values.push_back(other.value(where));
  }
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i].variable.initialize(from[i].variable.shape(), where);
    to[i].variable.assign({values[i], where});
  }
}

} // namespace detail
} // namespace weft
