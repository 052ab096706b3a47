// Any structure as one file: there and back, what other programs see of it, damage, crashes.
#include <weft/save.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <optional>

#include "../Checkpoint/Crashes.h"
#include "../Testing.h"
#include "IO/Safetensors.h"
#include <weft/function.h>
#include <weft/ops.h>
#include <weft/safetensors.h>

namespace weft {
namespace {

using testing::HasSubstr;

std::string temporary(const std::string &name) { return testing::TempDir() + "weft-save-" + name; }

std::string read_bytes(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}
void write_bytes(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

template <class Error, class Call>
std::string words_of_error(const Call &call) {
  try {
    call();
  } catch (const Error &error) {
    return words_of(error);
  } catch (const std::exception &error) {
    return std::string("another type: ") + error.what();
  }
  return "nothing was thrown";
}

enum class Phase : std::uint8_t { warm_up, training };

struct Layer {
  Tensor w;
  std::optional<Tensor> b;
  WEFT_FIELDS(Layer, w, b)
};
struct Search {
  std::string note;
  Phase phase = Phase::warm_up;
  std::uint64_t seed = 0;
  double rate = 0;
  bool done = false;
  std::vector<Layer> layers;
  std::map<std::string, std::tuple<int, Tensor>> more;
  std::array<std::int64_t, 2> sizes = {0, 0};
  WEFT_FIELDS(Search, note, phase, seed, rate, done, layers, more, sizes)
};

TEST(Save, StructuresThereAndBack) {
  Search run{.note = "h\u00e9llo \"x\"\n",
             .phase = Phase::training,
             .seed = std::numeric_limits<std::uint64_t>::max(),
             .rate = 0.1,
             .done = true,
             .layers = {{tensor({{1.F, 2.F}, {3.F, 4.F}}), {}}, {tensor({5, 6}), tensor(0.5)}},
             .more = {{"a.b", {-7, zeros({0, 3})}}},
             .sizes = {-1, std::numeric_limits<std::int64_t>::min()}};
  const std::string path = temporary("run.weft");
  save(path, run);
  const Search again = load<Search>(path);
  EXPECT_EQ(again.note, run.note);
  EXPECT_EQ(again.phase, Phase::training);
  EXPECT_EQ(again.seed, run.seed);
  EXPECT_EQ(again.rate, 0.1);
  EXPECT_TRUE(again.done);
  ASSERT_EQ(again.layers.size(), 2U);
  EXPECT_EQ(again.layers[0].w.to_vector<float>(), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_FALSE(again.layers[0].b);
  EXPECT_EQ(again.layers[1].w.type(), spec(i32, {2}));
  EXPECT_EQ(again.layers[1].b->item<double>(), 0.5);
  EXPECT_EQ(again.layers[1].b->rank(), 0);
  EXPECT_EQ(std::get<0>(again.more.at("a.b")), -7);
  EXPECT_EQ(std::get<1>(again.more.at("a.b")).shape(), (Shape{0, 3}));
  EXPECT_EQ(again.sizes, run.sizes);
}

TEST(Save, NumbersKeepTheirBits) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> values = {0.1,  -0.0,         1e308, 5e-324, inf,
                                      -inf, std::nan(""), 3,     1.0 / 3};
  const std::string path = temporary("numbers.weft");
  save(path, values);
  const auto again = load<std::vector<double>>(path);
  ASSERT_EQ(again.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_TRUE(again[i] == values[i] || (std::isnan(again[i]) && std::isnan(values[i]))) << i;
    EXPECT_EQ(std::signbit(again[i]), std::signbit(values[i])) << i;
  }
  save(path, std::vector<std::int64_t>{3, -4});
  EXPECT_EQ(load<std::vector<float>>(path), (std::vector<float>{3, -4}));
  EXPECT_THROWS(load<std::vector<std::uint8_t>>(path), IOError,
                path + ": '1' is -4, which its type in C++ does not hold");
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  save(path, most);
  EXPECT_EQ(load<double>(path), static_cast<double>(most));
  save(path, std::numeric_limits<double>::max());
  try {
    static_cast<void>(load<float>(path));
    ADD_FAILURE();
  } catch (const IOError &error) {
    EXPECT_NE(std::string(error.what()).find("which is more than its type in C++ holds"),
              std::string::npos);
  }
}

TEST(Save, WhatIsThereTwiceIsOne) {
  const Tensor x = tensor({1.F, 2.F});
  const Variable v(x * 3, "weights", false);
  const std::string path = temporary("shared.weft");
  save(path, std::tuple(std::vector{x, x}, v, v));
  EXPECT_EQ(load_safetensors(path).size(), 2U);
  const auto [xs, a, b] = load<std::tuple<std::vector<Tensor>, Variable, Variable>>(path);
  EXPECT_TRUE(a == b);
  EXPECT_FALSE(a == v);
  EXPECT_EQ(a.name(), "weights");
  EXPECT_FALSE(a.trainable());
  EXPECT_EQ(a.value().to_vector<float>(), (std::vector<float>{3, 6}));
  EXPECT_EQ(xs[0].span<float>().data(), xs[1].span<float>().data());
}

TEST(Save, OtherProgramsReadTheTensors) {
  const std::string path = temporary("named.weft");
  save(path, std::map<std::string, std::vector<Tensor>>{
                 {"a", {arange(3), reshape(arange(6), {2, 3}).transpose({1, 0})}}, {"a.0", {}}});
  const auto tensors = load_safetensors(path);
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors.at("a.0").to_vector<int>(), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(tensors.at("a.1").to_vector<int>(), (std::vector<int>{0, 3, 1, 4, 2, 5}));
  // Two paths that read alike are two names.
  save(path, std::map<std::string, std::vector<Tensor>>{{"a.0", {ones({1})}}, {"a", {zeros({1})}}});
  std::map<std::string, std::map<std::string, Tensor>> nested = {{"x", {{"y.z", ones({2})}}},
                                                                 {"x.y", {{"z", zeros({2})}}}};
  save(path, nested);
  EXPECT_EQ(load_safetensors(path).size(), 2U);
  const auto again = load<decltype(nested)>(path);
  EXPECT_EQ(again.at("x").at("y.z").to_vector<float>()[0], 1);
  EXPECT_EQ(again.at("x.y").at("z").to_vector<float>()[0], 0);
}

TEST(Save, OtherStructuresAreRefusedByPath) {
  const std::string path = temporary("wrong.weft");
  save(path, std::map<std::string, std::vector<Tensor>>{{"w", {ones({1})}}});
  using Texts = std::map<std::string, std::vector<std::string>>;
  EXPECT_THROWS(load<Texts>(path), IOError, path + ": 'w.0' is a tensor, but a text is wanted");
  EXPECT_THROWS(load<Tensor>(path), IOError, path + ": its tree is a dict, but a tensor is wanted");
  EXPECT_THROWS(load<std::vector<int>>(path), IOError,
                path + ": its tree is a dict, but a list is wanted");
  EXPECT_THROWS(load<Layer>(path), IOError, path + ": its tree lacks the fields b");
  EXPECT_THROWS((load<std::map<std::string, std::tuple<Tensor, Tensor>>>(path)), IOError,
                path + ": 'w' has 1 entries, but 2 are wanted");
  save(path, std::map<std::string, int>{{"w", 1}, {"b", 2}, {"c", 3}});
  EXPECT_THROWS(load<Layer>(path), IOError,
                path + ": its tree has fields that the struct lacks: c");
}

TEST(Save, WhatHasNoValueIsRefused) {
  const std::string path = temporary("none.weft");
  const Variable unset = Variable::uninitialized(f32, {}, "w");
  EXPECT_THROWS(save(path, std::vector{unset}), StateError,
                "save: the variable '0' has no value yet: its layer was never called");
  EXPECT_THROWS(save(path, std::string("\xff")), ValueError,
                "save: the tree is a text that is not UTF-8: '\xff'");
  EXPECT_THAT(words_of_error<ValueError>([] { save("", 1); }), HasSubstr("save: "));
  auto traced = function([&](Tensor x) {
    save(path, x);
    return x;
  });
  EXPECT_THAT(words_of_error<StateError>([&] { traced(ones({2})); }),
              HasSubstr("save: inside of a traced function there are no values"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Save, OtherFilesAreRefused) {
  const std::string path = temporary("other.safetensors");
  EXPECT_THAT(words_of_error<IOError>([&] { load<int>(temporary("missing")); }),
              HasSubstr("weft-save-missing: "));
  save_safetensors(path, {{"w", ones({2})}});
  EXPECT_THROWS(load<Tensor>(path), IOError,
                path + ": holds no tree: it is a file of named tensors, which load_safetensors "
                       "reads, or a Checkpoint restores");
}

/// What reading a file with that tree says, without its name: one whose digests are as they should
/// be, with a scalar "w" and a vector "v".
std::string fault_of(const std::string &tree, const std::string &version = "1") {
  const std::string path = temporary("damaged.weft");
  AtomicFile file(path);
  write_safetensors(file, {{"w", tensor(1.F)}, {"v", ones({2})}},
                    {{"weft.tree", tree}, {"weft.tree.version", version}});
  file.commit();
  const std::string words = words_of_error<IOError>([&] { detail::read_saved(path); });
  return words.starts_with(path + ": ") ? words.substr(path.size() + 2) : words;
}

TEST(Save, DamagedTreesAreRefused) {
  EXPECT_EQ(fault_of(R"([{"tensor":"w"},{"scalar":"w"}])"), "nothing was thrown");
  EXPECT_EQ(fault_of("[", "1"), "is damaged: its tree is no valid JSON");
  EXPECT_EQ(fault_of("1e999"), "is damaged: its tree is no valid JSON");
  EXPECT_EQ(fault_of("1", "2"), "is a tree of version 2, and this Weft reads version 1");
  const std::string damaged = "is damaged: its tree has ";
  EXPECT_EQ(fault_of("{}"), damaged + "an object of no kind that is known at its root");
  EXPECT_EQ(fault_of(R"([{"code":"x"}])"), damaged + "an object of no kind that is known at '0'");
  EXPECT_EQ(fault_of(R"([{"tensor":"x"}])"), damaged + "a tensor 'x' that the file lacks at '0'");
  EXPECT_EQ(fault_of(R"({"tensor":[1]})"), damaged + "no text as a tensor at its root");
  EXPECT_EQ(fault_of(R"({"scalar":"v"})"), damaged + "a scalar that has axes at its root");
  EXPECT_EQ(fault_of(R"({"variable":"v","name":"v"})"),
            damaged + "no bool as trainable at its root");
  EXPECT_EQ(fault_of(R"({"variable":"v","trainable":true})"),
            damaged + "no text as the name of a variable at its root");
  EXPECT_EQ(fault_of(R"({"integer":"1x"})"), damaged + "a text as an integer at its root");
  EXPECT_EQ(fault_of(R"({"float":"x"})"), damaged + "a text as a number at its root");
  EXPECT_EQ(fault_of(R"({"complex":[1]})"),
            damaged + "a complex number of other than two parts at its root");
  EXPECT_EQ(fault_of(R"({"tuple":1})"), damaged + "no list as a tuple at its root");
  EXPECT_EQ(fault_of(R"({"dict":[[1]]})"),
            damaged + "an entry of a dict that is no pair at its root");
  EXPECT_EQ(fault_of(R"({"dict":[[[],1]]})"), damaged + "a list as a key at its root");
  EXPECT_EQ(fault_of(R"({"record":"m:C","fields":["a"],"values":[]})"),
            damaged + "not one value for each field at its root");
  EXPECT_EQ(fault_of(R"({"record":"m:C","fields":["a","a"],"values":[1,2]})"),
            damaged + "the field 'a' twice at its root");
  EXPECT_EQ(fault_of(R"({"named":"m:C","fields":[1],"values":[1]})"),
            damaged + "no text as the name of a field at its root");
  const std::string open(100'000, '['), close(100'000, ']');
  EXPECT_EQ(fault_of(open + close), "is damaged: its tree is nested deeper than 256");
  std::string many = "[0";
  for (int i = 0; i < 4'000'000; ++i) many += ",0";
  EXPECT_EQ(fault_of(many + "]"), "has a tree of more than 1000000 values, which none is");
}

TEST(Save, EachChangedByteIsFound) {
  const std::string path = temporary("bytes.weft");
  save(path, std::map<std::string, Tensor>{{"w", tensor({1.F, 2.F})}, {"b", tensor(3)}});
  const std::string bytes = read_bytes(path);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x20);
    write_bytes(path, changed);
    EXPECT_THAT(words_of_error<IOError>([&] { load<std::map<std::string, Tensor>>(path); }),
                HasSubstr(path))
        << i;
  }
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    write_bytes(path, bytes.substr(0, size));
    EXPECT_THAT(words_of_error<IOError>([&] { load<std::map<std::string, Tensor>>(path); }),
                HasSubstr(path))
        << size;
  }
}

TEST(Save, ACrashLeavesTheFileOfBeforeOrThisOne) {
  const std::string path = temporary("crash.weft");
  save(path, 1);
  std::vector<RecordingCalls::Operation> log;
  {
    RecordingCalls calls;
    save(path, 2);
    log = calls.log;
  }
  // The content is synced under another name before it gets its own, and then the folder is.
  using Kind = RecordingCalls::Operation::Kind;
  std::vector<Kind> order;
  for (const auto &operation : log)
    if (operation.kind == Kind::sync || operation.kind == Kind::rename)
      order.push_back(operation.kind);
  EXPECT_EQ(order, (std::vector<Kind>{Kind::sync, Kind::rename, Kind::sync}));
  for (const auto &operation : log) {
    if (operation.kind == Kind::create) {
      EXPECT_NE(operation.path, path);
    }
  }
  EXPECT_EQ(load<int>(path), 2);
}

} // namespace
} // namespace weft
