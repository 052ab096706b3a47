// Makes calls of every op from the op table.
#include "Calls.h"

#include <cstring>
#include <iomanip>
#include <limits>
#include <sstream>

#include <weft/ops.h>

namespace weft::test {

namespace {

/// Values at which ops behave in their own way.
template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::same_as<T, bool>) return {false, true};
  else if constexpr (std::floating_point<T>)
    return {T(0),
            T(-0.0),
            T(1),
            T(-1),
            T(0.5),
            T(-2.5),
            T(3),
            T(1e-3),
            T(20.25),
            T(-88.75),
            T(710),
            T(1e10),
            Limits::infinity(),
            -Limits::infinity(),
            Limits::quiet_NaN(),
            Limits::denorm_min(),
            -Limits::min(),
            Limits::max(),
            Limits::lowest()};
  else return {0, 1, -1, 2, -3, 7, 31, 100000, Limits::max(), Limits::min()};
}

std::size_t special_count(DType dtype) {
  return visit_dtype(dtype, []<class T>() { return special_values<T>().size(); });
}

std::int64_t count_of(const Shape &shape) {
  std::int64_t count = 1;
  for (std::int64_t dim : shape) count *= dim;
  return count;
}

/// std::vector<bool> has no elements in a row.
template <class T>
Tensor make(const std::vector<T> &values, const Shape &shape) {
  if constexpr (std::same_as<T, bool>) {
    std::vector<std::int32_t> numbers(values.begin(), values.end());
    return cast(tensor(numbers, shape), DType::boolean);
  } else {
    return tensor(values, shape);
  }
}

/// `count` elements that repeat each special value `stride` times: operands with the right strides
/// meet in all combinations.
Tensor combination(DType dtype, std::size_t count, std::size_t stride) {
  return visit_dtype(dtype, [&]<class T>() {
    const std::vector<T> special = special_values<T>();
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = special[i / stride % special.size()];
    return make(values, Shape{static_cast<std::int64_t>(count)});
  });
}

/// The dtypes a record's operand admits.
std::vector<DType> admitted(const DTypeSet &set) {
  std::vector<DType> dtypes;
  for (int i = 0; i < kNumDTypes; ++i)
    if (set.contains(static_cast<DType>(i))) dtypes.push_back(static_cast<DType>(i));
  return dtypes;
}

class Calls {
public:
  explicit Calls(const OpInfo &info) : info_(info) {}

  void add(std::vector<Tensor> operands, Attrs attrs = {}) {
    std::string name(info_.name);
    for (const Tensor &operand : operands) name += " " + to_string(operand.type());
    for (const Attr &attr : attrs) {
      if (const auto *ints = std::get_if<Ints>(&attr)) name += " " + to_string(Shape(*ints));
      if (const auto *axis = std::get_if<std::int64_t>(&attr)) name += " " + std::to_string(*axis);
      if (const auto *flag = std::get_if<bool>(&attr)) name += *flag ? " true" : " false";
      if (const auto *dtype = std::get_if<DType>(&attr))
        name += " to " + std::string(name_of(*dtype));
    }
    calls.push_back({std::move(name), info_.op, std::move(operands), std::move(attrs)});
  }

  void add_elementwise();
  void add_reduction();
  void add_cumulative();
  void add_structural();

  std::vector<Call> calls;

private:
  /// The operand's own dtype where it does not admit the call's (the predicate of a select).
  DType dtype_of_operand(std::size_t i, DType dtype) const {
    const DTypeSet &set = info_.operands[i].admits;
    return set.contains(dtype) && i + 1 >= first_common() ? dtype : admitted(set).front();
  }
  /// Operands before this place have dtypes of their own.
  std::size_t first_common() const {
    return info_.operands.front().admits.bits == info_.operands.back().admits.bits ? 0 : 2;
  }
  void add_elementwise(DType dtype, const Attrs &attrs);
  void add_matmuls(DType dtype);
  void add_movements(DType dtype);

  const OpInfo &info_;
};

void Calls::add_elementwise(DType dtype, const Attrs &attrs) {
  using Shapes = std::vector<Shape>;
  std::vector<Shapes> lists = {{{}},   {{1}},    {{3}}, {{17}},      {{33}},
                               {{64}}, {{1000}}, {{0}}, {{2, 0, 3}}, {{5, 7}}};
  const std::size_t operands = info_.operands.size();
  if (operands > 1)
    lists = {
        {{}},       {{3}},         {{33}},           {{1000}},      {{2, 0, 3}},        {{}, {33}},
        {{33}, {}}, {{5, 7}, {7}}, {{5, 1}, {1, 7}}, {{0, 3}, {1}}, {{3, 1, 5}, {4, 1}}};
  int seed = 0;
  for (const Shapes &shapes : lists) {
    std::vector<Tensor> tensors;
    for (std::size_t i = 0; i < operands; ++i)
      tensors.push_back(sample(dtype_of_operand(i, dtype), shapes[i % shapes.size()], ++seed));
    add(std::move(tensors), attrs);
  }

  std::size_t count = 1;
  for (std::size_t i = 0; i < operands; ++i) count *= special_count(dtype_of_operand(i, dtype));
  std::vector<Tensor> all_special, views;
  for (std::size_t i = 0, stride = 1; i < operands; ++i) {
    const DType own = dtype_of_operand(i, dtype);
    all_special.push_back(combination(own, count, stride));
    stride *= special_count(own);
    views.push_back(i % 2 == 0 ? sample(own, {7, 5}, 40).transpose({1, 0})
                               : sample(own, {14}, 41)[slice({}, {}, -2)]);
  }
  add(std::move(all_special), attrs);
  add(std::move(views), attrs);
}

void Calls::add_elementwise() {
  const bool to_dtype = !info_.attrs.empty() && info_.attrs[0].kind == AttrKind::dtype;
  for (DType dtype : admitted(info_.operands.back().admits)) {
    if (!to_dtype) {
      add_elementwise(dtype, {});
      continue;
    }
    for (int to = 0; to < kNumDTypes; ++to) add_elementwise(dtype, {static_cast<DType>(to)});
  }
}

void Calls::add_reduction() {
  for (DType dtype : admitted(info_.operands[0].admits)) {
    bool keepdims = false;
    for (const Shape &shape :
         {Shape{}, Shape{0}, Shape{1}, Shape{3}, Shape{17}, Shape{33}, Shape{64}, Shape{1000},
          Shape{5, 7}, Shape{2, 0, 3}, Shape{3, 33, 5}, Shape{2, 1000}}) {
      // Values of one size, whose sums are not exact, and now and then special ones.
      const Tensor x = sample(dtype, shape, 7);
      for (int mask = 0; mask < 1 << shape.rank(); ++mask) {
        Ints axes;
        for (std::int64_t axis = 0; axis < shape.rank(); ++axis)
          if (mask >> axis & 1) axes.push_back(axis);
        add({x}, Attrs{axes, keepdims});
        keepdims = !keepdims;
      }
    }
    add({combination(dtype, special_count(dtype), 1)}, Attrs{Ints{0}, false});
    add({sample(dtype, {7, 5}, 9).transpose({1, 0})}, Attrs{Ints{1}, true});
  }
}

void Calls::add_cumulative() {
  using Axes = std::vector<std::int64_t>;
  const std::size_t operands = info_.operands.size(), flags = info_.attrs.size() - 1;
  for (DType dtype : admitted(info_.operands[0].admits)) {
    const auto add_call = [&](const Shape &shape, std::int64_t axis, unsigned set) {
      std::vector<Tensor> tensors;
      for (std::size_t i = 0; i < operands; ++i)
        tensors.push_back(sample(dtype, shape, 7 + static_cast<int>(i + set)));
      Attrs attrs{axis};
      for (unsigned flag = 0; flag < flags; ++flag) attrs.emplace_back((set >> flag & 1) != 0);
      add(std::move(tensors), std::move(attrs));
    };
    for (const auto &[shape, axes] : {std::pair<Shape, Axes>{{0}, {0}},
                                      {{1}, {0}},
                                      {{200}, {0}},
                                      {{2, 0, 3}, {0, 1}},
                                      {{3, 33, 5}, {0, 1, 2}}})
      for (const std::int64_t axis : axes) add_call(shape, axis, 0);
    for (unsigned set = 0; set < 1u << flags; ++set) {
      if ((set & 6) == 6) continue; // what is shifted cannot be exclusive
      for (const auto &[shape, axis] :
           {std::pair<Shape, std::int64_t>{{17}, 0}, {{5, 7}, 0}, {{5, 7}, 1}, {{4, 3, 1}, 1}})
        add_call(shape, axis, set);
    }
    Attrs attrs{std::int64_t{0}};
    attrs.resize(info_.attrs.size(), false);
    std::vector<Tensor> special, views;
    for (std::size_t i = 0; i < operands; ++i) {
      special.push_back(combination(dtype, 3 * special_count(dtype), 1 + 2 * i));
      views.push_back(sample(dtype, {7, 5}, 40).transpose({1, 0}));
    }
    add(std::move(special), attrs);
    add(std::move(views), attrs);
  }
}

void Calls::add_matmuls(DType dtype) {
  const struct {
    Shape lhs, rhs;
    bool transpose_lhs = false, transpose_rhs = false;
  } products[] = {
      {{3}, {3}},
      {{0}, {0}},
      {{3}, {3, 4}},
      {{17, 3}, {3}},
      {{2, 3}, {3, 4}},
      {{33, 17}, {17, 64}},
      {{1, 1}, {1, 1}},
      {{2, 0}, {0, 3}},
      {{0, 2}, {2, 3}},
      {{2, 2, 3}, {3, 4}},
      {{2, 3}, {5, 3, 4}},
      {{3}, {2, 3, 4}},
      {{2, 1, 2, 3}, {3, 3, 4}},
      {{2, 0, 2, 3}, {3, 2}},
      {{3, 2}, {3, 4}, true, false},
      {{17, 33}, {64, 33}, false, true},
      {{3, 2}, {4, 3}, true, true},
      {{2, 3, 2}, {4, 3}, true, true},
  };
  for (const auto &p : products) {
    // Infinities would make most elements NaN; they stand in one product alone.
    const auto operand = [&](const Shape &shape, int seed) {
      const Tensor whole = cast(sample(i32, shape, seed) % 17, dtype);
      return is_floating(dtype) ? whole / 7 : whole;
    };
    add({operand(p.lhs, 1), operand(p.rhs, 2)}, Attrs{p.transpose_lhs, p.transpose_rhs});
  }
  add({sample(dtype, {3, 5}, 3), sample(dtype, {5, 3}, 4)}, Attrs{false, false});
  add({sample(i32, {5, 3}, 5).astype(dtype).transpose({1, 0}),
       sample(i32, {5, 3}, 6).astype(dtype)},
      Attrs{false, false});
}

void Calls::add_movements(DType dtype) {
  const auto x = [&](const Shape &shape) { return sample(dtype, shape, 11); };
  const auto indices = [](std::vector<std::int64_t> values, const Shape &shape, DType type) {
    return cast(tensor(values, shape), type);
  };
  switch (info_.op) {
  case OpCode::stop_gradient:
    for (const Shape &shape : {Shape{}, Shape{33}, Shape{0}, Shape{5, 7}}) add({x(shape)});
    break;
  case OpCode::barrier:
    for (const Shape &shape : {Shape{}, Shape{33}, Shape{0}, Shape{5, 7}})
      add({x(shape), tensor({1, 2})});
    break;
  case OpCode::match_shape:
    for (const Shape &shape : {Shape{}, Shape{33}, Shape{0}, Shape{5, 7}})
      add({x(shape), zeros(shape, DType::boolean)});
    break;
  case OpCode::reshape:
    add({x({2, 3})}, Attrs{Ints{3, 2}});
    add({x({1000})}, Attrs{Ints{8, -1, 1}});
    add({x({1, 1})}, Attrs{Ints{}});
    add({x({})}, Attrs{Ints{1}});
    add({x({0, 3})}, Attrs{Ints{3, 0, 2}});
    add({x({7, 5}).transpose({1, 0})}, Attrs{Ints{35}});
    break;
  case OpCode::transpose:
    add({x({})}, Attrs{Ints{}});
    add({x({33})}, Attrs{Ints{0}});
    add({x({17, 33})}, Attrs{Ints{1, 0}});
    add({x({3, 5, 7})}, Attrs{Ints{2, 0, 1}});
    add({x({0, 3})}, Attrs{Ints{1, 0}});
    break;
  case OpCode::broadcast:
    add({x({})}, Attrs{Ints{3, 5}});
    add({x({33})}, Attrs{Ints{3, 33}});
    add({x({17, 1})}, Attrs{Ints{2, 17, 3}});
    add({x({0, 1})}, Attrs{Ints{2, 0, 3}});
    add({x({1, 2})}, Attrs{Ints{0, 2}});
    add({x({3})}, Attrs{Ints{3}});
    break;
  case OpCode::slice:
    add({x({})}, Attrs{Ints{}, Ints{}, Ints{}});
    add({x({33})}, Attrs{Ints{1}, Ints{30}, Ints{2}});
    add({x({17, 33})}, Attrs{Ints{1, 0}, Ints{16, 33}, Ints{1, 4}});
    add({x({8})}, Attrs{Ints{1}, Ints{6}, Ints{7}});
    add({x({8})}, Attrs{Ints{1}, Ints{6}, Ints{std::numeric_limits<std::int64_t>::max()}});
    add({x({3})}, Attrs{Ints{2}, Ints{2}, Ints{1}});
    add({x({0})}, Attrs{Ints{0}, Ints{0}, Ints{2}});
    break;
  case OpCode::reverse:
    add({x({})}, Attrs{Ints{}});
    add({x({33})}, Attrs{Ints{0}});
    add({x({5, 7})}, Attrs{Ints{0, 1}});
    add({x({5, 7})}, Attrs{Ints{1}});
    add({x({2, 0})}, Attrs{Ints{0, 1}});
    break;
  case OpCode::concatenate:
    add({x({3}), x({17}), x({1})}, Attrs{std::int64_t{0}});
    add({x({5, 3}), x({5, 0}), x({5, 1})}, Attrs{std::int64_t{1}});
    add({x({2, 3, 5}), x({2, 1, 5})}, Attrs{std::int64_t{1}});
    add({x({0}), x({0})}, Attrs{std::int64_t{0}});
    add({x({4})}, Attrs{std::int64_t{0}});
    break;
  case OpCode::pad:
    add({x({2, 3}), x({})}, Attrs{Ints{1, 0}, Ints{0, 2}, Ints{0, 0}});
    add({x({5, 7}), x({})}, Attrs{Ints{1, 1}, Ints{2, 0}, Ints{3, 1}});
    add({x({}), x({})}, Attrs{Ints{}, Ints{}, Ints{}});
    add({x({0}), x({})}, Attrs{Ints{1}, Ints{2}, Ints{3}});
    add({x({33}), x({})}, Attrs{Ints{0}, Ints{0}, Ints{0}});
    break;
  case OpCode::gather:
    for (DType index : {i32, i64}) {
      add({x({33}), indices({32, 0, 7, 7}, {2, 2}, index)}, Attrs{std::int64_t{0}});
      add({x({3, 17}), indices({16, 0}, {2}, index)}, Attrs{std::int64_t{1}});
      add({x({3, 2}), indices({2}, {}, index)}, Attrs{std::int64_t{0}});
      add({x({3, 2}), indices({}, {0}, index)}, Attrs{std::int64_t{0}});
      add({x({0, 2}), indices({}, {0}, index)}, Attrs{std::int64_t{0}});
    }
    break;
  case OpCode::scatter_add:
    for (DType index : {i32, i64}) {
      add({x({5}), indices({4, 0, 4, 4}, {2, 2}, index), sample(dtype, {2, 2}, 12)},
          Attrs{std::int64_t{0}});
      add({x({3, 17}), indices({16, 0, 0}, {3}, index), sample(dtype, {3, 3}, 13)},
          Attrs{std::int64_t{1}});
      add({x({3, 2}), indices({2}, {}, index), sample(dtype, {2}, 14)}, Attrs{std::int64_t{0}});
      add({x({3, 2}), indices({}, {0}, index), x({0, 2})}, Attrs{std::int64_t{0}});
      add({x({0}), indices({}, {0}, index), x({0})}, Attrs{std::int64_t{0}});
    }
    break;
  case OpCode::argsort:
  case OpCode::sort:
    for (bool descending : {false, true}) {
      const auto add_along = [&](const Tensor &operand, std::int64_t axis) {
        if (info_.op == OpCode::sort) return add({operand}, Attrs{axis, descending});
        const std::int64_t size = operand.shape()[static_cast<std::size_t>(axis)];
        for (std::int64_t count : {std::int64_t{-1}, size / 2, std::min<std::int64_t>(size, 2)})
          add({operand}, Attrs{axis, descending, count});
      };
      for (const Shape &shape : {Shape{0}, Shape{1}, Shape{2}, Shape{17}, Shape{300}, Shape{5, 7},
                                 Shape{3, 5, 7}, Shape{2, 0, 3}, Shape{4, 16, 1}, Shape{70, 20}})
        add_along(x(shape), descending ? shape.rank() - 1 : shape.rank() / 2);
      add_along(x({70, 20}), 0);
      add_along(combination(dtype, 3 * special_count(dtype), 1), 0);
      add_along(x({7, 5}).transpose({1, 0}), 1);
    }
    break;
  case OpCode::take_along_axis:
    for (DType index : {i32, i64}) {
      add({x({33}), indices({32, 0, 7, 7}, {4}, index)}, Attrs{std::int64_t{0}});
      add({x({3, 17}), indices({16, 0, 1, 2, 3, 3}, {3, 2}, index)}, Attrs{std::int64_t{1}});
      add({x({3, 2, 2}), indices({2, 0, 1, 1}, {1, 2, 2}, index)}, Attrs{std::int64_t{0}});
      add({x({3, 2}), indices({}, {3, 0}, index)}, Attrs{std::int64_t{1}});
      add({x({0, 2}), indices({}, {0, 2}, index)}, Attrs{std::int64_t{0}});
      add({x({5, 3}).transpose({1, 0}), indices({4, 0, 2}, {3, 1}, index)}, Attrs{std::int64_t{1}});
    }
    break;
  case OpCode::add_along_axis:
    for (DType index : {i32, i64}) {
      add({x({5}), indices({4, 0, 4, 4}, {4}, index), sample(dtype, {4}, 12)},
          Attrs{std::int64_t{0}});
      add({x({3, 17}), indices({16, 0, 1, 2, 3, 3}, {3, 2}, index), sample(dtype, {3, 2}, 13)},
          Attrs{std::int64_t{1}});
      add({x({2, 3, 2}), indices({2, 0, 1, 1, 0, 0, 2, 2}, {2, 2, 2}, index),
           sample(dtype, {2, 2, 2}, 14)},
          Attrs{std::int64_t{1}});
      add({x({3, 2}), indices({}, {3, 0}, index), x({3, 0})}, Attrs{std::int64_t{1}});
      add({x({0}), indices({}, {0}, index), x({0})}, Attrs{std::int64_t{0}});
    }
    break;
  case OpCode::replicate:
    for (DType index : {i32, i64})
      for (int count : {0, 1, 3})
        for (const Shape &shape : {Shape{}, Shape{17}, Shape{2, 3}, Shape{0, 2}})
          add({x(shape), indices({count}, {}, index)});
    break;
  case OpCode::resize:
    for (DType index : {i32, i64})
      for (int count : {0, 2, 3, 20})
        for (const Shape &shape : {Shape{3}, Shape{2, 3}, Shape{0, 2}, Shape{4, 0}})
          add({x(shape), indices({count}, {}, index)});
    break;
  case OpCode::size_of:
    add({x({3, 17})}, Attrs{std::int64_t{1}});
    add({x({0})}, Attrs{std::int64_t{0}});
    break;
  case OpCode::update_slice:
    for (DType index : {i32, i64}) {
      add({x({5}), indices({4}, {}, index), sample(dtype, {}, 12)}, Attrs{std::int64_t{0}});
      add({x({3, 17}), indices({16}, {}, index), sample(dtype, {3}, 13)}, Attrs{std::int64_t{1}});
      add({x({3, 2}), indices({0}, {}, index), sample(dtype, {2}, 14)}, Attrs{std::int64_t{0}});
      add({x({3, 0}), indices({2}, {}, index), x({0})}, Attrs{std::int64_t{0}});
    }
    break;
  default: break;
  }
}

void Calls::add_structural() {
  if (info_.op == OpCode::iota) {
    for (DType dtype : {i32, i64, f32, f64})
      for (const auto &[shape, axis] : {std::pair<Ints, std::int64_t>{{33}, 0},
                                        {{3, 5}, 1},
                                        {{3, 5}, 0},
                                        {{0, 2}, 1},
                                        {{1}, 0}})
        add({}, Attrs{dtype, shape, axis});
    return;
  }
  if (info_.op == OpCode::draw_uniform || info_.op == OpCode::draw_permutation) {
    const bool uniform = info_.op == OpCode::draw_uniform;
    constexpr std::int64_t large = std::numeric_limits<std::int64_t>::max();
    for (const Tensor &state :
         {tensor({std::int64_t{0}, std::int64_t{0}}), tensor({large, -large}),
          tensor({std::int64_t{3}, large, std::int64_t{5}})[slice({}, {}, 2)]})
      for (int to = 0; to < kNumDTypes; ++to)
        for (const Shape &shape : {Shape{}, Shape{0}, Shape{1}, Shape{33}, Shape{1000},
                                   Shape{3, 5, 7}, Shape{5, 1}, Shape{2, 0, 3}}) {
          const auto dtype = static_cast<DType>(to);
          if (uniform || (is_integer(dtype) && !shape.empty()))
            add({state, sample(f32, shape, 1)}, Attrs{dtype});
        }
    return;
  }
  if (info_.op == OpCode::constant) {
    for (int i = 0; i < kNumDTypes; ++i)
      for (const Shape &shape : {Shape{}, Shape{33}, Shape{0}, Shape{5, 7}})
        add({}, Attrs{constant_of(sample(static_cast<DType>(i), shape, 3))});
    return;
  }
  for (DType dtype : admitted(info_.operands[0].admits)) {
    if (info_.op == OpCode::matmul) add_matmuls(dtype);
    else if (info_.op == OpCode::argmax)
      for (const Shape &shape :
           {Shape{1}, Shape{17}, Shape{33}, Shape{1000}, Shape{5, 7}, Shape{3, 5, 7}, Shape{0, 3}})
        for (std::int64_t axis = 0; axis < shape.rank(); ++axis) {
          if (shape[static_cast<std::size_t>(axis)] == 0) continue;
          add({sample(dtype, shape, 21)}, Attrs{axis, axis % 2 == 1});
        }
    else add_movements(dtype);
  }
}

} // namespace

std::vector<Call> calls_of(const OpInfo &info) {
  Calls calls(info);
  switch (info.kind) {
  case OpKind::elementwise: calls.add_elementwise(); break;
  case OpKind::reduction: calls.add_reduction(); break;
  case OpKind::cumulative: calls.add_cumulative(); break;
  case OpKind::structural: calls.add_structural(); break;
  case OpKind::effect: break;
  }
  return std::move(calls.calls);
}

Tensor sample(DType dtype, const Shape &shape, int seed) {
  return visit_dtype(dtype, [&]<class T>() {
    const std::vector<T> special = special_values<T>();
    std::vector<T> values(static_cast<std::size_t>(count_of(shape)));
    std::uint64_t state = 0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(seed + 1);
    for (std::size_t i = 0; i < values.size(); ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const std::uint64_t bits = state >> 33;
      if (bits % 16 == 0) values[i] = special[bits / 16 % special.size()];
      else if constexpr (std::same_as<T, bool>) values[i] = bits >> 8 & 1;
      else if constexpr (std::floating_point<T>) values[i] = T(bits % 80001) / T(10000) - T(4);
      else values[i] = static_cast<T>(bits % 201) - 100;
    }
    return make(values, shape);
  });
}

ConstantRef constant_of(const Tensor &tensor) {
  const Tensor dense = tensor.contiguous();
  auto data = std::make_shared<ConstantData>();
  data->type = dense.type();
  data->bytes = dense.impl()->data;
  data->owner = std::make_shared<Tensor>(dense);
  return data;
}

testing::AssertionResult same_bits(const Tensor &expected, const Tensor &actual) {
  if (!(expected.type() == actual.type()))
    return testing::AssertionFailure()
           << "is " << to_string(actual.type()) << " instead of " << to_string(expected.type());
  return visit_dtype(expected.dtype(), [&]<class T>() -> testing::AssertionResult {
    const Tensor dense_expected = expected.contiguous(), dense_actual = actual.contiguous();
    const auto want = dense_expected.span<T>(), have = dense_actual.span<T>();
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (std::memcmp(&want[i], &have[i], sizeof(T)) == 0) continue;
      if (want[i] != want[i] && have[i] != have[i]) continue;
      std::ostringstream text;
      text << std::setprecision(std::numeric_limits<T>::max_digits10) << "element " << i << " of "
           << to_string(actual.type()) << " is " << have[i] << " instead of " << want[i];
      return testing::AssertionFailure() << text.str();
    }
    return testing::AssertionSuccess();
  });
}

} // namespace weft::test
