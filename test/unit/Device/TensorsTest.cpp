// Tensors on GPUs: moving, views, reading, printing, variables, files.
#include <dlfcn.h>

#include <sstream>

#include "Emulator/Driver/Control.h"
#include "OnGpu.h"
#include <weft/weft.h>

namespace weft::device {
namespace {

struct Model {
  nn::Dense dense{3, {.activation = relu}};
  WEFT_FIELDS(Model, dense)
};

TEST(Tensors, MoveThereAndBack) {
  on_gpu("devices=2,stress", [] {
    const Tensor host = reshape(arange(24, DType::f32), {2, 3, 4});
    const Tensor there = host.to("gpu:0");
    EXPECT_EQ(there.device(), "gpu:0");
    EXPECT_TRUE(there.is_contiguous());
    EXPECT_EQ(there.to("gpu:0").impl(), there.impl());
    EXPECT_EQ(there.to("cpu").to_vector<float>(), host.to_vector<float>());
    EXPECT_EQ(there.to("gpu:1").to("gpu:0").to_vector<float>(), host.to_vector<float>());
    EXPECT_EQ(there.to_vector<std::int64_t>(), host.to_vector<std::int64_t>());
    EXPECT_EQ(zeros({0, 3}).to("gpu:0").to("cpu").shape(), (Shape{0, 3}));
    EXPECT_EQ(tensor(true).to("gpu:0").item<bool>(), true);
    EXPECT_EQ(gpu(1).memory().current, 0U);
  });
}

TEST(Tensors, ViewsAreOfTheDevice) {
  on_gpu("", [] {
    const Tensor host = reshape(arange(24, DType::i32), {2, 3, 4});
    const Tensor there = host.to("gpu:0");
    const auto same = [&](const Tensor &a, const Tensor &b) {
      EXPECT_EQ(a.device(), "gpu:0");
      EXPECT_EQ(a.shape(), b.shape());
      EXPECT_EQ(a.is_contiguous(), b.is_contiguous());
      EXPECT_EQ(a.to_vector<int>(), b.to_vector<int>());
      EXPECT_EQ(a.contiguous().to_vector<int>(), b.to_vector<int>());
    };
    same(transpose(there, {2, 0, 1}), transpose(host, {2, 0, 1}));
    same(there[{1, all, slice({}, {}, -2)}], host[{1, all, slice({}, {}, -2)}]);
    same(broadcast(there[1], {2, 3, 4}), broadcast(host[1], {2, 3, 4}));
    same(reshape(there, {6, 4})[5], reshape(host, {6, 4})[5]);
    EXPECT_EQ((there[{1, 2, 3}].item<int>()), 23);
    EXPECT_EQ(transpose(there, {2, 0, 1}).to("cpu").to_vector<int>(),
              transpose(host, {2, 0, 1}).to_vector<int>());
  });
}

TEST(Tensors, AreReadByCopiesOrNotAtAll) {
  on_gpu("", [] {
    const Tensor there = tensor({1.5F, 2.5F}).to("gpu:0");
    EXPECT_EQ(to_string(there), "tensor([1.5, 2.5], shape=(2,), dtype=f32)");
    std::ostringstream out;
    out << there;
    EXPECT_EQ(out.str(), to_string(there));
    EXPECT_EQ(said([&] { static_cast<void>(there.span<float>()); }),
              "span: the tensor is on gpu:0, whose memory the host cannot read: take .to(\"cpu\") "
              "first");
    testing::internal::CaptureStdout();
    print("{}", there);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), to_string(there) + "\n");
    check(all(there > 0), "{}", there);
  });
}

TEST(Tensors, OpsRunWhereTheirOperandsAre) {
  on_gpu("devices=2", [] {
    const Tensor a = tensor({{1.F, 2.F}, {3.F, 4.F}}), there = a.to("gpu:0");
    const auto same = [](const Tensor &x, const Tensor &y) {
      EXPECT_EQ(x.device(), "gpu:0");
      EXPECT_EQ(x.dtype(), y.dtype());
      EXPECT_EQ(x.to_vector<float>(), y.to_vector<float>());
    };
    same(there + 1, a + 1);
    same(2 * there, 2 * a);
    same(there * tensor(2.F), a * 2); // scalars move by themselves
    same(there + broadcast(tensor(1.F), {2, 2}), a + 1);
    same(matmul(there, there), matmul(a, a));
    same(sum(there, {.axes = {0}}), sum(a, {.axes = {0}}));
    same(logsumexp(there), logsumexp(a));
    same(cast(there, DType::f16), cast(a, DType::f16));
    same(sort(there, {.axis = 0}), sort(a, {.axis = 0}));
    same(zeros_like(there), zeros_like(a));
    EXPECT_EQ(said([&] { matmul(there, a); }),
              "matmul: lhs is on gpu:0 and rhs on cpu:0: move one with .to()");
    EXPECT_EQ(said([&] { add(there.to("gpu:1"), there); }),
              "add: lhs is on gpu:1 and rhs on gpu:0: move one with .to()");
    EXPECT_EQ(said<ShapeError>([&] { matmul(there, tensor({1.F}).to("gpu:0")); }),
              said<ShapeError>([&] { matmul(a, tensor({1.F})); }));
  });
}

TEST(Tensors, WorkOfTwoDevicesIsApart) {
  on_gpu("devices=2,stress", [] {
    const Tensor a = tensor({1.F, 2.F}).to("gpu:0"), b = tensor({3.F, 4.F}).to("gpu:1");
    const Tensor c = a * 2, d = b * 2; // nobody waits in between
    EXPECT_EQ(c.to_vector<float>(), (std::vector<float>{2, 4}));
    EXPECT_EQ(d.to_vector<float>(), (std::vector<float>{6, 8}));
  });
}

TEST(Tensors, FunctionsOfTheirOwnTensorsPutThemBesideTheirOperands) {
  on_gpu("", [] {
    const Tensor x = tensor({{1.F, -2.F, 3.F}, {4.F, 5.F, -6.F}}), there = x.to("gpu:0");
    const auto same = [](const Tensor &given, const Tensor &wanted) {
      EXPECT_EQ(given.device(), "gpu:0");
      EXPECT_EQ(given.to_vector<float>(), wanted.to_vector<float>());
    };
    same(there.at({all, slice({}, {}, 2)}).set(5), x.at({all, slice({}, {}, 2)}).set(5));
    same(there.at({ellipsis}).set(3), full({2, 3}, 3));
    const Tensor labels = tensor({2, 1});
    same(losses::sparse_categorical_cross_entropy(labels.to("gpu:0"), there, {.from_logits = true}),
         losses::sparse_categorical_cross_entropy(labels, x, {.from_logits = true}));
    // And in a scope beside those of the host.
    const DeviceScope scope("gpu:0");
    EXPECT_EQ(x.at({0}).add(1).device(), Device());
  });
}

/// Kernels that the emulator has run.
std::uint64_t launches() {
  void *library = dlopen(WEFT_GPU_EMULATOR_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
  const auto counters =
      reinterpret_cast<decltype(&weft_emulator_counters)>(dlsym(library, "weft_emulator_counters"));
  weft_emulator_counters_t all{};
  counters(nullptr, &all);
  return all.launches;
}

TEST(Tensors, OpsAreKernels) {
  on_gpu("", [] {
    const Tensor a = random::normal({37, 5}, {.seed = 1}), there = a.to("gpu:0");
    const auto runs = [&](auto &&f) {
      const Tensor expected = f(a);
      const std::uint64_t before = launches();
      for (int i = 0; i < 2; ++i) {
        const Tensor y = f(there);
        EXPECT_EQ(y.shape(), expected.shape());
        EXPECT_EQ(y.to_vector<float>(), expected.to_vector<float>());
      }
      EXPECT_GT(launches(), before + 1);
    };
    runs([](const Tensor &x) { return x + x; });
    runs([](const Tensor &x) { return exp(x) * 2; });
    runs([](const Tensor &x) { return x + transpose(reshape(x, {5, 37}), {1, 0}); });
    runs([](const Tensor &x) { return max(x, {.axes = {1}}); });
    runs([](const Tensor &x) { return concatenate({x, x * 2}, 1); });
    runs([](const Tensor &x) { return select(x > 0, x, 0); });
    EXPECT_EQ(gpu().memory().current, 768U); // `there` alone
  });
}

TEST(Tensors, ViewsAreCopiedOnTheDevice) {
  on_gpu("", [] {
    const Tensor a = reshape(arange(2 * 3 * 8 * 5, DType::i16), {2, 3, 8, 5}),
                 there = a.to("gpu:0");
    const auto copied = [&](auto &&view) {
      const Tensor expected = view(a).contiguous();
      const std::uint64_t before = launches();
      const Tensor copy = view(there).contiguous();
      EXPECT_GT(launches(), before);
      EXPECT_TRUE(copy.is_contiguous());
      EXPECT_EQ(copy.to_vector<int>(), expected.to_vector<int>());
    };
    copied([](const Tensor &x) { return transpose(x, {2, 0, 3, 1}); });
    copied([](const Tensor &x) { return x[{1, slice(0, 2), slice(1, 8, 3), slice({}, {}, -2)}]; });
    copied([](const Tensor &x) { return broadcast(x[{0, 0, all, slice(0, 1)}], {4, 8, 3}); });
    copied([](const Tensor &x) { return x[{slice({}, {}, -1), ellipsis, slice(3, 5)}]; });
  });
}

TEST(Tensors, ScopesSayWhereNewOnesGo) {
  on_gpu("", [] {
    const DeviceScope scope("gpu:0");
    for (const Tensor &made :
         {zeros({2}), ones({2, 2}), full({2}, 3, DType::i32), arange(3), tensor({1, 2}),
          tensor({{1.F}, {2.F}}), tensor(1.F), eye(2), linspace(0, 1, 3), iota(DType::i32, {2, 2}),
          random::normal({3}), random::uniform({3})})
      EXPECT_EQ(made.device(), "gpu:0") << made;
    const Variable v(zeros({3}));
    EXPECT_EQ(v.value().device(), "gpu:0");
  });
}

TEST(Tensors, Variables) {
  on_gpu("", [] {
    Variable v(tensor({1.F, 2.F}).to("gpu:0"));
    const Tensor before = v.value();
    v.assign(tensor({3.F, 4.F})); // stays where it is
    EXPECT_EQ(v.value().device(), "gpu:0");
    v.assign_add(tensor({1.F, 1.F}).to("gpu:0"));
    EXPECT_EQ(v.value().to_vector<float>(), (std::vector<float>{4, 5}));
    EXPECT_EQ(before.to_vector<float>(), (std::vector<float>{1, 2}));
    GradientTape tape;
    const Tensor loss = sum(v * v);
    const Tensor gradient = tape.gradient(loss, v);
    EXPECT_EQ(gradient.device(), "gpu:0");
    EXPECT_EQ(gradient.to_vector<float>(), (std::vector<float>{8, 10}));
  });
}

TEST(Tensors, GradientsAreWhereTheirSourcesAre) {
  on_gpu("", [] {
    const Tensor x = tensor({1.F, 2.F}).to("gpu:0"), other = tensor({3.F}).to("gpu:0");
    GradientTape tape({.persistent = true});
    tape.watch(x);
    tape.watch(other);
    const Tensor total = sum(x), part = sum(cast(x, DType::f64));
    EXPECT_EQ(tape.gradient(total, x).device(), "gpu:0");
    EXPECT_EQ(tape.gradient(part, x).device(), "gpu:0");
    const auto nothing =
        tape.gradient(total, std::vector<Tensor>{other}, {.unconnected = Unconnected::zero});
    EXPECT_EQ(nothing[0].device(), "gpu:0");
    const IndexedSlices slices{x, tensor({2, 0}).to("gpu:0"), {3}};
    EXPECT_EQ(slices.dense().to_vector<float>(), (std::vector<float>{2, 0, 1}));
  });
}

TEST(Tensors, TransformsAndErrorsAreThoseOfTheProcessor) {
  on_gpu("", [] {
    const Tensor x = random::normal({8}, {.seed = 1}), there = x.to("gpu:0");
    EXPECT_EQ(real(fft::fft(there)).to_vector<float>(), real(fft::fft(x)).to_vector<float>());
    EXPECT_EQ(fft::rfft(there).device(), "gpu:0");
    const auto taken = [](const Tensor &of, const Tensor &indices) {
      return said<IndexError>([&] { take(of, indices); });
    };
    EXPECT_EQ(taken(there, tensor({9}).to("gpu:0")), taken(x, tensor({9})));
    EXPECT_EQ(said<DTypeError>([&] { check(there, ""); }), said<DTypeError>([&] { check(x, ""); }));
  });
}

TEST(Tensors, GeneratorsStayOnTheHost) {
  on_gpu("", [] {
    const auto drawn = [] {
      const random::Generator generator(5);
      const Tensor key = generator.key();
      return std::tuple(generator.normal({3}), random::uniform({3}, {.key = key}),
                        generator.state().value(), random::normal({2}));
    };
    const auto here = drawn();
    const DeviceScope scope("gpu:0");
    const auto there = drawn();
    EXPECT_EQ(std::get<0>(there).device(), "gpu:0");
    EXPECT_EQ(std::get<0>(there).to_vector<float>(), std::get<0>(here).to_vector<float>());
    EXPECT_EQ(std::get<1>(there).to_vector<float>(), std::get<1>(here).to_vector<float>());
    EXPECT_EQ(std::get<2>(there).device(), "cpu:0");
    EXPECT_EQ(std::get<3>(there).device(), "gpu:0");
  });
}

TEST(Tensors, OthersThanNewOnesLeaveTheScope) {
  on_gpu("", [] {
    const Tensor x = tensor({{1.F, 2.F, 4.F}, {2.F, 1.F, 1.F}});
    const std::vector<float> expected = cov(x).to_vector<float>();
    const DeviceScope scope("gpu:0");
    EXPECT_EQ(cov(x).device(), "cpu:0");
    EXPECT_EQ(cov(x).to_vector<float>(), expected);
    EXPECT_EQ(cov(x.to("gpu:0")).device(), "gpu:0");
    EXPECT_EQ(full_like(x, 1).device(), "cpu:0");
  });
}

TEST(Tensors, WhatIsMadeOfOpsIsBesideItsOperands) {
  on_gpu("", [] {
    const Tensor x = reshape(arange(16, DType::f32), {1, 4, 4, 1}) / 10, there = x.to("gpu:0");
    const auto same = [&](auto &&f) {
      const Tensor y = f(there);
      EXPECT_EQ(y.device(), "gpu:0");
      EXPECT_EQ(y.to_vector<float>(), f(x).template to_vector<float>());
    };
    same([](const Tensor &at) { return triu(reshape(at, {4, 4})); });
    same([](const Tensor &at) { return average_pool(at, {2, 2}, {.padding = Padding::same}); });
    same([](const Tensor &at) { return resize_image(at, {3, 5}, Resize::bilinear); });
    same([](const Tensor &at) {
      return jacobian([](const Tensor &z) { return square(reshape(z, {16})); })(at);
    });
    same([](const Tensor &at) {
      return jvp([](const Tensor &z) { return cumsum(z, {.axis = 1}) * z; }, at, at).second;
    });
    same([](const Tensor &at) {
      return vmap([](const Tensor &row) { return cumsum(row) * row; })(reshape(at, {4, 4}));
    });
  });
}

TEST(Tensors, OptimizersFollowTheirWeights) {
  on_gpu("", [] {
    const Variable weight(tensor({1.F, 2.F}));
    const optimizers::Adam adam(std::vector<Variable>{weight}, {.learning_rate = 0.1});
    const auto loss = [&] { return sum(square(weight.value())); };
    adam.minimize(loss);
    auto step = function([&] { return adam.minimize(loss); }, {.device = "gpu:0"});
    EXPECT_EQ(step().device(), "gpu:0");
    adam.minimize(loss); // the weight and its moments are there now
    EXPECT_EQ(weight.value().device(), "gpu:0");
    const Variable here(tensor({1.F, 2.F}));
    const optimizers::Adam other(std::vector<Variable>{here}, {.learning_rate = 0.1});
    EXPECT_NE(said([&] {
                other.apply_gradients(std::vector<Tensor>{ones({2}).to("gpu:0")});
              }).find("move one with .to()"),
              std::string::npos);
  });
}

TEST(Tensors, LayersAreWhereTheyAreMade) {
  on_gpu("", [] {
    const DeviceScope scope("gpu:0");
    Model model;
    const Tensor x = ones({4, 2});
    const optimizers::Adam adam(model, {.learning_rate = 0.1});
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(adam.minimize([&] { return mean(square(model.dense(x) - 1)); }).device(), "gpu:0");
    EXPECT_EQ(model.dense.kernel.value().device(), "gpu:0");
    EXPECT_EQ(model.dense.bias->value().device(), "gpu:0");
  });
}

TEST(Tensors, GoToFiles) {
  on_gpu("", [] {
    const Tensor host = reshape(arange(6, DType::f32), {2, 3});
    const std::string path = testing::TempDir() + "on-gpu.npy";
    save_npy(path, transpose(host.to("gpu:0"), {1, 0}));
    EXPECT_EQ(load_npy(path).to_vector<float>(), transpose(host, {1, 0}).to_vector<float>());
    std::remove(path.c_str());
  });
}

TEST(Tensors, NoGpu) {
  on_gpu(
      "",
      [] {
        EXPECT_EQ(said([] { static_cast<void>(tensor(1.F).to("gpu:0")); }),
                  "to: cannot use gpu:0: no CUDA driver (/nowhere: cannot open shared object file: "
                  "No such file or directory)");
        EXPECT_EQ(said([] { static_cast<void>(tensor(1.F).to("cpu:1")); }),
                  "to: there is no device cpu:1; the only CPU is cpu:0");
      },
      "/nowhere");
}

TEST(Tensors, ListsGoToTheOperandsBesideThem) {
  on_gpu("", [] {
    const Tensor host = reshape(arange(6, DType::f32), {2, 3}), there = host.to("gpu:0");
    const auto same = [](const Tensor &a, const Tensor &b) {
      EXPECT_EQ(a.device(), "gpu:0");
      EXPECT_EQ(a.to_vector<float>(), b.to_vector<float>());
    };
    same(there + Operand({1.F, 2.F, 3.F}), host + tensor({1.F, 2.F, 3.F}));
    same(maximum({{1, 2, 3}, {4, 5, 6}}, there), maximum(tensor({{1, 2, 3}, {4, 5, 6}}), host));
    same(there.at(0).set({5.F, 6.F, 7.F}), host.at(0).set(tensor({5.F, 6.F, 7.F})));
    same(gather(there, {1, 0}), gather(host, tensor({1, 0})));
    const Variable weight(there);
    weight.assign_add({{1.F, 1.F, 1.F}, {2.F, 2.F, 2.F}});
    same(weight.value(), host + tensor({{1.F}, {2.F}}));
    const Variable bytes(cast(there, DType::u8));
    bytes.assign_sub(false);
    EXPECT_EQ(bytes.value().device(), "gpu:0");
    EXPECT_EQ(Variable({1.F, 2.F}).value().device(), "cpu:0");
    EXPECT_NE(said([&] { static_cast<void>(Variable({1.F, 2.F, 3.F}) + there); }).find("move one"),
              std::string::npos);
    const DeviceScope scope("gpu:0");
    EXPECT_EQ((host + Operand({1.F, 2.F, 3.F})).device(), "cpu:0");
    EXPECT_EQ(Variable({1.F, 2.F}).value().device(), "gpu:0");
  });
}

TEST(Tensors, ComeBackByDlpack) {
  on_gpu("", [] {
    const Tensor host = reshape(arange(6, DType::f32), {2, 3}), there = host.to("gpu:0");
    const Tensor back = from_dlpack(to_dlpack(transpose(there, {1, 0})));
    EXPECT_EQ(back.device(), "gpu:0");
    EXPECT_EQ(back.to_vector<float>(), transpose(host, {1, 0}).to_vector<float>());
    EXPECT_EQ((matmul(there, back)).to_vector<float>(),
              matmul(host, transpose(host, {1, 0})).to_vector<float>());
    const Tensor copied = from_dlpack(to_dlpack_unversioned(there), true);
    EXPECT_EQ(copied.to_vector<float>(), host.to_vector<float>());
    Variable weight(from_dlpack(to_dlpack(there)));
    weight.assign_add(there);
    EXPECT_EQ(there.to_vector<float>(), host.to_vector<float>()); // whose memory is not written
    EXPECT_EQ(weight.value().to_vector<float>(), (host * 2).to_vector<float>());
  });
}

TEST(Tensors, AreMadeOnTheDevice) {
  on_gpu("memory=16M", [] {
    const DeviceScope scope("gpu:0");
    const auto refused = [](const auto &make, const std::string &name) {
      const std::string words = said<OutOfMemory>([&] { static_cast<void>(make()); });
      EXPECT_EQ(words.find(name + ": gpu:0 is out of memory: asked for 4398046511104"), 0U)
          << words;
    };
    refused([] { return zeros({std::int64_t{1} << 40}); }, "zeros");
    refused([] { return full({std::int64_t{1} << 40}, 2.5); }, "full");
    refused([] { return arange(std::int64_t{1} << 40, DType::f32); }, "arange");
    EXPECT_EQ(full({1000}, 2.5).to_vector<float>(), std::vector<float>(1000, 2.5F));
  });
}

TEST(Tensors, MemoryThatIsFull) {
  on_gpu("memory=16M", [] {
    const Tensor host = zeros({1 << 20});
    std::vector<Tensor> held;
    const std::string words = said<OutOfMemory>([&] {
      while (true) held.push_back(host.to("gpu:0"));
    });
    EXPECT_EQ(words.find("to: gpu:0 is out of memory: asked for 4194304 bytes"), 0U) << words;
    EXPECT_EQ(held.size(), 4U);
    EXPECT_EQ(held[3][5].item<float>(), 0);
    held.pop_back();
    EXPECT_EQ(host.to("gpu:0")[1].item<float>(), 0); // and goes on
  });
}

} // namespace
} // namespace weft::device
