// What export_program and load_program refuse, in which words, and where errors are.
#include "ExportFixture.h"

namespace weft {
namespace {

class Export : public ExportFixture {
protected:
  Function<Tensor (*)(const Tensor &)> twice(const FunctionOptions &options = {.name = "twice"}) {
    return function(static_cast<Tensor (*)(const Tensor &)>([](const Tensor &x) { return 2 * x; }),
                    options);
  }
};

TEST_F(Export, ItSaysWhatToWriteWithoutASignature) {
  EXPECT_THROWS(export_program(twice(), file()), ValueError,
                "export_program: twice has no signature: say what it will be called with, as in "
                "{.signatures = {{spec(f32, {unknown, 784})}}}");
}

TEST_F(Export, SignaturesMustFit) {
  EXPECT_THROWS(export_program(twice(), file(), {.signatures = {{spec(f32, {}), spec(f32, {})}}}),
                ValueError, "export_program: signature 0 has 2 tensors, but twice takes 1");
  EXPECT_THROWS(export_program(twice(), file(), {.signatures = {{spec(f32, any_rank)}}}),
                ValueError,
                "export_program: signature 0 admits any rank, but code has one: write a signature "
                "for each");
  EXPECT_THROWS(
      export_program(twice(), file(), {.signatures = {{spec(f32, {2})}, {spec(f32, {2})}}}),
      ValueError, "export_program: signature 1 is signature 0 again: (f32(2,))");
  EXPECT_THROWS(export_program(twice(), file(), {.signatures = {{spec(f32, {-3})}}}), ShapeError,
                "export_program: signature 0 has the size -3 in f32(-3,)");
  const auto own = function([](const Tensor &x) { return x + x; },
                            {.name = "own", .signature = {spec(f32, {unknown, 3})}});
  EXPECT_THROWS(export_program(own, file(), {.signatures = {{spec(f64, {2, 3})}}}), ValueError,
                "export_program: signature 0 has f64(2, 3) where own, by its own signature, takes "
                "f32(?, 3)");
  EXPECT_THROWS(export_program(own, file(), {.signatures = {{spec(f32, {2, 4})}}}), ValueError,
                "export_program: signature 0 has f32(2, 4) where own, by its own signature, takes "
                "f32(?, 3)");
  export_program(own, file(), {.signatures = {{spec(f32, {2, 3})}}});
}

TEST_F(Export, TheErrorsOfTracingKeepTheirLines) {
  const auto bad = function([](const Tensor &x) { return matmul(x, x); });
  int line = 0;
  try {
    line = __LINE__ - 3;
    export_program(bad, file(), {.signatures = {{spec(f32, {2, 3})}}});
    ADD_FAILURE() << "it did not throw";
  } catch (const ShapeError &error) {
    EXPECT_EQ(static_cast<int>(error.location().line), line);
  }
}

TEST_F(Export, HostCallsAreRefusedAtTheirLine) {
  const int line = __LINE__ + 4;
  const auto calls = function(
      [](const Tensor &x) {
        const auto plus = [](const Tensor &y) { return y + 1; };
        return host_call(plus, {.results = {spec(f32, {2})}, .name = "plus"}, x);
      },
      {.name = "calls"});
  try {
    export_program(calls, file(), {.signatures = {{spec(f32, {2})}}});
    ADD_FAILURE() << "it did not throw";
  } catch (const ValueError &error) {
    EXPECT_EQ(words_of(error), "export_program: calls calls C++ code, 'plus', by host_call, which "
                               "no file can hold");
    EXPECT_EQ(static_cast<int>(error.location().line), line);
  }
}

TEST_F(Export, PathsAndProcessors) {
  const ExportOptions options{.signatures = {{spec(f32, {2})}}};
  EXPECT_THROWS(export_program(twice(), "", options), ValueError,
                "export_program: the path is empty");
  EXPECT_THROW(export_program(twice(), folder_ + "/missing/file", options), IOError);
  EXPECT_THROWS(
      export_program(twice(), file(), {.signatures = options.signatures, .processors = {"z80"}}),
      ValueError,
      "export_program: there is no processor 'z80'; there are x86-64-v2, x86-64-v3 and x86-64-v4, "
      "and this machine's where the list is empty");
  EXPECT_THROWS(load_program(""), ValueError, "load_program: the path is empty");
  EXPECT_THROWS(load_program(file("none")), IOError,
                file("none") + ": cannot be opened: No such file or directory");
}

TEST_F(Export, ATracedFunctionExportsNothing) {
  const auto outer = function([&](const Tensor &x) {
    export_program(twice(), file(), {.signatures = {{spec(f32, {2})}}});
    return x;
  });
  EXPECT_THROWS(outer(ones({2})), StateError,
                "export_program: a traced function cannot export another one: there are no values "
                "yet");
}

TEST_F(Export, AnUndefinedResultIsRefused) {
  const auto nothing = function([](const Tensor &) { return Tensor(); }, {.name = "nothing"});
  EXPECT_THROWS(export_program(nothing, file(), {.signatures = {{spec(f32, {2})}}}), ValueError,
                "nothing: a tensor of the result is undefined");
}

TEST_F(Export, CallsThatFitNoEntryListThem) {
  export_program(twice(), file(), {.signatures = {{spec(f32, {unknown, 3})}, {spec(i64, {2})}}});
  const LoadedProgram program = load_program(file());
  const std::string there = "; there are:\n  (f32(?, 3))\n  (i64(2,))";
  EXPECT_THROWS(program(ones({2, 4})), ShapeError,
                "twice: there is no entry for (f32(2, 4))" + there);
  EXPECT_THROWS(program(ones({2}).astype(f64)), DTypeError,
                "twice: there is no entry for (f64(2,))" + there);
  EXPECT_THROWS(program(), ValueError, "twice: there is no entry for ()" + there);
  EXPECT_THROWS(program(Tensor()), ValueError,
                "twice: tensor 0 of the arguments is undefined: it was never given a value");
  try {
    program(ones({7}));
    ADD_FAILURE() << "it did not throw";
  } catch (const ShapeError &error) {
    EXPECT_EQ(static_cast<int>(error.location().line), __LINE__ - 3);
  }
}

TEST_F(Export, StridedArgumentsBecomeDense) {
  export_program(twice(), file(), {.signatures = {{spec(f32, {unknown, unknown})}}});
  const Tensor x = numbers({3, 5});
  expect_same(load_program(file())(transpose(x, {1, 0}))[0], 2 * transpose(x, {1, 0}));
}

TEST_F(Export, TapesAndTracesAreRefused) {
  export_program(twice(), file(), {.signatures = {{spec(f32, {2})}}});
  const LoadedProgram program = load_program(file());
  const Tensor x = ones({2});
  {
    GradientTape tape;
    EXPECT_EQ(program(x)[0].to_vector<float>()[0], 2); // nobody follows x
    tape.watch(x);
    EXPECT_THROWS(program(x), StateError,
                  "twice: a loaded program has no derivative, but a tape follows what it is called "
                  "with");
  }
  const auto outer = function([&](const Tensor &y) { return program(y)[0]; });
  EXPECT_THROWS(outer(x), StateError,
                "twice: a loaded program cannot be called inside a traced function, which needs "
                "its source");
}

TEST_F(Export, AFileIsReplacedUnderAProgramThatRuns) {
  const Variable w(numbers({100, 100}), "w");
  const auto read_it = function([&] { return w + 0; });
  export_program(read_it, file());
  const LoadedProgram program = load_program(file(), {.verify_weights = false});
  w.assign(zeros({100, 100}));
  export_program(read_it, file());
  expect_same(program()[0], numbers({100, 100}));
  expect_same(load_program(file())()[0], zeros({100, 100}));
}

TEST_F(Export, TheWeightsAreASafetensorsFile) {
  const Variable w(numbers({3, 5}), "dense.kernel"), b(numbers({7}), "b");
  export_program(function([&] { return sum(w) + sum(b); }), file());
  // As docs/export.md tells others to cut them out.
  const std::string bytes = read(file()), key = R"("weights":{"offset":)";
  const std::size_t at = bytes.rfind(key);
  ASSERT_NE(at, bytes.npos);
  const std::size_t offset = std::stoul(bytes.substr(at + key.size())),
                    size = std::stoul(bytes.substr(bytes.find(R"("size":)", at) + 7));
  EXPECT_EQ(offset % 4096, 0u);
  write(file("weights.safetensors"), std::string_view(bytes).substr(offset, size));
  const auto weights = load_safetensors(file("weights.safetensors"));
  ASSERT_EQ(weights.size(), 2u);
  expect_same(weights.at("dense.kernel"), numbers({3, 5}));
  expect_same(weights.at("b"), numbers({7}));
}

} // namespace
} // namespace weft
