// Archives whose code does not fit this machine or this Weft are compiled again, once.
#include "ExportFixture.h"

#include "Export/Archive.h"
#include "Runtime/CallContext.h"
#include "Support/Cpu.h"

namespace weft {
namespace {

class Recompile : public ExportFixture {
protected:
  void SetUp() override {
    ExportFixture::SetUp();
    set_log_sink([this](std::string_view line) { lines_ += std::string(line) + '\n'; });
    setenv("WEFT_CACHE_DIR", (folder_ + "/cache").c_str(), 1);
    unsetenv("WEFT_CACHE");
  }
  void TearDown() override {
    set_log_sink({});
    setenv("WEFT_CACHE", "off", 1);
    ExportFixture::TearDown();
  }

  /// A program with a written variable and a captured tensor, exported.
  void export_one(const ExportOptions &options = {}) {
    const auto f = function(
        [this](const Tensor &x) {
          count_.assign_add(std::int64_t{1});
          check(all(x < 100), "small");
          return matmul(x, w_) + table_ * count_.value().astype(f32);
        },
        {.name = "f", .signature = {spec(f32, {unknown, 5})}});
    export_program(f, file(), options);
    count_.assign(std::int64_t{0});
    wanted_ = f(numbers({4, 5}));
    count_.assign(std::int64_t{0});
  }
  /// Writes the archive anew with another manifest.
  template <class Change>
  void rewrite(const Change &change) {
    const auto old = archive::Archive::open(file(), true);
    archive::Contents contents;
    contents.manifest = old->manifest();
    for (const archive::StoredVariable &variable : old->manifest().variables)
      contents.weights.push_back({variable.name, old->weight(variable.name)});
    for (const std::string &capture : old->manifest().captures)
      contents.weights.push_back({capture, old->weight(capture)});
    for (const archive::Entry &entry : old->manifest().entries) {
      contents.bytecode.emplace_back(old->bytes(entry.bytecode));
      contents.objects.emplace_back();
      for (const archive::Object &object : entry.objects)
        contents.objects.back().emplace_back(old->bytes(object.code));
    }
    change(contents);
    archive::write_archive(file(), std::move(contents));
  }
  void expect_runs() {
    const LoadedProgram program = load_program(file());
    expect_same(program(numbers({4, 5}))[0], wanted_);
    try {
      program(full({1, 5}, 200.0f));
      ADD_FAILURE() << "it did not throw";
    } catch (const AssertionError &error) {
      EXPECT_EQ(words_of(error), "assertion failed in f: small");
      EXPECT_TRUE(error.location().known());
    }
  }

  std::string lines_;
  Variable count_{tensor(std::int64_t{0}), "count"};
  Variable w_{numbers({5, 3}), "w"};
  Tensor table_ = numbers({3});
  Tensor wanted_;
};

TEST_F(Recompile, CodeForAnotherProcessor) {
  export_one();
  rewrite([](archive::Contents &contents) {
    archive::Object &object = contents.manifest.entries[0].objects[0];
    object.processor = "future";
    object.features += ",tentacles";
  });
  expect_runs();
  EXPECT_THAT(lines_, testing::HasSubstr("it has no code for this processor: future needs "
                                         "tentacles; compiled for this one"));
  EXPECT_THAT(lines_, testing::HasSubstr("cache miss: f"));
  lines_.clear();
  expect_runs(); // from the disk now
  EXPECT_THAT(lines_, testing::HasSubstr("cache hit: f"));
}

TEST_F(Recompile, AnotherRuntime) {
  export_one();
  rewrite([](archive::Contents &contents) {
    contents.manifest.runtime_abi = kRuntimeAbi + 1;
    contents.manifest.weft = "9.9.9";
  });
  expect_runs();
  EXPECT_THAT(lines_,
              testing::HasSubstr("its code was compiled for another version of Weft, 9.9.9"));
}

TEST_F(Recompile, WhatCannotBeCompiledSaysWhy) {
  export_one();
  rewrite([](archive::Contents &contents) {
    contents.manifest.runtime_abi = kRuntimeAbi + 1;
    contents.bytecode[0] = "no bytecode";
  });
  try {
    load_program(file());
    ADD_FAILURE() << "it did not throw";
  } catch (const CompileError &error) {
    EXPECT_THAT(words_of(error), testing::StartsWith(file() + ": its code was compiled for another "
                                                              "version of Weft"));
    EXPECT_THAT(words_of(error), testing::HasSubstr("its program cannot be read"));
  }
}

TEST_F(Recompile, CodeForSeveralProcessors) {
  export_one({.processors = {"x86-64-v2", "x86-64-v3", "x86-64-v4"}});
  const LoadedProgram program = load_program(file());
  EXPECT_THAT(program.entries()[0].processors,
              testing::ElementsAre("x86-64-v2", "x86-64-v3", "x86-64-v4"));
  const std::vector<float> wanted = wanted_.to_vector<float>();
  // Each level that this machine has gives the same but for the last bits.
  for (int level = 2; level <= static_cast<int>(host_cpu_level()); ++level) {
    export_one({.processors = {"x86-64-v" + std::to_string(level)}});
    lines_.clear();
    const std::vector<float> found = load_program(file())(numbers({4, 5}))[0].to_vector<float>();
    EXPECT_EQ(lines_, "");
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-5);
  }
}

TEST_F(Recompile, FrozenPrograms) {
  const auto f = function([this](const Tensor &x) { return matmul(x, w_); },
                          {.signature = {spec(f32, {unknown, 5})}});
  export_program(f, file(), {.freeze = true});
  rewrite([](archive::Contents &contents) { contents.manifest.runtime_abi = kRuntimeAbi + 1; });
  expect_same(load_program(file())(numbers({4, 5}))[0], f(numbers({4, 5})));
}

} // namespace
} // namespace weft
