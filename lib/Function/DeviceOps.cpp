// Eager ops on devices: each runs as a program of its own, compiled at its first call; and copies
// of views, as programs of the ops that give such a view.
#include <algorithm>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>

#include "CodeCache/CodeCache.h"
#include "Function/CompiledCall.h"
#include "Function/DeviceRun.h"
#include "Ops/DeviceOps.h"
#include "Runtime/NewTensor.h"
#include "Runtime/OnDevice.h"
#include "Support/Fault.h"
#include "Support/Log.h"

namespace weft {

namespace {

/// A program that was asked for, compiled or refused by the compiler.
struct Entry {
  forks::Mutex<std::mutex> mutex; ///< held while it is compiled
  bool is_ready = false;
  std::optional<CompiledCall> call;
};

/// All of them, by what they depend on.
class Programs {
public:
  static Programs &get() {
    static Programs &all = *new Programs;
    return all;
  }

  std::shared_ptr<Entry> find(const std::string &key) {
    const std::lock_guard lock(mutex_);
    // Programs of sizes that do not come again would pile up.
    if (entries_.size() >= kMost) entries_.clear();
    std::shared_ptr<Entry> &entry = entries_[key];
    if (!entry) entry = std::make_shared<Entry>();
    return entry;
  }

private:
  static constexpr std::size_t kMost = 4096;
  forks::Mutex<std::mutex> mutex_;
  std::unordered_map<std::string, std::shared_ptr<Entry>> entries_;
};

/// Bytes that tell programs apart.
class Key {
public:
  template <class T>
  void add(const T &value) {
    static_assert(std::is_trivially_copyable_v<T>);
    text_.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
  void add(std::span<const std::int64_t> values) {
    add(values.size());
    for (const std::int64_t value : values) add(value);
  }
  void add(const TensorType &type) {
    add(type.dtype);
    add(std::span<const std::int64_t>(type.shape));
  }
  /// Says false for an attribute that is no value.
  bool add(const Attr &attr) {
    add(attr.index());
    return std::visit(
        [&]<class T>(const T &value) {
          if constexpr (std::is_same_v<T, ConstantRef> || std::is_same_v<T, VariableRef>)
            return false;
          else if constexpr (std::is_same_v<T, Ints>) add(std::span<const std::int64_t>(value));
          else if constexpr (std::is_same_v<T, std::string>) {
            add(value.size());
            text_ += value;
          } else add(value);
          return true;
        },
        attr);
  }
  const std::string &text() const { return text_; }

private:
  std::string text_;
};

/// A program that grows by calls of ops, each on the first result of the one before or on inputs.
class OneLine {
public:
  explicit OneLine(std::string_view name) : program_(std::make_shared<Program>()) {
    program_->name = name;
  }

  ValueId input(TensorType type) {
    program_->inputs.push_back(value(std::move(type)));
    return program_->inputs.back();
  }
  /// The first result, of these types; others are numbered behind it.
  ValueId call(OpCode op, std::span<const ValueId> operands, Attrs attrs,
               std::span<const TensorType> types) {
    ProgramNode node;
    node.op = op;
    for (const ValueId operand : operands) node.operands.push_back(operand);
    node.attrs = std::move(attrs);
    for (const TensorType &type : types) {
      const ValueId id = value(type);
      if (node.result == kNoValue) node.result = id;
    }
    const ValueId first = node.result;
    program_->nodes.push_back(std::move(node));
    return first;
  }
  /// Of an op with one operand, whose result has that shape.
  ValueId shaped(OpCode op, ValueId x, Attrs attrs, Shape shape) {
    const TensorType type{program_->values[x].dtype, std::move(shape)};
    return call(op, {&x, 1}, std::move(attrs), {&type, 1});
  }
  const TensorType &type(ValueId id) const { return program_->values[id]; }
  std::shared_ptr<const Program> ending(std::vector<ValueId> outputs) && {
    program_->outputs = std::move(outputs);
    return std::move(program_);
  }

private:
  ValueId value(TensorType type) {
    program_->values.push_back(std::move(type));
    return static_cast<ValueId>(program_->values.size() - 1);
  }

  std::shared_ptr<Program> program_;
};

/// Runs the program of that key, which `make` gives the first time; nothing where the compiler
/// refuses it.
std::optional<std::vector<Tensor>> run(const Key &key, Device device,
                                       std::span<const Tensor> operands,
                                       FunctionRef<std::shared_ptr<const Program>()> make) {
  const std::shared_ptr<Entry> entry = Programs::get().find(key.text());
  {
    const forks::Delay whole;
    const std::lock_guard lock(entry->mutex);
    if (!entry->is_ready) {
      const std::shared_ptr<const Program> program = make();
      try {
        entry->call.emplace(program, cache::compile(*program, {}, device), nullptr, nullptr,
                            device);
      } catch (const CompileError &error) {
        if (logging())
          log_line("device: " + program->name +
                   " runs on the host, on copies: " + std::string(error.message()));
      }
      entry->is_ready = true;
    }
  }
  if (!entry->call) return std::nullopt;
  std::vector<detail::TensorImpl *> inputs;
  for (const Tensor &operand : operands) inputs.push_back(operand.impl());
  try {
    return entry->call->run(inputs);
  } catch (const Error &error) { // of code that knows no lines, nor what the user called
    raise(error.kind(), std::string(error.message()));
  }
}

bool run_op(const OpCall &call, Device device, std::span<const TensorType> types,
            std::span<Tensor> results) {
  Key key;
  key.add(call.op);
  key.add(device.index);
  for (const Tensor &operand : call.operands) key.add(detail::type_of(operand));
  for (const Attr &attr : call.attrs)
    if (!key.add(attr)) return false;
  auto made = run(key, device, call.operands, [&] {
    OneLine line(op_info(call.op).name);
    std::vector<ValueId> operands, outputs;
    for (const Tensor &operand : call.operands)
      operands.push_back(line.input(detail::type_of(operand)));
    const ValueId first = line.call(call.op, operands, call.attrs, types);
    for (std::size_t i = 0; i < types.size(); ++i)
      outputs.push_back(first + static_cast<ValueId>(i));
    return std::move(line).ending(std::move(outputs));
  });
  if (!made) return false;
  std::ranges::move(*made, results.begin());
  return true;
}

/// How a view comes from elements in a row: a slice of them, whose axes are permuted, repeated and
/// turned round.
struct ViewPlan {
  Shape row_major;         ///< what the memory is taken for, from its lowest element on
  Shape sliced;            ///< so many along each of its axes, from the first on
  Ints steps;              ///< of these
  Ints order;              ///< the axis of the view that each of `sliced` is, but for the last
  Ints reversed;           ///< axes of the view
  std::int64_t offset = 0; ///< of the lowest element, from the view's first
  std::int64_t lead = 0;   ///< elements before it, from one on that is aligned for kernels

  std::int64_t size() const {
    std::int64_t size = 1;
    for (const std::int64_t along : row_major) size *= along;
    return size;
  }
};

/// Nothing for a view that has no such plan, as its elements overlap.
std::optional<ViewPlan> plan_of(const detail::TensorImpl &view) {
  ViewPlan plan;
  std::vector<std::pair<std::int64_t, std::int64_t>> axes; // stride, axis
  for (std::int64_t axis = 0; axis < view.rank; ++axis) {
    const std::int64_t size = view.dims()[axis], stride = view.strides()[axis];
    if (size == 1 || stride == 0) continue;
    if (stride < 0) {
      plan.offset += (size - 1) * stride;
      plan.reversed.push_back(axis);
    }
    axes.emplace_back(std::abs(stride), axis);
  }
  std::ranges::sort(axes, std::greater<>());
  // Elements of what an axis steps through: a divisor of those of the axis around it.
  std::int64_t unit = axes.empty() ? 1 : axes.front().first * view.dims()[axes.front().second];
  for (const auto &[stride, axis] : axes) {
    const std::int64_t around = unit, size = view.dims()[axis];
    unit = std::gcd(around, stride);
    const std::int64_t step = stride / unit;
    if ((size - 1) * step >= around / unit) return std::nullopt;
    plan.row_major.push_back(around / unit);
    plan.sliced.push_back(size);
    plan.steps.push_back(step);
    plan.order.push_back(axis);
  }
  plan.row_major.push_back(unit);
  plan.sliced.push_back(1);
  plan.steps.push_back(1);
  const std::int64_t item = item_size(view.dtype);
  const std::byte *const lowest = view.data + plan.offset * item;
  plan.lead =
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(lowest) % kKernelAlignment) / item;
  return plan;
}

std::shared_ptr<const Program> program_of(const ViewPlan &plan, const detail::TensorImpl &view) {
  OneLine line("copy");
  ValueId x = 0;
  if (plan.lead == 0) {
    x = line.input({view.dtype, plan.row_major});
  } else {
    const std::int64_t size = plan.size();
    x = line.input({view.dtype, Shape{plan.lead + size}});
    x = line.shaped(OpCode::slice, x, {Ints{plan.lead}, Ints{plan.lead + size}, Ints{1}},
                    Shape{size});
    x = line.shaped(OpCode::reshape, x, {Ints(plan.row_major.begin(), plan.row_major.end())},
                    plan.row_major);
  }
  const std::size_t rank = plan.order.size(), all = rank + 1;
  Ints limits;
  for (std::size_t i = 0; i < all; ++i) limits.push_back((plan.sliced[i] - 1) * plan.steps[i] + 1);
  x = line.shaped(OpCode::slice, x, {Ints(all, 0), limits, plan.steps}, plan.sliced);
  // Ascending axes of the view, then ones where it repeats.
  Ints permutation(rank);
  for (std::size_t i = 0; i < rank; ++i) permutation[i] = static_cast<std::int64_t>(i);
  std::ranges::sort(permutation, {},
                    [&](std::int64_t i) { return plan.order[static_cast<std::size_t>(i)]; });
  Shape compact(std::span<const std::int64_t>(plan.sliced).first(rank)), ordered, spread;
  x = line.shaped(OpCode::reshape, x, {Ints(compact.begin(), compact.end())}, compact);
  for (const std::int64_t i : permutation) ordered.push_back(compact[static_cast<std::size_t>(i)]);
  x = line.shaped(OpCode::transpose, x, {permutation}, ordered);
  const Shape shape(view.sizes());
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    spread.push_back(view.strides()[axis] == 0 ? 1 : shape[axis]);
  x = line.shaped(OpCode::reshape, x, {Ints(spread.begin(), spread.end())}, spread);
  if (spread != shape)
    x = line.shaped(OpCode::broadcast, x, {Ints(shape.begin(), shape.end())}, shape);
  if (!plan.reversed.empty()) x = line.shaped(OpCode::reverse, x, {plan.reversed}, shape);
  return std::move(line).ending({x});
}

Tensor copy_view(const Tensor &tensor) {
  const detail::TensorImpl &view = *tensor.impl();
  const std::optional<ViewPlan> plan = plan_of(view);
  if (!plan) return {};
  Key key;
  key.add(OpCode::barrier); // an op that has no program of its own
  key.add(view.device.index);
  key.add(view.dtype);
  key.add(view.sizes());
  key.add(std::span(view.strides(), view.rank));
  key.add(plan->lead);
  // The memory between the elements is not looked at, nor what may be behind the last.
  const Shape shape = plan->lead == 0 ? plan->row_major : Shape{plan->lead + plan->size()};
  Ints strides(shape.size(), 1);
  for (std::size_t i = strides.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * shape[i + 1];
  const Tensor memory = detail::new_view(tensor, shape, strides, plan->offset - plan->lead);
  auto made = run(key, view.device, {&memory, 1}, [&] { return program_of(*plan, view); });
  return made ? std::move(made->front()) : Tensor();
}

[[maybe_unused]] const bool registered = [] {
  set_device_op_runner(run_op);
  detail::set_view_copier(copy_view);
  return true;
}();

} // namespace

} // namespace weft
