// Sizes that a trace leaves open: what they are in the call that is traced, and programs for that
// call's sizes alone.
#include <algorithm>
#include <map>

#include "Function/Tracer.h"
#include "Ops/Eager.h"
#include "Runtime/NewTensor.h"

namespace weft {

namespace {

using Values = std::unordered_map<ValueId, Tensor>;
using Operands = detail::InlineVector<ValueId, 4>;

/// Puts the numbers of sizes that are known, which are the last operands, into the lists of
/// attributes in which they stand.
Check put_sizes(const OpInfo &info, Operands &operands, Attrs &attrs, const Values &values) {
  if (!info.takes_sizes()) return std::nullopt;
  std::size_t at = info.operands_before_sizes(operands.size());
  for (std::size_t i = 0; i < info.attrs.size(); ++i) {
    if (!info.attrs[i].takes_values) continue;
    for (std::int64_t &size : std::get<Ints>(attrs[i])) {
      if (size != detail::kDynamic || at >= operands.size()) continue;
      const auto found = values.find(operands[at]);
      if (found == values.end()) {
        ++at;
        continue;
      }
      const auto number = found->second.item<std::int64_t>();
      // Where -1 is a word it is so of numbers alone.
      if (number < 0)
        return Fault{ErrorKind::shape,
                     "a size is " + std::to_string(number) + ", which is negative"};
      size = number;
      operands.erase(at);
    }
  }
  return std::nullopt;
}

/// The product of the sizes that are neither 0 nor -1.
std::int64_t product_beside_nothing(const Ints &sizes) {
  std::int64_t product = 1;
  for (const std::int64_t size : sizes)
    if (size > 0 && __builtin_mul_overflow(product, size, &product)) return 0;
  return product;
}

/// What -1 stands for in a reshape of an open operand: of several all but the last are its open
/// sizes, and beside a size 0 in both shapes the last one is what would follow without it.
void put_open_sizes(OpCode op, Attrs &attrs, const Shape &open, const Shape &known) {
  if (op != OpCode::reshape || open.is_static() || !known.is_static()) return;
  Ints shape = ReshapeAttrs(attrs).shape;
  std::size_t axis = 0;
  auto left = std::ranges::count(shape, -1);
  for (std::int64_t &size : shape) {
    if (size != -1 || left == 1) continue;
    while (axis < open.size() && open[axis] != unknown) ++axis;
    if (axis == open.size()) return;
    size = known[axis++];
    --left;
  }
  const bool nothing = std::ranges::count(shape, 0) != 0 && std::ranges::count(known, 0) != 0;
  const std::int64_t others = product_beside_nothing(shape), all = product_beside_nothing(known);
  if (left == 1 && nothing && others != 0 && all % others == 0)
    *std::ranges::find(shape, -1) = all / others;
  attrs = Attrs{Attr(shape)};
}

/// Whether an open size of an operand is one in the call, where broadcasting repeats it.
bool stretches(const Shape &open, const Shape &known, const Shape &result) {
  for (std::size_t back = 1; back <= open.size() && back <= result.size(); ++back)
    if (open.end()[-static_cast<std::ptrdiff_t>(back)] == unknown &&
        known.end()[-static_cast<std::ptrdiff_t>(back)] == 1 &&
        result.end()[-static_cast<std::ptrdiff_t>(back)] != 1)
      return true;
  return false;
}

bool admits(const TensorType &open, const TensorType &known) {
  return open.dtype == known.dtype &&
         std::ranges::equal(open.shape, known.shape,
                            [](std::int64_t a, std::int64_t b) { return a == unknown || a == b; });
}

} // namespace

TracedType Tracer::type_of(ValueId value) const {
  const TensorType &type = program_.values[value];
  return {type, hints_ ? hints_->shapes[value] : type.shape};
}

std::vector<TracedType> Tracer::output_types(const Program &callee) const {
  std::vector<TracedType> types;
  for (const ValueId output : callee.outputs) {
    types.emplace_back(callee.values[output]);
    if (callee.hints) types.back().hint = callee.hints->shapes[output];
  }
  return types;
}

std::int64_t Tracer::hint(ValueId value, int axis) const {
  if (!hints_) return unknown;
  if (axis >= 0) return hints_->shapes[value][static_cast<std::size_t>(axis)];
  const auto found = hints_->values.find(value);
  if (found == hints_->values.end() || found->second.size() != 1) return unknown;
  return found->second.item<std::int64_t>();
}

std::vector<TracedType> Tracer::infer_results(const OpCall &call, const ProgramNode &node) {
  const OpInfo &info = op_info(call.op);
  std::vector<TensorType> more(call.more.size()), known_more(call.more.size());
  const auto named = [&](Fault fault) {
    fault.message = std::string(info.name) + ": " + fault.message;
    return fault;
  };
  std::vector<TensorType> types;
  bool is_open = false;
  for (const ValueId operand : node.operands) {
    types.push_back(program_.values[operand]);
    is_open |= !types.back().shape.is_static();
  }
  Result<TensorType> open = infer({call.op, types, call.attrs, more});
  // As a trace has them: of unknown sizes, or those of the call.
  const auto all_of = [](const TensorType &first, std::span<const TensorType> others) {
    std::vector<TracedType> all{first};
    all.insert(all.end(), others.begin(), others.end());
    return all;
  };
  if (!hints_ || !(is_open || count_values(info, call.attrs) != 0)) {
    if (!open) raise(named(open.fault()));
    return all_of(*open, more);
  }
  // The same for the sizes of the call, which a trace of its own would know.
  Attrs attrs = call.attrs;
  Operands operands = node.operands;
  Check wrong = put_sizes(info, operands, attrs, hints_->values);
  if (!types.empty()) put_open_sizes(call.op, attrs, types[0].shape, type_of(operands[0]).hint);
  std::vector<TensorType> known_types;
  for (const ValueId operand : operands)
    known_types.push_back({program_.values[operand].dtype, hints_->shapes[operand]});
  const Result<TensorType> known =
      wrong ? Result<TensorType>(*wrong) : infer({call.op, known_types, attrs, known_more});
  if (!known) {
    // In a branch that the call does not take it does not matter.
    if (!open || pinned_ || open_.empty()) raise(named(known.fault()));
    if (!only_at_run_time_) only_at_run_time_ = named(known.fault());
    return all_of(*open, more);
  }
  bool exactly = pinned_ || !open || !admits(*open, *known);
  for (std::size_t i = 0; i < more.size(); ++i)
    exactly = exactly || !admits(more[i], known_more[i]);
  if (info.kind == OpKind::elementwise)
    for (std::size_t i = 0; i < types.size(); ++i)
      exactly = exactly || stretches(types[i].shape, known_types[i].shape, known->shape);
  if (exactly) {
    pin();
    return all_of(*known, known_more);
  }
  std::vector<TracedType> all;
  all.emplace_back(*std::move(open), known->shape);
  for (std::size_t i = 0; i < more.size(); ++i)
    all.emplace_back(std::move(more[i]), known_more[i].shape);
  return all;
}

void Tracer::keep_value(const OpCall &call, const ProgramNode &node) {
  constexpr std::int64_t kMost = 64; // shapes, and what is computed of them
  const OpInfo &info = op_info(call.op);
  const Shape &shape = hints_->shapes[node.result];
  if (call.op == OpCode::size_of) {
    const auto axis = static_cast<std::size_t>(SizeAttrs(call.attrs).axis);
    const std::int64_t size = hints_->shapes[node.operands[0]][axis];
    if (size != unknown) hints_->values.emplace(node.result, detail::new_scalar(size));
    return;
  }
  if ((info.kind != OpKind::elementwise && info.kind != OpKind::structural) || info.effects.reads ||
      info.effects.writes || info.effects.io || !shape.is_static())
    return;
  std::int64_t count = 1;
  for (const std::int64_t size : shape)
    if (__builtin_mul_overflow(count, size, &count)) return;
  if (count > kMost) return;
  std::vector<Tensor> operands;
  for (const ValueId operand : node.operands) {
    const auto found = hints_->values.find(operand);
    if (found == hints_->values.end()) return;
    operands.push_back(found->second);
  }
  try {
    const Scope eager(nullptr);
    hints_->values.emplace(node.result, execute_eager(call.op, operands, call.attrs));
  } catch (const Error &) {
    // The program says it when it runs.
  }
}

std::pair<ValueId, std::int64_t> Tracer::first_of_name(ValueId value, std::int64_t axis) const {
  const auto name_of = [&](std::size_t input, std::size_t at) {
    const Shape *names = input < program_.names.size() ? &program_.names[input] : nullptr;
    return names != nullptr && at < names->size() ? (*names)[at] : unknown;
  };
  const auto found = std::ranges::find(program_.inputs, value);
  if (found == program_.inputs.end()) return {value, axis};
  const std::int64_t name = name_of(static_cast<std::size_t>(found - program_.inputs.begin()),
                                    static_cast<std::size_t>(axis));
  if (!detail::is_named(name)) return {value, axis};
  for (std::size_t i = 0; i < program_.names.size(); ++i)
    for (std::size_t at = 0; at < program_.names[i].size(); ++at)
      if (name_of(i, at) == name) return {program_.inputs[i], static_cast<std::int64_t>(at)};
  return {value, axis};
}

std::optional<Tensor> Tracer::known_size(const OpCall &call) {
  const Tensor &x = call.operands[0];
  const std::int64_t axis = SizeAttrs(call.attrs).axis;
  const Shape shape = detail::type_of(x).shape;
  if (axis < 0 || axis >= shape.rank()) return std::nullopt; // an error to be
  std::int64_t size = shape[static_cast<std::size_t>(axis)];
  if (size == unknown && pinned_) size = detail::hint_of(x)[static_cast<std::size_t>(axis)];
  if (size != unknown) return detail::new_scalar(size);
  const auto first = first_of_name(value_of(x), axis);
  const auto known = sizes_.find(first);
  if (known != sizes_.end() && is_open(region_of_[known->second.impl()->trace_value]))
    return known->second;
  if (first.first == value_of(x) && first.second == axis) return std::nullopt;
  const Tensor input = wrap(first.first);
  return apply({OpCode::size_of, {&input, 1}, Attrs{first.second}});
}

namespace {

/// Makes programs of open sizes those of the sizes that they were traced for.
class Specializer {
public:
  void run(Program &program) {
    const std::shared_ptr<const ProgramHints> hints = std::move(program.hints);
    // What was added to it since then are scalars.
    for (std::size_t i = 0; i < hints->shapes.size(); ++i)
      program.values[i].shape = hints->shapes[i];
    run(program, program.nodes, hints->values);
  }

private:
  void run(const Program &program, std::vector<ProgramNode> &nodes, const Values &values) {
    for (ProgramNode &node : nodes) {
      if (node.construct) {
        if (node.construct->callee) node.construct->callee = copy_of(node.construct->callee);
        for (ProgramRegion &region : node.construct->regions) run(program, region.nodes, values);
        continue;
      }
      const OpInfo &info = op_info(node.op);
      static_cast<void>(put_sizes(info, node.operands, node.attrs, values));
      if (node.result == kNoValue) continue;
      const Shape &result = program.values[node.result].shape;
      for (std::size_t i = 0; i < info.attrs.size(); ++i) {
        if (info.attrs[i].kind != AttrKind::shape) continue;
        Ints &shape = std::get<Ints>(node.attrs[i]);
        for (std::size_t axis = 0; axis < shape.size() && axis < result.size(); ++axis)
          if (shape[axis] == -1) shape[axis] = result[axis];
      }
    }
  }

  static std::vector<ProgramNode> copy_of(const std::vector<ProgramNode> &nodes) {
    std::vector<ProgramNode> copies;
    for (const ProgramNode &node : nodes) {
      copies.push_back({node.op, node.operands, node.attrs, node.result, nullptr, node.location});
      if (!node.construct) continue;
      auto construct = std::make_unique<ProgramConstruct>();
      static_cast<ProgramConstructHead &>(*construct) = *node.construct;
      for (const ProgramRegion &region : node.construct->regions)
        construct->regions.push_back({region.arguments, copy_of(region.nodes), region.results});
      copies.back().construct = std::move(construct);
    }
    return copies;
  }

  std::shared_ptr<const Program> copy_of(const std::shared_ptr<const Program> &program) {
    if (!program->hints) return program;
    std::shared_ptr<const Program> &known = copies_[program.get()];
    if (known) return known;
    auto copy = std::make_shared<Program>();
    static_cast<ProgramHead &>(*copy) = *program;
    copy->nodes = copy_of(program->nodes);
    run(*copy);
    return known = std::move(copy);
  }

  std::map<const Program *, std::shared_ptr<const Program>> copies_;
};

} // namespace

void Tracer::specialize() { Specializer().run(program_); }

} // namespace weft
