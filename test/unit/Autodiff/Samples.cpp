// Sample calls of every op, made from the op table.
#include "Samples.h"

#include <cmath>
#include <functional>
#include <map>

#include "Ops/Interpreter.h"

namespace weft::test {

Tensor values(const Shape &shape, double low, double high, int seed) {
  std::int64_t count = 1;
  for (std::int64_t dim : shape) count *= dim;
  std::vector<double> numbers(static_cast<std::size_t>(count));
  // Steps through the residues of a prime in one order per seed; the offset keeps the values of
  // different seeds apart, so that no two operands tie.
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double part = static_cast<double>((i + 1) * 389 % 997) + 0.07 * (seed % 13);
    numbers[i] = low + (high - low) * part / 998;
  }
  return tensor(numbers, shape);
}

bool all_finite(const Tensor &tensor) {
  if (!is_floating(tensor.dtype())) return true;
  for (double value : tensor.to_vector<double>())
    if (!std::isfinite(value)) return false;
  return true;
}

namespace {

Tensor bools(const Shape &shape) {
  return dispatch(OpCode::greater, std::vector<Tensor>{values(shape, -1, 1, 3), full({}, 0, f64)});
}

std::string shape_name(const Shape &shape) {
  if (shape.empty()) return "scalar";
  std::string name;
  for (std::int64_t dim : shape) name += (name.empty() ? "" : "x") + std::to_string(dim);
  return name;
}

/// An operand as the record admits it.
Tensor operand_for(const OperandInfo &info, const Shape &shape, double low, double high, int seed) {
  return info.admits.contains(f64) ? values(shape, low, high, seed) : bools(shape);
}

void add_elementwise(const OpInfo &info, const std::vector<Shape> &shapes, bool check,
                     std::vector<Sample> &samples) {
  Attrs attrs;
  for (const AttrInfo &attr : info.attrs)
    if (attr.kind == AttrKind::dtype) attrs.emplace_back(f64);
  const struct {
    const char *name;
    double low, high;
  } domains[] = {{"positive", 0.31, 1.77}, {"negative", -1.77, -0.31}, {"mixed", -1.31, 1.45}};
  for (const auto &domain : domains) {
    Sample sample{std::string(info.name), info.op, {}, attrs};
    for (std::size_t i = 0; i < info.operands.size(); ++i) {
      const Shape &shape = shapes[i % shapes.size()];
      sample.name += "_" + shape_name(shape);
      sample.operands.push_back(operand_for(info.operands[i], shape, domain.low, domain.high,
                                            static_cast<int>(5 * i + 1)));
    }
    sample.name += std::string("_") + domain.name;
    if (!check || all_finite(dispatch(sample.op, sample.operands, sample.attrs)))
      samples.push_back(std::move(sample));
  }
}

void add_reduction(const OpInfo &info, const Shape &shape, std::vector<Sample> &samples) {
  const auto rank = shape.rank();
  for (int mask = 0; mask < 1 << rank; ++mask)
    for (bool keepdims : {false, true}) {
      Ints axes;
      for (std::int64_t axis = 0; axis < rank; ++axis)
        if (mask >> axis & 1) axes.push_back(axis);
      samples.push_back({std::string(info.name) + "_" + shape_name(shape) + "_axes" +
                             std::to_string(mask) + (keepdims ? "_keepdims" : ""),
                         info.op,
                         {values(shape, -1.5, 1.7, 2)},
                         Attrs{axes, keepdims}});
    }
}

/// Every way that a cumulative op can go along every axis.
void add_cumulative(const OpInfo &info, const Shape &shape, std::vector<Sample> &samples) {
  const std::size_t flags = info.attrs.size() - 1;
  for (unsigned set = 0; set < 1u << flags; ++set) {
    if ((set & 6) == 6) continue; // what is shifted cannot be exclusive
    for (std::int64_t axis = 0; axis < shape.rank(); ++axis) {
      Sample sample{std::string(info.name) + "_" + shape_name(shape) + "_axis" +
                        std::to_string(axis),
                    info.op,
                    {},
                    Attrs{axis}};
      for (unsigned flag = 0; flag < flags; ++flag) {
        sample.attrs.emplace_back((set >> flag & 1) != 0);
        if (set >> flag & 1) sample.name += "_" + std::string(info.attrs[flag + 1].name);
      }
      for (std::size_t i = 0; i < info.operands.size(); ++i)
        sample.operands.push_back(values(shape, -1.5, 1.7, static_cast<int>(5 * i + 2)));
      samples.push_back(std::move(sample));
    }
  }
}

/// What is not elementwise and no reduction: by op, the calls to try.
class Structural {
public:
  void add(OpCode op, std::string name, std::vector<Tensor> operands, Attrs attrs) {
    samples.push_back({std::string(op_info(op).name) + "_" + std::move(name), op,
                       std::move(operands), std::move(attrs)});
  }

  void add_matmul(const Shape &lhs, const Shape &rhs, bool transpose_lhs = false,
                  bool transpose_rhs = false) {
    add(OpCode::matmul,
        shape_name(lhs) + (transpose_lhs ? "t_" : "_") + shape_name(rhs) +
            (transpose_rhs ? "t" : ""),
        {values(lhs, -1, 1, 1), values(rhs, -1, 1, 2)}, Attrs{transpose_lhs, transpose_rhs});
  }

  std::vector<Sample> samples;
};

std::vector<Sample> structural_samples() {
  Structural s;
  const auto x = [](const Shape &shape) { return values(shape, -1.2, 1.4, 1); };

  const std::pair<Shape, Shape> products[] = {
      {{3}, {3}},       {{3}, {3, 4}},          {{2, 3}, {3}},
      {{2, 3}, {3, 4}}, {{2, 2, 3}, {3, 4}},    {{2, 3}, {5, 3, 4}},
      {{3}, {2, 3, 4}}, {{2, 4, 3}, {3}},       {{2, 1, 2, 3}, {3, 3, 4}},
      {{1, 3}, {3, 1}}, {{1, 2, 3}, {2, 3, 2}},
  };
  for (const auto &[lhs, rhs] : products) s.add_matmul(lhs, rhs);
  s.add_matmul({3, 2}, {3, 4}, true, false);
  s.add_matmul({2, 3}, {4, 3}, false, true);
  s.add_matmul({3, 2}, {4, 3}, true, true);
  s.add_matmul({3}, {4, 3}, false, true);
  s.add_matmul({3, 2}, {3}, true, false);
  s.add_matmul({2, 3, 2}, {4, 3}, true, true);
  s.add_matmul({3, 2}, {5, 4, 3}, true, true);

  s.add(OpCode::reshape, "2x3_to_3x2", {x({2, 3})}, Attrs{Ints{3, 2}});
  s.add(OpCode::reshape, "6_to_any", {x({6})}, Attrs{Ints{2, -1, 1}});
  s.add(OpCode::reshape, "to_scalar", {x({1, 1})}, Attrs{Ints{}});
  s.add(OpCode::transpose, "2x3", {x({2, 3})}, Attrs{Ints{1, 0}});
  s.add(OpCode::transpose, "2x3x4", {x({2, 3, 4})}, Attrs{Ints{2, 0, 1}});
  s.add(OpCode::broadcast, "3_to_2x3", {x({3})}, Attrs{Ints{2, 3}});
  s.add(OpCode::broadcast, "2x1_to_4x2x3", {x({2, 1})}, Attrs{Ints{4, 2, 3}});
  s.add(OpCode::broadcast, "scalar", {x({})}, Attrs{Ints{2, 2}});
  s.add(OpCode::slice, "strided", {x({7})}, Attrs{Ints{1}, Ints{6}, Ints{2}});
  s.add(OpCode::slice, "strided_short", {x({8})}, Attrs{Ints{1}, Ints{6}, Ints{3}});
  s.add(OpCode::slice, "2x5", {x({2, 5})}, Attrs{Ints{1, 0}, Ints{2, 5}, Ints{1, 4}});
  s.add(OpCode::slice, "nothing", {x({3})}, Attrs{Ints{2}, Ints{2}, Ints{1}});
  s.add(OpCode::reverse, "2x3", {x({2, 3})}, Attrs{Ints{0, 1}});
  s.add(OpCode::reverse, "one_axis", {x({2, 3})}, Attrs{Ints{1}});
  s.add(OpCode::concatenate, "axis0", {x({2, 2}), values({1, 2}, 0, 1, 2), values({3, 2}, 2, 3, 3)},
        Attrs{std::int64_t{0}});
  s.add(OpCode::concatenate, "axis1", {x({2, 2}), values({2, 0}, 0, 1, 2), values({2, 1}, 2, 3, 3)},
        Attrs{std::int64_t{1}});
  const Tensor fill = full({}, 0.5, f64);
  s.add(OpCode::pad, "around", {x({2, 3}), fill}, Attrs{Ints{1, 0}, Ints{0, 2}, Ints{0, 0}});
  s.add(OpCode::pad, "interior", {x({2, 3}), fill}, Attrs{Ints{1, 1}, Ints{2, 0}, Ints{3, 1}});
  const Tensor indices = tensor({{2, 0}, {2, 1}});
  s.add(OpCode::gather, "axis0", {x({3, 2}), indices}, Attrs{std::int64_t{0}});
  s.add(OpCode::gather, "axis1", {x({2, 3}), indices}, Attrs{std::int64_t{1}});
  s.add(OpCode::gather, "one", {x({3, 2}), tensor(std::int64_t{2})}, Attrs{std::int64_t{0}});
  s.add(OpCode::scatter_add, "axis0", {x({3, 2}), indices, values({2, 2, 2}, 0, 1, 2)},
        Attrs{std::int64_t{0}});
  s.add(OpCode::scatter_add, "axis1", {x({2, 3}), tensor({2, 2}), values({2, 2}, 0, 1, 2)},
        Attrs{std::int64_t{1}});
  const Tensor along = tensor({{2, 0}, {2, 1}});
  s.add(OpCode::sort, "axis0", {x({3, 2})}, Attrs{std::int64_t{0}, false});
  s.add(OpCode::sort, "axis1", {x({2, 5})}, Attrs{std::int64_t{1}, true});
  s.add(OpCode::take_along_axis, "axis0", {x({3, 2}), along}, Attrs{std::int64_t{0}});
  s.add(OpCode::take_along_axis, "axis1", {x({2, 3}), along}, Attrs{std::int64_t{1}});
  s.add(OpCode::add_along_axis, "axis0", {x({3, 2}), along, values({2, 2}, 0, 1, 2)},
        Attrs{std::int64_t{0}});
  s.add(OpCode::add_along_axis, "axis1",
        {x({2, 3}), tensor({{2, 2}, {0, 1}}), values({2, 2}, 0, 1, 2)}, Attrs{std::int64_t{1}});
  s.add(OpCode::barrier, "matrix", {x({2, 3}), tensor({1., 2.})}, {});
  s.add(OpCode::barrier, "scalar", {x({}), tensor(3)}, {});
  s.add(OpCode::match_shape, "matrix", {x({2, 3}), zeros({2, 3}, DType::i32)}, {});
  s.add(OpCode::match_shape, "scalar", {x({}), tensor(3)}, {});
  s.add(OpCode::replicate, "scalar", {x({}), tensor(3)}, {});
  s.add(OpCode::replicate, "matrix", {x({2, 3}), tensor(2)}, {});
  s.add(OpCode::resize, "less", {x({3, 2}), tensor(2)}, {});
  s.add(OpCode::resize, "more", {x({3}), tensor(5)}, {});
  s.add(OpCode::update_slice, "axis0", {x({3, 2}), tensor(1), values({2}, 0, 1, 2)},
        Attrs{std::int64_t{0}});
  s.add(OpCode::update_slice, "axis1", {x({2, 3}), tensor(2), values({2}, 0, 1, 2)},
        Attrs{std::int64_t{1}});
  return s.samples;
}

std::vector<Sample> of_op(const std::vector<Sample> &samples, OpCode op) {
  std::vector<Sample> found;
  for (const Sample &sample : samples)
    if (sample.op == op) found.push_back(sample);
  return found;
}

} // namespace

const std::vector<Sample> &differentiable_samples() {
  static const std::vector<Sample> all = [] {
    std::vector<Sample> samples;
    const std::vector<Sample> structural = structural_samples();
    for (const OpInfo &info : all_ops()) {
      if (!info.differentiable) continue;
      if (info.kind == OpKind::elementwise) {
        add_elementwise(info, {{2, 3}}, true, samples);
        if (info.operands.size() > 1) {
          add_elementwise(info, {{2, 3}, {3}}, true, samples);
          add_elementwise(info, {{2, 1}, {1, 3}}, true, samples);
          add_elementwise(info, {{}, {2, 2}}, true, samples);
        }
      } else if (info.kind == OpKind::reduction) {
        add_reduction(info, {2, 3}, samples);
        add_reduction(info, {2, 3, 2}, samples);
      } else if (info.kind == OpKind::cumulative) {
        add_cumulative(info, {5}, samples);
        add_cumulative(info, {2, 4, 2}, samples);
      } else {
        for (Sample &sample : of_op(structural, info.op)) samples.push_back(std::move(sample));
      }
    }
    return samples;
  }();
  return all;
}

const std::vector<Sample> &degenerate_samples() {
  static const std::vector<Sample> all = [] {
    std::vector<Sample> samples;
    for (const OpInfo &info : all_ops()) {
      if (!info.differentiable) continue;
      if (info.kind == OpKind::elementwise) {
        add_elementwise(info, {{}}, false, samples);
        add_elementwise(info, {{0}}, false, samples);
        add_elementwise(info, {{0, 3}}, false, samples);
        if (info.operands.size() > 1) {
          add_elementwise(info, {{0, 3}, {1}}, false, samples);
          add_elementwise(info, {{}, {2, 0}}, false, samples);
        }
      } else if (info.kind == OpKind::reduction) {
        for (const Shape &shape : {Shape{}, Shape{0}, Shape{0, 3}, Shape{2, 0, 3}})
          add_reduction(info, shape, samples);
      } else if (info.kind == OpKind::cumulative) {
        for (const Shape &shape : {Shape{0}, Shape{1}, Shape{0, 3}, Shape{2, 0, 3}})
          add_cumulative(info, shape, samples);
      }
    }
    Structural s;
    for (const auto &[lhs, rhs] : {std::pair<Shape, Shape>{{0}, {0}},
                                   {{0}, {0, 3}},
                                   {{2, 0}, {0, 3}},
                                   {{0, 2}, {2, 3}},
                                   {{2, 0, 2, 3}, {3, 2}},
                                   {{2, 3}, {0, 3, 2}}})
      s.add_matmul(lhs, rhs);
    const auto empty = [](const Shape &shape) { return values(shape, 0, 1, 1); };
    s.add(OpCode::reshape, "empty", {empty({0, 3})}, Attrs{Ints{3, 0, 2}});
    s.add(OpCode::transpose, "scalar", {empty({})}, Attrs{Ints{}});
    s.add(OpCode::transpose, "empty", {empty({0, 3})}, Attrs{Ints{1, 0}});
    s.add(OpCode::broadcast, "empty", {empty({0, 1})}, Attrs{Ints{2, 0, 3}});
    s.add(OpCode::broadcast, "to_empty", {empty({1, 2})}, Attrs{Ints{0, 2}});
    s.add(OpCode::slice, "scalar", {empty({})}, Attrs{Ints{}, Ints{}, Ints{}});
    s.add(OpCode::slice, "empty", {empty({0})}, Attrs{Ints{0}, Ints{0}, Ints{2}});
    s.add(OpCode::reverse, "scalar", {empty({})}, Attrs{Ints{}});
    s.add(OpCode::reverse, "empty", {empty({2, 0})}, Attrs{Ints{0, 1}});
    s.add(OpCode::concatenate, "empty", {empty({0}), empty({0})}, Attrs{std::int64_t{0}});
    s.add(OpCode::pad, "scalar", {empty({}), empty({})}, Attrs{Ints{}, Ints{}, Ints{}});
    s.add(OpCode::pad, "empty", {empty({0}), empty({})}, Attrs{Ints{1}, Ints{2}, Ints{3}});
    const Tensor none = zeros({0}, i64);
    s.add(OpCode::gather, "nothing", {empty({3, 2}), none}, Attrs{std::int64_t{0}});
    s.add(OpCode::gather, "of_empty", {empty({0, 2}), none}, Attrs{std::int64_t{0}});
    s.add(OpCode::scatter_add, "nothing", {empty({3, 2}), none, empty({0, 2})},
          Attrs{std::int64_t{0}});
    s.add(OpCode::sort, "nothing", {empty({2, 0})}, Attrs{std::int64_t{1}, false});
    s.add(OpCode::take_along_axis, "nothing", {empty({3}), none}, Attrs{std::int64_t{0}});
    s.add(OpCode::take_along_axis, "of_empty", {empty({0}), none}, Attrs{std::int64_t{0}});
    s.add(OpCode::add_along_axis, "nothing", {empty({3}), none, empty({0})},
          Attrs{std::int64_t{0}});
    s.add(OpCode::replicate, "nothing", {empty({2}), tensor(0)}, {});
    s.add(OpCode::resize, "nothing", {empty({2}), tensor(0)}, {});
    s.add(OpCode::resize, "from_nothing", {empty({0}), tensor(2)}, {});
    s.add(OpCode::match_shape, "nothing", {empty({0, 3}), empty({0, 3})}, {});
    s.add(OpCode::barrier, "nothing", {empty({0, 3}), tensor(1)}, {});
    s.add(OpCode::update_slice, "nothing", {empty({3, 0}), tensor(1), empty({0})},
          Attrs{std::int64_t{0}});
    for (Sample &sample : s.samples) samples.push_back(std::move(sample));
    return samples;
  }();
  return all;
}

} // namespace weft::test
