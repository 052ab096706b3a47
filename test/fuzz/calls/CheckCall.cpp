// Makes a drawn call in every way there is and compares kinds of error and values.
#include "CheckCall.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <regex>
#include <string_view>

#include "../Workers.h"
#include "Calls.h"

namespace weft::fuzz {

namespace {

/// What a call gave in one way.
struct Outcome {
  std::optional<ErrorKind> kind; ///< of the error, if there was one
  std::string message;           ///< its words, or of an exception that is none of ours
  bool foreign = false;
  std::vector<Tensor> values;
};

const char *word(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::shape: return "ShapeError";
  case ErrorKind::dtype: return "DTypeError";
  case ErrorKind::index: return "IndexError";
  case ErrorKind::value: return "ValueError";
  case ErrorKind::state: return "StateError";
  case ErrorKind::assertion: return "AssertionError";
  case ErrorKind::out_of_memory: return "OutOfMemory";
  case ErrorKind::linalg: return "LinAlgError";
  case ErrorKind::compile: return "CompileError";
  case ErrorKind::io: return "IOError";
  case ErrorKind::device: return "DeviceError";
  case ErrorKind::peer: return "PeerError";
  case ErrorKind::internal: return "internal error";
  }
  return "an error of no kind";
}

template <class Run>
Outcome outcome_of(const Run &run) {
  Outcome outcome;
  try {
    outcome.values = run();
  } catch (const Error &error) {
    outcome.kind = error.kind();
    outcome.message = error.what();
  } catch (const std::exception &error) {
    outcome.foreign = true;
    outcome.message = error.what();
  }
  return outcome;
}

/// Elements beyond this are not looked at: a broadcast view may stand for any number of them.
constexpr std::int64_t kMostElements = 1 << 20;

/// What the values of a call may differ in from its eager ones.
struct Lenience {
  /// Sums in another order: a reduction goes along the last axis that is longer than 1, which code
  /// for unknown sizes does not know.
  bool order = false;
  /// Sizes of what nothing was put into, which only an iteration of a loop would tell.
  bool sizes_of_nothing = false;
};

/// Elements that are equal, or NaN both; with `order`, up to 64 units in the last place of the
/// largest finite one. Complex numbers are compared by their parts.
template <class T>
bool equal_elements(std::span<const T> x, std::span<const T> y, bool order) {
  if constexpr (is_complex_number<T>) {
    using Part = typename T::value_type;
    const auto parts = [](std::span<const T> z) {
      return std::span<const Part>(reinterpret_cast<const Part *>(z.data()), 2 * z.size());
    };
    return equal_elements<Part>(parts(x), parts(y), order);
  }
  double most = 0;
  if constexpr (is_floating_type<T>)
    if (order) {
      for (const T p : x)
        if (std::isfinite(static_cast<double>(p)))
          most = std::max(most, std::abs(static_cast<double>(p)));
      most *= 64 * static_cast<double>(std::numeric_limits<T>::epsilon());
    }
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [&](T p, T q) {
    if constexpr (is_floating_type<T>) {
      if (p != p || q != q) return p != p && q != q;
      if (p != q) return std::abs(static_cast<double>(p) - static_cast<double>(q)) <= most;
    }
    return p == q;
  });
}

bool equal_elements(const Tensor &a, const Tensor &b, bool order) {
  if (a.size() > kMostElements) return true;
  const Tensor left = a.contiguous(), right = b.contiguous();
  return visit_dtype(
      a.dtype(), [&]<class T>() { return equal_elements(left.span<T>(), right.span<T>(), order); });
}

/// How two lists of values differ; nothing if they do not.
std::string difference(const std::vector<Tensor> &a, const std::vector<Tensor> &b,
                       Lenience lenience) {
  if (a.size() != b.size()) return "the numbers of results differ";
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].defined() != b[i].defined()) return "a result is undefined one way only";
    if (!a[i].defined()) continue;
    if (a[i].dtype() != b[i].dtype()) return "the dtypes differ";
    if (lenience.sizes_of_nothing && a[i].size() == 0 && b[i].size() == 0 &&
        a[i].shape().size() == b[i].shape().size())
      continue;
    if (!(a[i].shape() == b[i].shape())) return "the shapes differ";
    if (!equal_elements(a[i], b[i], lenience.order)) return "the values differ";
  }
  return "";
}

std::string shown(const char *way, const Outcome &outcome) {
  std::string text = std::string(way) + ": ";
  if (outcome.kind) return text + word(*outcome.kind) + ": " + outcome.message + "\n";
  if (outcome.foreign) return text + "an exception that is not Weft's: " + outcome.message + "\n";
  for (const Tensor &value : outcome.values)
    text += (value.defined() ? to_string(value) : std::string("undefined")) + " ";
  return text + "\n";
}

/// What is a fault in any way, whatever the others give.
std::string fault_alone(const Outcome &outcome) {
  if (outcome.foreign) return "an exception that is not Weft's";
  if (outcome.kind == ErrorKind::internal) return "an internal error";
  if (outcome.kind == ErrorKind::compile) return "a CompileError";
  return "";
}

/// Memory can run out in one way alone: eager broadcasts are views, and compiled code has no result
/// that it need not have.
bool out_of_memory(const Outcome &outcome) { return outcome.kind == ErrorKind::out_of_memory; }

/// What a value decides, so that a trace finds all that shapes and dtypes decide before.
bool is_of_values(const Outcome &outcome) {
  return outcome.kind == ErrorKind::assertion || outcome.kind == ErrorKind::index ||
         outcome.message.find("which is negative") != std::string::npos; // a count
}

std::string compare(const Outcome &eager, const Outcome &compiled, bool open, bool every_path,
                    bool other_order) {
  if (std::string fault = fault_alone(compiled); !fault.empty()) return fault + ", compiled";
  if (out_of_memory(eager) || out_of_memory(compiled)) return "";
  if (compiled.kind && eager.kind) {
    // With open sizes an error may be found later, by a check in the code, or earlier.
    if (open || compiled.kind == eager.kind || is_of_values(eager)) return "";
    return std::string(word(*eager.kind)) + " eagerly, " + word(*compiled.kind) + " compiled";
  }
  // A size that is not known never stretches, and some shapes must be known to a trace.
  if (compiled.kind)
    return open || !every_path ? "" : std::string(word(*compiled.kind)) + " compiled alone";
  if (eager.kind) return std::string(word(*eager.kind)) + " eagerly alone";
  const std::string differing =
      difference(eager.values, compiled.values,
                 {.order = open || other_order, .sizes_of_nothing = open && !every_path});
  return differing.empty()
             ? ""
             : differing + (open ? " with open sizes" : " between eager and compiled");
}

/// The call's results, and the gradients of a sum of those that have some, by the inputs: with
/// weights, as plain sums of some results do not change.
std::vector<Tensor> with_gradients(const CallEntry &entry, std::uint64_t seed,
                                   const std::set<int> &plain, const std::vector<Tensor> &inputs) {
  GradientTape tape;
  std::vector<Tensor> watched;
  for (const Tensor &input : inputs)
    if (is_floating(input.dtype())) {
      tape.watch(input);
      watched.push_back(input);
    }
  Draw draw(seed, plain, &inputs);
  std::vector<Tensor> values = entry.call(draw);
  Tensor total;
  for (const Tensor &value : values) {
    if (!is_floating(value.dtype()) || value.size() > kMostElements) continue;
    const Tensor weights = 1.5 + cos(arange(value.size(), f64)).reshape(value.shape());
    const Tensor part = sum(cast(value, f64) * weights.to(value.device()));
    total = total.defined() ? total + part : part;
  }
  if (total.defined())
    for (const Tensor &gradient : tape.gradient(total, watched, {.unconnected = Unconnected::zero}))
      values.push_back(gradient);
  return values;
}

bool is_one_of(std::span<const CallEntry> entries, const char *name) {
  return std::ranges::any_of(
      entries, [&](const CallEntry &entry) { return std::strcmp(entry.name, name) == 0; });
}

/// Whether a call may have no operands, so that its tensors go where new ones do; a generator's
/// state stays on the CPU, and so does what functions of an operand make of a number.
bool makes_tensors(const CallEntry &entry) {
  const std::string_view name = entry.name;
  return is_one_of(tensor_calls(), entry.name) && name != "Generator" && name != "square and relu";
}

/// Whether a call makes tensors beside its results: variables, kernels.
bool makes_variables(const CallEntry &entry) {
  return is_one_of(tensor_calls(), entry.name) || is_one_of(network_calls(), entry.name) ||
         is_one_of(window_calls(), entry.name);
}

/// Without the numbers that variables have got as names.
std::string unnumbered(const std::string &message) {
  static const std::regex number("variable_[0-9]+");
  return std::regex_replace(message, number, "variable");
}

/// The same call on the CPU and on a device: on copies there, and with new tensors there.
void check_on_device(const CallEntry &entry, std::uint64_t seed, const std::set<int> &plain,
                     const std::vector<Tensor> &inputs, const Outcome &eager,
                     const std::string &device, CallVerdict &verdict) {
  const auto compare = [&](const char *what, const Outcome &here, const Outcome &there) {
    verdict.detail += shown((std::string(what) + " on " + device).c_str(), there);
    std::string fault = fault_alone(there);
    if (fault.empty() && !out_of_memory(here) && !out_of_memory(there)) {
      if (there.kind == ErrorKind::device &&
          there.message.find("whose memory the host cannot read") != std::string::npos) {
        return true; // as documented
      }
      if (here.kind != there.kind) {
        fault = std::string(here.kind ? word(*here.kind) : "no error") + " on the CPU, " +
                (there.kind ? word(*there.kind) : "no error") + " there";
      } else if (unnumbered(here.message) != unnumbered(there.message)) {
        fault = "other words of an error";
      } else if (!here.kind) {
        std::vector<Tensor> copies;
        for (const Tensor &value : there.values) {
          // Numbers alone give tensors on the CPU, and loops count there.
          const bool on_cpu = (inputs.empty() && !makes_tensors(entry)) ||
                              (!entry.every_path && value.rank() == 0) ||
                              std::string_view(entry.name) == "Generator";
          if (value.device() != device && !on_cpu) fault = "a result is elsewhere";
          copies.push_back(value.to("cpu"));
        }
        // What a search finds in numbers that are not sorted depends on its steps.
        if (fault.empty() && !std::string_view(entry.name).starts_with("search"))
          fault = difference(here.values, copies, {.order = true});
      }
    }
    if (!fault.empty())
      verdict.fault = fault + ", " + what + " on a device, in " + std::string(entry.name);
    return fault.empty();
  };
  std::vector<Tensor> moved;
  for (const Tensor &input : inputs) moved.push_back(input.to(device));
  // Calls that make nothing but results need no scope.
  std::optional<DeviceScope> scope;
  if (seed % 2 == 0 || inputs.empty() || makes_variables(entry)) scope.emplace(device);
  note_stage(std::string(entry.name) + ", on a device");
  const Outcome there = outcome_of([&] {
    Draw draw(seed, plain, &moved);
    return entry.call(draw);
  });
  if (!compare("eager", eager, there) || eager.kind) return;
  note_stage(std::string(entry.name) + ", gradients");
  const Outcome here = outcome_of([&] {
    const DeviceScope scope("cpu");
    return with_gradients(entry, seed, plain, inputs);
  });
  note_stage(std::string(entry.name) + ", gradients on a device");
  compare("gradients", here, outcome_of([&] { return with_gradients(entry, seed, plain, moved); }));
}

const CallEntry &entry_of(std::uint64_t seed, const std::string &only) {
  static const std::vector<CallEntry> all_entries = call_entries();
  static std::vector<CallEntry> entries;
  static std::string chosen = "\n";
  if (chosen != only) {
    chosen = only;
    entries.clear();
    std::copy_if(
        all_entries.begin(), all_entries.end(), std::back_inserter(entries),
        [&](const CallEntry &entry) { return std::strstr(entry.name, only.c_str()) != nullptr; });
    if (entries.empty()) throw std::runtime_error("no call has '" + only + "' in its name");
  }
  return entries[seed % entries.size()];
}

} // namespace

std::string call_name(std::uint64_t seed, const std::string &only) {
  return entry_of(seed, only).name;
}

CallVerdict check_call(std::uint64_t seed, const std::string &only, const std::set<int> &plain,
                       const std::string &device) {
  const CallEntry &entry = entry_of(seed, only);
  CallVerdict verdict;
  set_print_sink([](std::string_view) {});
  set_log_sink([](std::string_view) {});
  Draw eagerly(seed, plain);
  note_stage(std::string(entry.name) + ", eager");
  const Outcome eager = outcome_of([&] { return entry.call(eagerly); });
  verdict.call = std::string(entry.name) + "(" + eagerly.text() + ")";
  verdict.arguments = eagerly.count();
  verdict.detail = shown("eager", eager);
  verdict.refused = eager.kind.has_value();
  verdict.fault = fault_alone(eager);
  // Records need not say that nothing computes with numbers which are only kept.
  const bool refuses_storage = eager.kind == ErrorKind::dtype &&
                               std::ranges::any_of(eagerly.drawn(), [](const Tensor &given) {
                                 return is_storage(given.dtype());
                               });
  if (verdict.fault.empty() && eager.kind && !contains(entry.raises, *eager.kind) &&
      !refuses_storage)
    verdict.fault = std::string(word(*eager.kind)) + ", of which the record says nothing";
  if (!verdict.fault.empty()) {
    verdict.fault += ", eager, in " + std::string(entry.name);
    return verdict;
  }
  const std::vector<Tensor> inputs = eagerly.drawn();
  if (!device.empty()) {
    check_on_device(entry, seed, plain, inputs, eager, device, verdict);
    return verdict;
  }
  if (!entry.traceable) return verdict;
  const auto traced = [&](const std::vector<Tensor> &values) {
    Draw draw(seed, plain, &values);
    return entry.call(draw);
  };
  // A product with a vector sums in an order that the strides of the matrix decide, and compiled
  // functions are given copies of views.
  const auto is_vector = [](const Tensor &input) {
    const Shape shape = input.shape();
    return shape.size() == 1 ||
           (shape.size() > 1 && (shape[shape.size() - 1] == 1 || shape[shape.size() - 2] == 1));
  };
  const bool sums_by_strides =
      std::string_view(entry.name).starts_with("matmul") &&
      std::ranges::any_of(inputs, is_vector) &&
      std::ranges::any_of(inputs, [](const Tensor &input) { return !input.is_contiguous(); });
  for (const bool open : {false, true}) {
    if (open && (seed % 3 != 0 || !entry.open_sizes)) continue;
    FunctionOptions options;
    if (open)
      for (const Tensor &input : inputs)
        options.signature.push_back({input.dtype(), Shape(input.shape().size(), unknown)});
    note_stage(std::string(entry.name) + (open ? ", compiled with open sizes" : ", compiled"));
    const Outcome compiled = outcome_of([&] { return function(traced, options)(inputs); });
    verdict.detail += shown(open ? "compiled with open sizes" : "compiled", compiled);
    verdict.fault = compare(eager, compiled, open, entry.every_path, sums_by_strides);
    if (!verdict.fault.empty()) {
      verdict.fault += ", in " + std::string(entry.name);
      return verdict;
    }
  }
  return verdict;
}

} // namespace weft::fuzz
