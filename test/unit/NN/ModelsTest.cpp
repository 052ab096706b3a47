// Models: paths, open sizes, seeds, copies, gradients by a model, models as arguments.
#include "../Testing.h"

#include <cmath>
#include <map>
#include <thread>

#include <weft/weft.h>

namespace weft {
namespace {

struct Block {
  nn::Dense inner, outer;
  explicit Block(std::int64_t width) : inner(2 * width, {.activation = relu}), outer(width) {}
  WEFT_FIELDS(Block, inner, outer)
  Tensor operator()(const Tensor &x) const { return x + outer(inner(x)); }
};

struct Net {
  std::vector<Block> blocks;
  std::map<std::string, Variable> scales;
  nn::Sequential head{relu, nn::Dropout(0.25), nn::Dense(3)};
  int depth_ = 2;

  Net() {
    for (int i = 0; i < depth_; ++i) blocks.emplace_back(4);
    scales.emplace("x", Variable(tensor(2.f)));
    scales.emplace("y", Variable(tensor(1.f), "fixed", /*trainable=*/false));
  }
  WEFT_FIELDS(Net, blocks, scales, head, depth_)

  Tensor operator()(const Tensor &x, const nn::CallOptions &options = {}) const {
    Tensor y = x;
    for (const Block &block : blocks) y = block(y);
    return head(y * scales.at("x") * scales.at("y"), options);
  }
};

const Tensor x = reshape(iota(f32, {20}), {5, 4}) / 20.;

std::vector<std::string> paths_of(const std::vector<nn::NamedVariable> &variables) {
  std::vector<std::string> paths;
  for (const nn::NamedVariable &entry : variables) paths.push_back(entry.path);
  return paths;
}

template <class Model>
std::vector<std::vector<float>> values_of(const Model &model) {
  std::vector<std::vector<float>> values;
  for (const Variable &variable : nn::variables(model))
    values.push_back(variable.value().astype(f32).template to_vector<float>());
  return values;
}

TEST(Models, PathsAreTheNamesOfTheFields) {
  const Net net;
  const std::vector<std::string> expected = {"blocks.0.inner.kernel",
                                             "blocks.0.inner.bias",
                                             "blocks.0.outer.kernel",
                                             "blocks.0.outer.bias",
                                             "blocks.1.inner.kernel",
                                             "blocks.1.inner.bias",
                                             "blocks.1.outer.kernel",
                                             "blocks.1.outer.bias",
                                             "scales.x",
                                             "scales.y",
                                             "head.1.generator",
                                             "head.2.kernel",
                                             "head.2.bias"};
  EXPECT_EQ(paths_of(nn::named_variables(net)), expected);
  EXPECT_EQ(nn::trainable_variables(net).size(), 11u);
  // What has a name of its own keeps it.
  EXPECT_EQ(net.scales.at("x").name(), "scales.x");
  EXPECT_EQ(net.scales.at("y").name(), "fixed");
  EXPECT_EQ(net.blocks[1].outer.kernel.name(), "blocks.1.outer.kernel");
}

TEST(Models, ASharedVariableHasItsFirstPath) {
  const nn::Dense layer(2, 2);
  const nn::Sequential model{layer, layer, nn::Sequential{layer}};
  EXPECT_EQ(paths_of(nn::named_variables(model)), (std::vector<std::string>{"0.kernel", "0.bias"}));
  EXPECT_EQ(nn::parameter_count(model), 6);
}

TEST(Models, OpenSizesFollowFromTheFirstCall) {
  const Net net;
  EXPECT_FALSE(net.blocks[0].inner.kernel.initialized());
  EXPECT_THROWS(net.blocks[0].inner.kernel.value(), StateError,
                "the variable '" + net.blocks[0].inner.kernel.name() +
                    "' has no shape and value yet: it gets them when its layer is first called, or "
                    "by initialize(shape)");
  EXPECT_EQ(net(x).shape(), (Shape{5, 3}));
  EXPECT_EQ(net.blocks[0].inner.kernel.shape(), (Shape{4, 8}));
  EXPECT_EQ(nn::parameter_count(net), 2 * (4 * 8 + 8 + 8 * 4 + 4) + 2 + 4 * 3 + 3);
}

TEST(Models, OpenSizesFollowInsideATrace) {
  const Net net;
  auto f = function([&](const Tensor &v) { return net(v); });
  const Tensor traced = f(x);
  EXPECT_EQ(net.head.get<nn::Dense>(2)->kernel.shape(), (Shape{4, 3}));
  EXPECT_EQ(traced.to_vector<float>(), net(x).to_vector<float>());
  EXPECT_EQ(f(concatenate({x, x})).shape(), (Shape{10, 3}));
}

TEST(Models, LayersAreNamedInErrors) {
  const Net net;
  static_cast<void>(net(x));
  static_cast<void>(nn::named_variables(net));
  EXPECT_THROWS(net(ones({5, 6})), ShapeError,
                "blocks.0.inner: the last axis of x is 6, but the layer was built for 4");
  auto f = function([&](const Tensor &v) { return net(v); });
  EXPECT_THROWS(f(ones({5, 6})), ShapeError,
                "blocks.0.inner: the last axis of x is 6, but the layer was built for 4");

  // A number alone says little of a layer.
  const nn::Sequential list{relu, nn::Sequential{nn::Dense(3)}};
  list(ones({5, 4}));
  static_cast<void>(nn::variables(list));
  EXPECT_THROWS(list(ones({5, 6})), ShapeError,
                "1.0 (Dense): the last axis of x is 6, but the layer was built for 4");
}

TEST(Models, OneSeedMakesTheSameModel) {
  const Net before, after, other;
  nn::seed(before, 7);
  static_cast<void>(before(x));
  static_cast<void>(other(x)); // draws from the process's generator meanwhile
  static_cast<void>(after(x));
  EXPECT_NE(values_of(before), values_of(after));
  nn::seed(after, 7);
  EXPECT_EQ(values_of(before), values_of(after));
  nn::seed(after, 8);
  EXPECT_NE(values_of(before), values_of(after));
  // Two layers of one shape do not start alike.
  EXPECT_NE(before.blocks[0].inner.kernel.value().to_vector<float>(),
            before.blocks[1].inner.kernel.value().to_vector<float>());
}

TEST(Models, TrainingReachesWhoAsks) {
  const Net net;
  const Tensor plain = net(x);
  EXPECT_EQ(plain.to_vector<float>(), net(x).to_vector<float>());
  EXPECT_NE(plain.to_vector<float>(), net(x, {.training = true}).to_vector<float>());
  // A nested Sequential hands it on.
  const nn::Sequential nested{nn::Sequential{nn::Dropout(0.5)}};
  EXPECT_EQ(sum(cast(nested(ones({1000}), {.training = true}) == 0, i32)).item<std::int32_t>() >
                300,
            true);
}

TEST(Models, ACopyHasTheSameVariablesAndACloneItsOwn) {
  const Net net;
  static_cast<void>(net(x));
  const Net copy = net, clone = nn::clone(net);
  EXPECT_EQ(nn::variables(copy), nn::variables(net));
  EXPECT_EQ(values_of(clone), values_of(net));
  net.head.get<nn::Dense>(2)->bias->assign(5);
  EXPECT_EQ(values_of(copy), values_of(net));
  EXPECT_NE(values_of(clone), values_of(net));
  EXPECT_EQ(paths_of(nn::named_variables(clone)), paths_of(nn::named_variables(net)));
  // Shared variables stay shared; one without value gets its own.
  const nn::Dense layer(2);
  const nn::Sequential twice{layer, layer}, cloned = nn::clone(twice);
  EXPECT_EQ(nn::variables(cloned).size(), 2u);
  static_cast<void>(cloned(ones({1, 2})));
  EXPECT_FALSE(layer.kernel.initialized());
}

TEST(Models, AssignGivesTheValuesOfAnotherModel) {
  const Net net;
  nn::seed(net, 1);
  static_cast<void>(net(x));
  const Net same = net, fresh; // `fresh` was never called: it gets shapes with the values
  nn::assign(fresh, net);
  EXPECT_EQ(values_of(fresh), values_of(net));
  const Net target = nn::clone(net);
  const auto step = function([&] {
    for (const Variable &variable : nn::trainable_variables(net)) variable.assign_add(1);
    nn::assign(target, net);
    for (const Variable &variable : nn::trainable_variables(net)) variable.assign_add(1);
  });
  const float scale = net.scales.at("x").value().item<float>();
  step();
  EXPECT_EQ(target.scales.at("x").value().item<float>(), scale + 1);
  EXPECT_EQ(net.scales.at("x").value().item<float>(), scale + 2);
  nn::assign(target, net);
  EXPECT_EQ(values_of(target), values_of(net));
  nn::assign(same, net); // the same variables
  EXPECT_EQ(values_of(target), values_of(net));
}

TEST(Models, AssignChangesNothingWhereModelsDiffer) {
  const auto dense = [](std::int64_t inputs, DType dtype = f32) {
    nn::Sequential model{nn::Dense(2), nn::Dense(1, {.dtype = dtype})};
    static_cast<void>(model.get<nn::Dense>(0)->operator()(ones({1, inputs})));
    if (dtype == f32) static_cast<void>(model(ones({1, inputs})));
    else static_cast<void>(model.get<nn::Dense>(1)->operator()(ones({1, 2}, dtype)));
    return model;
  };
  const nn::Sequential model = dense(3);
  const auto before = values_of(model);
  EXPECT_THROWS(nn::assign(model, dense(4)), ShapeError,
                "nn::assign: '0.kernel' is f32(3, 2) in one model and f32(4, 2) in the "
                "other");
  EXPECT_THROWS(nn::assign(model, dense(3, f64)), DTypeError,
                "nn::assign: '1.kernel' is f32(2, 1) in one model and f64(2, 1) in the "
                "other");
  EXPECT_THROWS(nn::assign(model, nn::Sequential{nn::Dense(2), nn::Dense(1)}), StateError,
                "nn::assign: '0.kernel' has no value yet in the model that gives them");
  EXPECT_THROWS(nn::assign(model, nn::Sequential{nn::Dense(2)}), ValueError,
                "nn::assign: one model has 4 variables, the other 2");
  EXPECT_THROWS(nn::assign(model, nn::Sequential{nn::LayerNorm(), nn::Dense(1)}), ValueError,
                "nn::assign: variable 0 is '0.kernel' in one model and '0.gamma' in the other");
  EXPECT_EQ(values_of(model), before);
}

struct Borrows {
  nn::Dense &layer;
  WEFT_FIELDS(Borrows, layer)
};
struct Keyed {
  std::map<std::string, nn::Dense> layers;
  WEFT_FIELDS(Keyed, layers)
};

TEST(Models, ACloneOfWhatIsHeldByReference) {
  nn::Dense layer(2, 2);
  const Variable before = layer.kernel;
  const Borrows model{layer};
  EXPECT_THROWS(
      nn::clone(model), ValueError,
      "clone: the copy of the model would change 'layer.kernel' of the original, which it "
      "holds by a reference or a pointer: models hold their parts themselves");
  EXPECT_EQ(layer.kernel, before);
}

TEST(Models, KeysArePartsOfPaths) {
  for (const std::string key : {"", "a.b"}) {
    const Keyed model{{{key, nn::Dense(2, 2)}}};
    EXPECT_THROWS(nn::named_variables(model), ValueError,
                  "the key '" + key +
                      "' of a map in a model must not be empty or have a dot, for it is part of a "
                      "path");
  }
  const Keyed model{{{"a", nn::Dense(2, 2)}}};
  EXPECT_EQ(paths_of(nn::named_variables(model)),
            (std::vector<std::string>{"layers.a.kernel", "layers.a.bias"}));
}

TEST(Models, PathsOfRecurrentLayers) {
  const nn::Sequential model{nn::LSTM(2), nn::Bidirectional<nn::GRUCell>(2, false)};
  const std::vector<std::string> paths = paths_of(nn::named_variables(model));
  EXPECT_EQ(paths[0], "0.cell.kernel");
  EXPECT_EQ(paths[2], "0.cell.bias");
  EXPECT_EQ(paths[4], "1.forward.cell.recurrent_kernel");
}

// Layers of one name are two lines, each with its own parameters; what a layer along time does
// inside is none.
TEST(Models, SummaryOfLayersWithOneName) {
  const nn::Sequential model{nn::LSTM(2, {.return_sequences = true}),
                             nn::Dense(3, {.name = "same"}), nn::Dense(4, {.name = "same"})};
  EXPECT_EQ(nn::summary(model, {5, 3, 1}),
            "Layer (kind)  Output shape  Parameters\n"
            "--------------------------------------\n"
            "0 (LSTM)      (5, 3, 2)             32\n"
            "same (Dense)  (5, 3, 3)              9\n"
            "same (Dense)  (5, 3, 4)             16\n"
            "--------------------------------------\n"
            "Parameters: 57 (228 B), trainable: 57, not trainable: 0\n");
}

// Layers keep the paths in the whole, by which they were called first.
TEST(Models, SummaryOfAPart) {
  struct Part {
    nn::Dense inner{3};
    Tensor operator()(const Tensor &x) const { return inner(x); }
    WEFT_FIELDS(Part, inner)
  };
  struct Whole {
    Part part;
    WEFT_FIELDS(Whole, part)
  } whole;
  static_cast<void>(nn::named_variables(whole));
  EXPECT_EQ(nn::summary(whole.part, {4, 2}),
            "Layer (kind)        Output shape  Parameters\n"
            "--------------------------------------------\n"
            "part.inner (Dense)  (4, 3)                 9\n"
            "--------------------------------------------\n"
            "Parameters: 9 (36 B), trainable: 9, not trainable: 0\n");
}

TEST(Models, GradientsByAModel) {
  const Net net;
  GradientTape tape({.persistent = true});
  const Tensor loss = sum(square(net(x)));
  const Gradients gradients = tape.gradient(loss, net);
  const std::vector<Variable> variables = nn::trainable_variables(net);
  const std::vector<Tensor> expected = tape.gradient(loss, variables);
  ASSERT_EQ(gradients.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(gradients[i].to_vector<float>(), expected[i].to_vector<float>());
    EXPECT_EQ(gradients.variables()[i].variable, variables[i]);
  }
  EXPECT_EQ(gradients["head.2.bias"].shape(), (Shape{3}));
  EXPECT_THROWS(gradients["head.bias"], ValueError,
                "Gradients: there is no trainable variable 'head.bias' with a value, but "
                "'blocks.0.inner.kernel', 'blocks.0.inner.bias', 'blocks.0.outer.kernel', "
                "'blocks.0.outer.bias', 'blocks.1.inner.kernel', 'blocks.1.inner.bias', "
                "'blocks.1.outer.kernel', 'blocks.1.outer.bias', 'scales.x', 'head.2.kernel', "
                "'head.2.bias'");
  EXPECT_THROWS(gradients[11], IndexError, "Gradients: there is no gradient 11 of 11");
}

TEST(Models, GradientsAreResultsOfTracedFunctions) {
  const Net net;
  const auto gradients = [&](const Tensor &v) {
    GradientTape tape;
    const Tensor loss = sum(square(net(v)));
    return tape.gradient(loss, net);
  };
  auto traced = function(gradients);
  const std::vector<Tensor> eager = gradients(x).tensors(), compiled = traced(x).tensors();
  ASSERT_EQ(eager.size(), compiled.size());
  for (std::size_t i = 0; i < eager.size(); ++i)
    EXPECT_EQ(eager[i].to_vector<float>(), compiled[i].to_vector<float>()) << i;
}

// They are those of the model that the call was given, which an optimizer knows.
TEST(Models, GradientsByAModelThatIsAnArgument) {
  const nn::Dense layer(4, 2);
  auto gradients = function([](const nn::Dense &model, const Tensor &v) {
    GradientTape tape;
    return tape.gradient(sum(model(v)), model);
  });
  const Gradients found = gradients(layer, x);
  EXPECT_EQ(found.variables()[0].variable, layer.kernel);
  const Tensor before = layer.bias->value();
  optimizers::SGD(layer, {.learning_rate = 1.}).apply_gradients(found);
  EXPECT_EQ(max(abs(before - 5 - *layer.bias)).item<float>(), 0);
}

TEST(Models, AMoveIsACopy) {
  nn::Dense layer(2);
  const nn::Dense other = std::move(layer);
  EXPECT_EQ(layer(ones({1, 3})).to_vector<float>(), other(ones({1, 3})).to_vector<float>());
  optimizers::Adam adam(layer);
  const optimizers::Adam moved = std::move(adam);
  EXPECT_EQ(adam.step().item<std::int64_t>(), moved.step().item<std::int64_t>());
}

// A trace takes models whose variables are alike, and knows them from others.
TEST(Models, AreArgumentsOfTracedFunctions) {
  auto f = function([](const Net &net, const Tensor &v) { return net(v); });
  const Net a, b;
  nn::seed(a, 1);
  nn::seed(b, 2);
  // Neither has values yet: each is traced with its own variables.
  const Tensor of_a = f(a, x), of_b = f(b, x);
  EXPECT_EQ(of_a.to_vector<float>(), a(x).to_vector<float>());
  EXPECT_EQ(of_b.to_vector<float>(), b(x).to_vector<float>());
  EXPECT_NE(of_a.to_vector<float>(), of_b.to_vector<float>());
  EXPECT_EQ(f.trace_count(), 2u);
  // From now on one trace serves both.
  EXPECT_EQ(f(a, x).to_vector<float>(), of_a.to_vector<float>());
  EXPECT_EQ(f(b, x).to_vector<float>(), of_b.to_vector<float>());
  EXPECT_EQ(f.trace_count(), 3u);
  // Another activation is another function.
  auto g = function([](const nn::Sequential &model, const Tensor &v) { return model(v); });
  const nn::Sequential with_relu{relu}, with_tanh{weft::tanh},
      with_lambda{[](const Tensor &v) { return v * 3; }};
  EXPECT_EQ(g(with_relu, x).to_vector<float>(), x.to_vector<float>());
  EXPECT_EQ(g(with_tanh, x).to_vector<float>(), weft::tanh(x).to_vector<float>());
  EXPECT_EQ(g(with_lambda, x).to_vector<float>(), (x * 3).to_vector<float>());
}

TEST(Models, TwoThreadsMakeTheirVariablesOnce) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    const nn::Sequential model{nn::Dense(16, {.activation = relu}), nn::Dense(4)};
    std::vector<float> results[2];
    {
      std::jthread a([&] { results[0] = model(x).to_vector<float>(); });
      std::jthread b([&] { results[1] = model(x).to_vector<float>(); });
    }
    ASSERT_EQ(results[0], results[1]);
  }
}

TEST(Models, VariablesOfAnotherShape) {
  const Variable variable = Variable::uninitialized(f32, nn::initializers::ones(), "v");
  EXPECT_FALSE(variable.initialized());
  EXPECT_EQ(variable.dtype(), f32);
  EXPECT_THROWS(
      variable.assign(1), StateError,
      "assign: the variable 'v' has no shape and value yet: it gets them when its layer is first "
      "called, or by initialize(shape)");
  variable.initialize({2, 3});
  variable.initialize({2, 3});
  EXPECT_THROWS(
      variable.initialize({3, 2}), ShapeError,
      "initialize: the variable 'v' is f32(2, 3) already, so it cannot be of shape (3, 2)");
  const Variable wrong = Variable::uninitialized(
      f32, [](const Shape &, DType, const auto &) { return zeros({7}); }, "w");
  EXPECT_THROWS(wrong.initialize({2}), ShapeError,
                "initialize: the variable 'w' is f32(2,), but its initializer gave f32(7,)");
  EXPECT_FALSE(wrong.initialized());
}

TEST(Initializers, MomentsAndRanges) {
  namespace init = nn::initializers;
  const Shape shape = {3, 3, 40, 60}; // fans 360 and 540
  struct Case {
    VariableInitializer initializer;
    double variance, bound;
  };
  const double cut = 2 / 0.87962566103423978;
  for (const auto &[initializer, variance, bound] :
       {Case{init::glorot_uniform(), 2. / 900, std::sqrt(6. / 900)},
        Case{init::glorot_normal(), 2. / 900, cut * std::sqrt(2. / 900)},
        Case{init::he_uniform(), 2. / 360, std::sqrt(6. / 360)},
        Case{init::he_normal(), 2. / 360, cut * std::sqrt(2. / 360)},
        Case{init::lecun_uniform(), 1. / 360, std::sqrt(3. / 360)},
        Case{init::lecun_normal(), 1. / 360, cut * std::sqrt(1. / 360)}}) {
    const Tensor drawn = initializer(shape, f64, 3);
    EXPECT_NEAR(mean(drawn).item<double>(), 0, 0.02 * bound);
    EXPECT_NEAR(mean(square(drawn)).item<double>() / variance, 1, 0.03);
    EXPECT_LE(max(abs(drawn)).item<double>(), bound * (1 + 1e-12));
    EXPECT_GT(max(abs(drawn)).item<double>(), bound * 0.97);
  }
}

TEST(Initializers, OrthogonalRowsOrColumns) {
  for (const Shape &shape : {Shape{20, 8}, Shape{8, 20}, Shape{2, 3, 5}, Shape{6, 6}}) {
    const Tensor q = nn::initializers::orthogonal(2)(shape, f64, 1);
    const std::int64_t columns = shape.back(), rows = q.size() / columns;
    const Tensor matrix = reshape(q, {rows, columns}), turned = transpose(matrix, {1, 0});
    const Tensor product = rows < columns ? matmul(matrix, turned) : matmul(turned, matrix);
    const Tensor identity = cast(
        equal(reshape(iota(i32, {product.size(0)}), {-1, 1}), iota(i32, {product.size(0)})), f64);
    EXPECT_LT(max(abs(product - identity * 4)).item<double>(), 1e-12) << to_string(shape);
  }
  EXPECT_THROWS(nn::initializers::orthogonal()({3}, f32, 1), ShapeError,
                "orthogonal: a variable needs two axes or more, but the shape is (3,)");
  EXPECT_THROWS(nn::initializers::normal(-1), ValueError,
                "normal: stddev is -1, but must be finite and not negative");
  EXPECT_THROWS(nn::initializers::uniform(1, 1), ValueError,
                "uniform: low is 1, but must be below high, 1");
}

} // namespace
} // namespace weft
