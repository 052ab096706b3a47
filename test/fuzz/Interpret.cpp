// What the steps of a program are in Weft's C++ API.
#include "Interpret.h"

namespace weft::fuzz {

Tensor Constants::keep(const Tensor &value) {
  if (mode_ == Mode::record) kept_.push_back(value);
  if (mode_ != Mode::replay) return value;
  if (at_ == kept_.size()) throw InternalError("fuzz: a run took another way than the first");
  return kept_[at_++];
}

World::World(const Program &program) : generator(program.seed) {
  const auto start = [&](Type type, std::uint64_t seed) {
    const Shape shape = type == Type::vector ? Shape{program.n} : Shape{};
    return random::uniform(
        shape, {.seed = program.seed * 8 + seed, .low = 0.3, .high = 1.2, .dtype = f64});
  };
  for (int i = 0; i < variable_count; ++i) {
    initial_.push_back(start(type_of_variable(i), static_cast<std::uint64_t>(i)));
    variables.emplace_back(initial_.back(), name_of_variable(i), i < kTrainable);
  }
  initial_.push_back(generator.state().value());
}

void World::reset() const {
  for (std::size_t i = 0; i < variables.size(); ++i) variables[i].assign(initial_[i]);
  generator.state().assign(initial_.back());
}

std::vector<Tensor> World::values() const {
  std::vector<Tensor> values;
  for (const Variable &variable : variables) values.push_back(variable.value());
  values.push_back(generator.state().value());
  return values;
}

Interpreter::Interpreter(const Program &program, const World &world, Constants &constants,
                         bool traced)
    : program_(program), world_(world), constants_(constants),
      traced_(traced || program.compiled_calls), values_(program.types.size()),
      functions_(program.functions.size()) {}

Results Interpreter::run(const Inputs &inputs) {
  const Values starts = {
      {inputs.x, {}},
      {inputs.w, {}},
      {inputs.s, {}},
      {inputs.n, {}},
      {inputs.k, {}},
      {inputs.x, {}},
      {inputs.w, {}},
      {{}, TensorArray::unstack(inputs.x[{newaxis, all}])},
      {inputs.k > inputs.n, {}},
  };
  Results results;
  double weight = 1;
  for (const Value &value : block(program_.main, starts)) {
    results.values.push_back(value.tensor);
    const Tensor part = sum(sin(value.tensor) * weight);
    results.loss = results.loss.defined() ? results.loss + part : part;
    weight *= 0.7;
  }
  return results;
}

Interpreter::Values Interpreter::block(const Block &block, const Values &arguments) {
  for (std::size_t i = 0; i < block.parameters.size(); ++i)
    values_[static_cast<std::size_t>(block.parameters[i])] = arguments[i];
  for (const Statement &one : block.statements) statement(one);
  Values yields;
  for (int id : block.yields) yields.push_back(values_[static_cast<std::size_t>(id)]);
  return yields;
}

void Interpreter::statement(const Statement &statement) {
  const auto x = [&] { return operand(statement, 0); };
  const auto y = [&] { return operand(statement, 1); };
  Values given;
  switch (statement.kind) {
  case Kind::map: given = {{map(statement, x()), {}}}; break;
  case Kind::combine: given = {{combine(statement, x(), y()), {}}}; break;
  case Kind::reduce: given = {{reduce(statement, x()), {}}}; break;
  case Kind::reshape: given = {{reshaped(statement), {}}}; break;
  case Kind::product: given = {{product(statement), {}}}; break;
  case Kind::index: given = {{indexed(statement), {}}}; break;
  case Kind::whole: given = {{constants_.keep(whole(statement)), {}}}; break;
  case Kind::compare: {
    const bool whole = x().dtype() == i64;
    given = {{compare(x(), statement.op == 0 ? y()
                           : whole ? weft::tensor(static_cast<std::int64_t>(statement.number))
                                   : weft::tensor(statement.number)),
              {}}};
    break;
  }
  case Kind::array: given = {array(statement)}; break;
  case Kind::random:
    given = {{constants_.keep(constants_.replays()
                                  ? Tensor()
                                  : world_.generator.uniform(random::like(x()),
                                                             {.low = -1, .high = 1, .dtype = f64})),
              {}}};
    break;
  case Kind::read: given = {{read(statement.op), {}}}; break;
  case Kind::assign:
  case Kind::add_to:
  case Kind::check:
  case Kind::print: effect(statement); break;
  case Kind::branch: given = branch(statement); break;
  case Kind::choose: given = choose(statement); break;
  case Kind::count: given = count(statement); break;
  case Kind::loop: given = loop(statement); break;
  case Kind::scan: given = scanned(statement); break;
  case Kind::call: given = call(statement); break;
  case Kind::slope: given = {{slope(statement), {}}}; break;
  }
  for (std::size_t i = 0; i < statement.results.size(); ++i)
    values_[static_cast<std::size_t>(statement.results[i])] = given[i];
}

// All keep values of about [-1.5, 1.5] there, and have small derivatives of all orders.
Tensor Interpreter::map(const Statement &statement, const Tensor &x) {
  switch (statement.op) {
  case 0: return sin(x);
  case 1: return tanh(x);
  case 2: return cos(x);
  case 3: return logistic(x);
  case 4: return 0.5 * square(x);
  case 5: return 0.6 * sqrt(square(x) + 0.5);
  case 6: return log1p(square(x)) * 0.7;
  case 7: return exp(-square(x));
  case 8: return x * 0.7 + statement.number;
  case 9: return -x;
  case 10: return x / (1 + square(x));
  case 11: return expm1(tanh(x)) * 0.5;
  case 12: return 0.3 * power(square(x) + 0.5, 1.5);
  case 13: return rsqrt(square(x) + 1);
  case 14: return select(compare(x, weft::tensor(statement.number)), sin(x), x * 0.5);
  case 15: return constants_.keep(stop_gradient(x));
  case 16: return recompute([](const Tensor &t) { return sin(t) * t; })(x);
  default:
    return custom_gradient([](const Tensor &t) {
      return Pullback{sin(t), [t](const Tensor &dy) { return dy * cos(t); }};
    })(x);
  }
}

Tensor Interpreter::combine(const Statement &statement, const Tensor &x, const Tensor &y) {
  switch (statement.op) {
  case 0: return (x + y) * 0.5;
  case 1: return x * y * 0.5;
  case 2: return sin(x * y);
  case 3: return x / (1 + square(y));
  case 4: return (x - y) * 0.6;
  case 5: return tanh(x * y + 0.2);
  default: return select(compare(x, y), x * 0.7, x * y * 0.5);
  }
}

Tensor Interpreter::reduce(const Statement &statement, const Tensor &x) {
  switch (statement.op) {
  case 0: return sum(x) * 0.3;
  case 1: return tanh(prod(x));
  case 2: return log(1 + sum(exp(x))) * 0.4;
  case 3: return sum(x, {.axes = Ints{0}}) * 0.3;
  case 4: return sum(x, {.axes = Ints{1}}) * 0.3;
  case 5: return mean(x);
  default: return mean(x, {.axes = Ints{1}});
  }
}

/// The first `count` slices of x, and zeros where it has no more.
static Tensor resized(const Tensor &x, const Tensor &count) {
  const auto rank = static_cast<std::size_t>(x.rank());
  const Tensor size = size_of(x), taken = minimum(size, count);
  Sizes limits(Ints(rank, -1)), behind(Ints(rank, 0));
  limits.set(0, taken);
  behind.set(0, count - taken);
  const Tensor first = slice(x, Ints(rank, 0), limits, Ints(rank, 1));
  return pad(first, cast(0.0, x.dtype()), Ints(rank, 0), behind, Ints(rank, 0));
}

Tensor Interpreter::reshaped(const Statement &statement) {
  const Tensor &x = operand(statement, 0);
  switch (statement.op) {
  case 0: return transpose(x, {1, 0});
  case 1: return reverse(x);
  case 2: return cumsum(x) * 0.4;
  case 3: return tanh(cumprod(x));
  case 4: return x;
  case 5: {
    const Tensor joined = concatenate({x, operand(statement, 1)});
    return resized(joined, minimum(size_of(joined), std::int64_t{6}));
  }
  default: return pad(x, 0.5, {1}, {0}, {0});
  }
}

Tensor Interpreter::product(const Statement &statement) {
  const Tensor &x = operand(statement, 0), &y = operand(statement, 1);
  const Tensor both = statement.op == 1 ? matmul(x, y, {.transpose_lhs = true}) : matmul(x, y);
  return statement.number < 0.5 ? both * 0.3 : tanh(both);
}

/// n, as a count for the program.
Tensor Interpreter::size() const {
  return program_.open ? size_of(tensor(start_x)) : weft::tensor(program_.n);
}

Tensor Interpreter::indexed(const Statement &statement) {
  const Tensor &x = operand(statement, 0), &i = operand(statement, 1);
  const Tensor inside = i % size();
  switch (statement.op) {
  case 0: return gather(x, inside);
  case 1: return update_slice(x, inside, operand(statement, 2));
  case 2: return resized(x, minimum(i, std::int64_t{5}));
  case 3: return resized(x, size());
  default: {
    Sizes shape{minimum(i, std::int64_t{4})};
    const Sizes slice = detail::sizes_of(x);
    for (std::size_t axis = 0, value = 0; axis < slice.size(); ++axis)
      if (slice.numbers()[axis] != detail::kDynamic) shape.push_back(slice.numbers()[axis]);
      else shape.push_back(slice.values()[value++]);
    return broadcast(x, shape);
  }
  }
}

// All integers are of [0, 8].
Tensor Interpreter::whole(const Statement &statement) {
  const Tensor &x = operand(statement, 0), &y = operand(statement, 1);
  switch (statement.op) {
  case 0: return weft::tensor(static_cast<std::int64_t>(statement.number));
  case 1: return (x + y) % std::int64_t{5};
  case 2: return maximum(x - y, std::int64_t{0});
  case 3: {
    const Tensor scaled = x * 2 + 3;
    if (constants_.mode() == Constants::Mode::record) note_margin(scaled - floor(scaled + 0.5));
    return minimum(maximum(scaled.astype(i64), std::int64_t{0}), std::int64_t{7});
  }
  default: return minimum(size_of(x), std::int64_t{7});
  }
}

void Interpreter::note_margin(const Tensor &distance) {
  // What is equal stays equal: it is the same value.
  for (double one : distance.to_vector<double>())
    if (one != 0) constants_.margin = std::min(constants_.margin, std::abs(one));
}

Tensor Interpreter::compare(const Tensor &x, const Tensor &y) {
  const bool records = constants_.mode() == Constants::Mode::record;
  if (records && x.dtype() == f64) note_margin(x - y);
  return constants_.keep(x > y);
}

Value Interpreter::array(const Statement &statement) {
  const auto array = [&] {
    return *values_[static_cast<std::size_t>(statement.operands[0])].array;
  };
  const auto inside = [&] { return operand(statement, 1) % array().size(); };
  switch (statement.op) {
  case 0: return {{}, array().append(operand(statement, 1))};
  case 1: return {{}, array().write(inside(), operand(statement, 2))};
  case 2: return {array().read(inside()), {}};
  case 3: return {array().stack(), {}};
  case 4: return {array().concat(), {}};
  default: return {{}, TensorArray::unstack(operand(statement, 0))};
  }
}

Tensor Interpreter::read(int variable) {
  const auto v = static_cast<std::size_t>(variable);
  if (!constants_.replays()) return constants_.keep(world_.variables[v].value());
  const Tensor kept = constants_.keep({});
  return constants_.shifts[v].defined() ? kept + constants_.shifts[v] : kept;
}

void Interpreter::effect(const Statement &statement) {
  if (constants_.replays()) return;
  const Tensor &x = operand(statement, 0);
  if (statement.kind == Kind::print) return print("at", x);
  if (statement.kind == Kind::check) return check(x < 1e6, "the value is tame, not {}", x);
  const Variable &variable = world_.variables[static_cast<std::size_t>(statement.op)];
  if (statement.kind == Kind::assign) variable.assign(x);
  else variable.assign_add(x * 0.1);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

Interpreter::Values Interpreter::rest(const Statement &statement, std::size_t from) const {
  Values values;
  for (std::size_t i = from; i < statement.operands.size(); ++i)
    values.push_back(values_[static_cast<std::size_t>(statement.operands[i])]);
  return values;
}

State Interpreter::state_of(const Values &values) const {
  State state;
  for (const Value &value : values) {
    if (value.array) std::get<1>(state).push_back(*value.array);
    else std::get<0>(state).push_back(value.tensor);
  }
  return state;
}

Interpreter::Values Interpreter::values_of(const State &state, std::span<const int> like) const {
  Values values;
  std::size_t tensors = 0, arrays = 0;
  for (int id : like) {
    if (program_.types[static_cast<std::size_t>(id)] == Type::array)
      values.push_back({{}, std::get<1>(state)[arrays++]});
    else values.push_back({std::get<0>(state)[tensors++], {}});
  }
  return values;
}

Interpreter::Values Interpreter::branch(const Statement &statement) {
  const auto side = [&](std::size_t i) {
    return [this, &statement, i] { return state_of(block(statement.blocks[i], {})); };
  };
  const Tensor &predicate = operand(statement, 0);
  if (!statement.results.empty())
    return values_of(cond(predicate, side(0), side(1)), statement.results);
  if_(predicate, side(0), side(1));
  return {};
}

Interpreter::Values Interpreter::choose(const Statement &statement) {
  const auto side = [&](std::size_t i) {
    return [this, &statement, i] { return state_of(block(statement.blocks[i], {})); };
  };
  const Tensor &index = operand(statement, 0);
  return values_of(statement.blocks.size() == 2 ? switch_case(index, side(0), side(1))
                                                : switch_case(index, side(0), side(1), side(2)),
                   statement.results);
}

Interpreter::Values Interpreter::count(const Statement &statement) {
  const Block &body = statement.blocks[0];
  const auto fixed = static_cast<std::int64_t>(statement.number);
  const Iterations iterations =
      statement.op == 0   ? Iterations(fixed)
      : statement.op == 1 ? Iterations(this->iterations(operand(statement, 0)))
      : statement.op == 2 ? Iterations(2, 2 + 2 * fixed, 2)
                          : Iterations(this->iterations(operand(statement, 0)), 0, -1);
  const auto iteration = [&](const Tensor &number, const State &state) {
    Values arguments = values_of(state, std::span(body.parameters).subspan(1));
    arguments.insert(arguments.begin(), Value{number.astype(i64), {}});
    return std::tuple(state_of(block(body, arguments)));
  };
  return values_of(for_loop(iterations, iteration, state_of(rest(statement, 1))),
                   statement.results);
}

Interpreter::Values Interpreter::loop(const Statement &statement) {
  const Block &condition = statement.blocks[0], &body = statement.blocks[1];
  const Tensor limit = statement.op == 0 ? weft::tensor(static_cast<std::int64_t>(statement.number))
                                         : iterations(operand(statement, 0));
  const auto goes_on = [&](const Tensor &number, const State &state) {
    const Values found = block(condition, values_of(state, condition.parameters));
    return number < limit & found[0].tensor;
  };
  const auto iteration = [&](const Tensor &number, const State &state) {
    Values arguments = values_of(state, std::span(body.parameters).subspan(1));
    arguments.insert(arguments.begin(), Value{number, {}});
    return std::tuple(number + 1, state_of(block(body, arguments)));
  };
  const auto [number, state] =
      while_loop(goes_on, iteration, weft::tensor(std::int64_t{0}), state_of(rest(statement, 1)));
  return values_of(state, statement.results);
}

Interpreter::Values Interpreter::scanned(const Statement &statement) {
  const Block &body = statement.blocks[0];
  const auto iteration = [&](const State &carry, const Tensor &slice) {
    Values arguments = values_of(carry, std::span(body.parameters).subspan(1));
    arguments.insert(arguments.begin(), Value{slice, {}});
    Values yields = block(body, arguments);
    const Tensor y = yields.back().tensor;
    yields.pop_back();
    return std::pair(state_of(yields), y);
  };
  const auto [carry, ys] = scan(iteration, state_of(rest(statement, 1)), operand(statement, 0),
                                {.reverse = statement.number > 0.5});
  const std::span<const int> results = statement.results;
  Values values = values_of(carry, results.first(results.size() - 1));
  values.push_back({ys, {}});
  return values;
}

Interpreter::Values Interpreter::call(const Statement &statement) {
  const auto number = static_cast<std::size_t>(statement.op);
  const Block &callee = program_.functions[number];
  if (!traced_ || constants_.mode() != Constants::Mode::off)
    return block(callee, rest(statement, 0));
  auto &compiled = functions_[number];
  if (!compiled) {
    std::function<State(const State &)> body = [this, &callee](const State &arguments) {
      return state_of(block(callee, values_of(arguments, callee.parameters)));
    };
    compiled.emplace(function(std::move(body), {.name = "callee" + std::to_string(number)}));
  }
  return values_of((*compiled)(state_of(rest(statement, 0))), statement.results);
}

Tensor Interpreter::slope(const Statement &statement) {
  const auto inner = [&](const Tensor &z) {
    return block(statement.blocks[0], {Value{z, {}}})[0].tensor;
  };
  return tanh(grad(inner)(operand(statement, 0)));
}

} // namespace weft::fuzz
