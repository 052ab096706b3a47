// safetensors files: those of the package of that name, our own, and those that break a rule.
#include <weft/safetensors.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include <sys/resource.h>

#include "../Testing.h"
#include <weft/ops.h>

namespace weft {
namespace {

using testing::HasSubstr;
const std::string kReference = WEFT_SOURCE_DIR "/test/unit/IO/Reference/";

std::string temporary(const std::string &name) { return testing::TempDir() + "weft-st-" + name; }

void write_file(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string read_file(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// A file of that header and so many bytes of elements.
std::string file_of(const std::string &header, std::size_t data, std::uint64_t length) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data, '\0');
}
std::string file_of(const std::string &header, std::size_t data) {
  return file_of(header, data, header.size());
}

template <class T>
std::vector<T> values_of(const Tensor &tensor) {
  const auto span = tensor.span<T>();
  return {span.begin(), span.end()};
}

std::vector<double> formula(int count) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(((i * 37) % 101 - 50) / 32.0);
  return values;
}

/// What opening a file of these bytes says, without its name.
std::string fault_of(const std::string &bytes) {
  const std::string path = temporary("fault.safetensors");
  write_file(path, bytes);
  try {
    load_safetensors(path);
    return "";
  } catch (const IOError &error) {
    std::string words(error.message());
    EXPECT_TRUE(words.starts_with(path + ": ")) << words;
    return words.substr(path.size() + 2);
  }
}

TEST(Safetensors, FilesOfThePackageAreRead) {
  const SafetensorsFile file(kReference + "dtypes.safetensors");
  EXPECT_EQ(file.metadata(),
            (std::map<std::string, std::string>{{"format", "np"}, {"note", "ü \"quoted\""}}));
  EXPECT_EQ(file.entries().size(), 8U);
  EXPECT_EQ(file.load("scalar").item<float>(), 2.5F);
  EXPECT_EQ(file.load("empty").shape(), Shape({0, 3}));
  const std::vector<double> six = formula(6);
  EXPECT_EQ(values_of<float>(file.load("f32")), std::vector<float>(six.begin(), six.end()));
  EXPECT_EQ(file.load("f32").shape(), Shape({2, 3}));
  EXPECT_EQ(values_of<double>(file.load("f64")), formula(4));
  EXPECT_EQ(values_of<std::int32_t>(file.load("i32")),
            (std::vector<std::int32_t>{INT32_MIN, 0, INT32_MAX}));
  EXPECT_EQ(values_of<std::int64_t>(file.load("i64")),
            (std::vector<std::int64_t>{INT64_MIN, INT64_MAX}));
  EXPECT_EQ(values_of<bool>(file.load("bool")), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(file.load("a name with \"quotes\", a \\ and ü").item<std::int32_t>(), 7);
  EXPECT_THROWS(file.load("f16"), IOError, kReference + "dtypes.safetensors: has no tensor 'f16'");
}

TEST(Safetensors, FloatsOf16BitsAreWidenedIfAskedFor) {
  const SafetensorsFile file(kReference + "narrow.safetensors");
  EXPECT_EQ(file.load("bf16").dtype(), bf16);
  EXPECT_EQ(file.load("bf16").span<bfloat16>()[4], -3.140625F);
  EXPECT_EQ(file.load("f16").dtype(), f16);
  EXPECT_EQ(file.load("f16").span<float16>()[6], 65504.F);
  const SafetensorsOptions widen{.widen = true};
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> halves = values_of<float>(file.load("f16", widen));
  const std::vector<float> expected = {0,        -0.F, 0x1p-24F, 1023 * 0x1p-24F,
                                       0x1p-14F, 1,    65504,    -inf};
  ASSERT_EQ(halves.size(), 9U);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(halves[i], expected[i]) << i;
  EXPECT_TRUE(std::signbit(halves[1]));
  EXPECT_TRUE(std::isnan(halves[8]));
  const std::vector<float> brains = values_of<float>(file.load("bf16", widen));
  ASSERT_EQ(brains.size(), 8U);
  EXPECT_EQ(brains[2], 0x1p-133F);
  EXPECT_EQ(brains[3], 1);
  EXPECT_EQ(brains[4], -3.140625F);
  EXPECT_EQ(brains[6], inf);
  EXPECT_TRUE(std::isnan(brains[7]));
}

TEST(Safetensors, IntegersOfAllSizesAreRead) {
  const SafetensorsFile file(kReference + "narrow.safetensors");
  EXPECT_EQ(values_of<std::uint8_t>(file.load("u8")), (std::vector<std::uint8_t>{0, 127, 255}));
  EXPECT_EQ(values_of<std::int8_t>(file.load("i8")), (std::vector<std::int8_t>{-128, 127}));
  EXPECT_EQ(values_of<std::uint16_t>(file.load("u16")), (std::vector<std::uint16_t>{0, 65535}));
  EXPECT_EQ(values_of<std::int16_t>(file.load("i16")), (std::vector<std::int16_t>{-32768, 32767}));
  EXPECT_EQ(values_of<std::uint32_t>(file.load("u32")),
            (std::vector<std::uint32_t>{1, 4294967295}));
  EXPECT_EQ(file.load("u64").dtype(), u64);
}

TEST(Safetensors, AnIndexOpensItsFiles) {
  const auto all = load_safetensors(kReference + "model.safetensors.index.json");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all.at("fc.weight").shape(), Shape({3, 2}));
  EXPECT_EQ(all.at("fc.bias").span<float>()[0], -50 / 32.F);
}

TEST(Safetensors, AnIndexMustSayWhatIsInItsFiles) {
  const std::string folder = temporary("shards");
  static_cast<void>(std::system(("mkdir -p " + folder).c_str()));
  save_safetensors(folder + "/one.safetensors", {{"a", tensor({1.F})}, {"b", tensor({2.F})}});
  const std::string index = folder + "/i.json";
  const auto fault = [&](const std::string &map) {
    write_file(index, map);
    try {
      load_safetensors(index);
      return std::string();
    } catch (const IOError &error) {
      return std::string(error.message()).substr(index.size() + 2);
    }
  };
  EXPECT_EQ(fault(R"({"weight_map":{"a":"one.safetensors","b":"one.safetensors"}})"), "");
  EXPECT_EQ(fault(R"({"weight_map":{"a":"one.safetensors"}})"),
            "has one.safetensors without 'b', which is in that file");
  EXPECT_EQ(
      fault(
          R"({"weight_map":{"a":"one.safetensors","b":"one.safetensors","c":"one.safetensors"}})"),
      "has 'c' in one.safetensors, where it is not");
  EXPECT_EQ(fault(R"({"weight_map":{"a":"../one.safetensors"}})"),
            "has '../one.safetensors' as the file of 'a', which is no name of a file");
  EXPECT_EQ(fault(R"({"weight_map":{"a":"one\u001b[2J"}})"),
            R"(has 'one\x1b[2J' as the file of 'a', which is no name of a file)");
  EXPECT_THAT(fault(R"({"weight_map":{"a":")" + std::string(256, 'x') + R"("}})"),
              HasSubstr("which is no name of a file"));
  EXPECT_EQ(fault(R"({"weight_map":{"a":"one.safetensors","a":"one.safetensors"}})"),
            "has 'a' twice");
  EXPECT_EQ(fault(R"({"metadata":{}})"), "is no index of safetensors files: it has no weight_map");
  EXPECT_EQ(fault(R"({"weight_map":{"a":1}})"),
            "is no index: it has something else than names of files in its weight_map");
  EXPECT_EQ(fault("[]"),
            "is no index: it has something else than names of files in its weight_map");
  EXPECT_EQ(fault(R"({"metadata":)" + std::string(1000, '[')), "is nested too deeply");
}

TEST(Safetensors, WhatIsWrittenIsReadBackWithItsMetadata) {
  const std::string path = temporary("own.safetensors");
  const std::map<std::string, Tensor> tensors = {
      {"b.bias", tensor({1.F, -0.F})},
      {"b", tensor({true, false})},
      {"long", tensor({std::int64_t{1} << 40})},
      {"double", full({2, 3}, 0.1, f64)},
      {"none", zeros({2, 0}, i32)},
      {"turned", transpose(tensor({{1, 2, 3}, {4, 5, 6}}), {1, 0})}};
  save_safetensors(path, tensors, {{"who", "a \"test\"\n"}});
  const SafetensorsFile file(path);
  EXPECT_EQ(file.metadata(), (std::map<std::string, std::string>{{"who", "a \"test\"\n"}}));
  for (const auto &[name, tensor] : load_safetensors(path)) {
    EXPECT_EQ(tensor.dtype(), tensors.at(name).dtype()) << name;
    EXPECT_EQ(tensor.shape(), tensors.at(name).shape()) << name;
    EXPECT_EQ(to_string(tensor), to_string(tensors.at(name))) << name;
  }
  EXPECT_EQ(values_of<std::int32_t>(file.load("turned")),
            (std::vector<std::int32_t>{1, 4, 2, 5, 3, 6}));
  // Elements lie in the order of the format, wide ones first, so that all are aligned.
  const std::string bytes = read_file(path);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0U);
  const std::string header = bytes.substr(8, length);
  EXPECT_LT(header.find("\"long\":"), header.find("\"double\":"));
  EXPECT_LT(header.find("\"double\":"), header.find("\"b.bias\":"));
  EXPECT_LT(header.find("\"b.bias\":"), header.find("\"turned\":"));
  EXPECT_LT(header.find("\"turned\":"), header.find("\"b\":{"));
}

TEST(Safetensors, NoFileWithoutTensorsIsStrange) {
  const std::string path = temporary("none.safetensors");
  save_safetensors(path, {});
  EXPECT_TRUE(load_safetensors(path).empty());
  EXPECT_EQ(fault_of(file_of("{}", 0)), "");
}

TEST(Safetensors, EveryTruncationAndEveryChangedByteIsSeen) {
  const std::string path = temporary("whole.safetensors"), other = temporary("changed.safetensors");
  save_safetensors(path, {{"w", tensor({1.F, 2.F})}, {"on", tensor({true})}}, {{"step", "12"}});
  const std::string whole = read_file(path);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_file(other, whole.substr(0, size));
    EXPECT_THROW(load_safetensors(other), IOError) << size;
  }
  write_file(other, whole + "x");
  EXPECT_THROW(load_safetensors(other), IOError);
  for (std::size_t i = 0; i < whole.size(); ++i)
    for (const int bit : {0, 5}) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ 1 << bit);
      write_file(other, changed);
      EXPECT_THROW(load_safetensors(other), IOError) << "byte " << i << ", bit " << bit;
    }
}

TEST(Safetensors, DamageIsToldByTheNameOfTheTensor) {
  const std::string path = temporary("damaged.safetensors");
  save_safetensors(path, {{"w", tensor({1.F, 2.F})}, {"v", tensor({1.F})}});
  std::string bytes = read_file(path);
  bytes.back() = static_cast<char>(bytes.back() ^ 1); // w is the last
  write_file(path, bytes);
  const SafetensorsFile file(path);
  EXPECT_EQ(file.load("v").item<float>(), 1);
  EXPECT_THROWS(file.load("w"), IOError, path + ": 'w' is damaged: it is not what its digest says");
}

TEST(Safetensors, FilesOfAttackersAreRefused) {
  // As attacks/safetensors_abuse_attempt_1.py to 3 of the format's own repository make them.
  EXPECT_EQ(fault_of(file_of("{}", 0, 1000)),
            "is truncated: its header has 1000 bytes, but 2 follow");
  std::string many = "{";
  for (int i = 0; i < 100'000; ++i)
    many += (i == 0 ? "\"" : ",\"") + std::to_string(i) +
            R"(":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]})";
  EXPECT_THAT(fault_of(file_of(many + "}", 16)),
              HasSubstr("at the bytes 0 to 16, but what lies before it ends at 16"));
  std::string large = "{";
  for (int i = 0; i < 1000; ++i)
    large += (i == 0 ? "\"" : ",\"") + std::to_string(i) +
             R"(":{"dtype":"F32","shape":[200,200],"data_offsets":[0,160000]})";
  EXPECT_THAT(fault_of(file_of(large + "}", 160'000)),
              HasSubstr("but what lies before it ends at"));
}

TEST(Safetensors, MoreTensorsThanAMillionAreRefusedBeforeTheyTakeMemory) {
  std::string header = "{";
  for (int i = 0; i <= 1'000'000; ++i)
    header += (i == 0 ? "\"" : ",\"") + std::to_string(i) +
              R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  EXPECT_EQ(fault_of(file_of(header + "}", 0)), "its header has more than 1000000 tensors");
}

TEST(Safetensors, HeadersThatBreakARuleSayWhich) {
  const auto one = [](const std::string &entry, std::size_t data = 8) {
    return fault_of(file_of(R"({"w":)" + entry + "}", data));
  };
  EXPECT_EQ(one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})"), "");
  EXPECT_EQ(fault_of(""), "is no safetensors file: it has 0 bytes, where the length of the header "
                          "takes 8");
  EXPECT_EQ(fault_of(std::string(8, '\xff')),
            "is no safetensors file: its header would have 18446744073709551615 bytes, more than "
            "100000000");
  EXPECT_EQ(fault_of(file_of(" {}", 0)),
            "is no safetensors file: its header does not start with {");
  EXPECT_EQ(fault_of(file_of("{}   ", 0)), ""); // padding
  EXPECT_EQ(fault_of(file_of("{} {}", 0)), "its header is no valid JSON at byte 4");
  EXPECT_EQ(fault_of(file_of(std::string("{}\0}", 4), 0)), "its header is no valid JSON at byte 3");
  EXPECT_EQ(fault_of(file_of("{\"\xff\":1}", 0)), "its header is no valid JSON at byte 3");
  // A hole, bytes behind, an overlap with a hole.
  EXPECT_EQ(one(R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})"),
            "has 'w' at the bytes 4 to 8, but what lies before it ends at 0");
  EXPECT_EQ(one(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})"),
            "has 8 bytes of elements, but its header asks for 4");
  EXPECT_EQ(one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,9]})"),
            "has 8 bytes of elements, but its header asks for 9");
  EXPECT_EQ(one(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})"),
            "has 8 bytes for 'w', which is F32(3,)");
  EXPECT_EQ(one(R"({"dtype":"F4","shape":[3],"data_offsets":[0,1]})", 1),
            "has 1 bytes for 'w', which is F4(3,)");
  EXPECT_EQ(one(R"({"dtype":"F32","shape":[9223372036854775807,9],"data_offsets":[0,8]})"),
            "has the shape (9223372036854775807, 9) for 'w', which no memory holds");
  EXPECT_EQ(one(R"({"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,8]})"),
            "its header has the size 18446744073709551615 in the shape of 'w'");
  // Numbers that are no sizes.
  EXPECT_EQ(one(R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})"),
            "its header has a negative number as the shape of 'w'");
  EXPECT_EQ(one(R"({"dtype":"F32","shape":[2.0],"data_offsets":[0,8]})"),
            "its header has the number 2.0 as the shape of 'w'");
  EXPECT_EQ(one(R"({"dtype":"F32","shape":[2e0],"data_offsets":[0,8]})"),
            "its header has the number 2e0 as the shape of 'w'");
  EXPECT_EQ(one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,99999999999999999999]})"),
            "its header has the number 99999999999999999999 as the data_offsets of 'w'");
  // Parts that are missing, there twice, or something else.
  EXPECT_EQ(one(R"({"dtype":"F32","shape":[2]})"), "its header has no data_offsets for 'w'");
  EXPECT_EQ(one(R"({"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]})"),
            "its header has the dtype of 'w' twice");
  EXPECT_EQ(one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8],"more":1})"),
            "its header has a field 'more' in 'w'");
  EXPECT_EQ(one(R"({"dtype":["F32"],"shape":[2],"data_offsets":[0,8]})"),
            "its header has a list as the dtype of 'w'");
  EXPECT_EQ(one(R"({"dtype":"F32","shape":[[2]],"data_offsets":[0,8]})"),
            "its header has a list as the shape of 'w'");
  EXPECT_EQ(one(R"({"dtype":"F32","shape":2,"data_offsets":[0,8]})"),
            "its header has a number as the shape of 'w'");
  EXPECT_EQ(one(R"({"dtype":"F32","shape":[2],"data_offsets":[0]})"),
            "its header has 1 numbers as the data_offsets of 'w', where two belong");
  EXPECT_EQ(one("1"), "its header has a number as what belongs to 'w'");
  EXPECT_EQ(one(R"({"dtype":{"a":{}},"shape":[2],"data_offsets":[0,8]})"),
            "its header has an object as the dtype of 'w'");
  EXPECT_EQ(fault_of(file_of(R"({"w":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},)"
                             R"("w":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})",
                             0)),
            "has 'w' twice");
  EXPECT_EQ(fault_of(file_of(R"({"__metadata__":{"a":1}})", 0)),
            "its header has a number as the a of '__metadata__'");
  EXPECT_EQ(fault_of(file_of(R"({"__metadata__":{"a":"1","a":"2"}})", 0)),
            "its header has the metadata 'a' twice");
  EXPECT_EQ(fault_of(file_of(R"({"__metadata__":{},"__metadata__":{}})", 0)),
            "its header has __metadata__ twice");
  std::string shape(200, '1');
  for (std::size_t i = 1; i < shape.size(); i += 2) shape[i] = ',';
  shape.back() = '0';
  EXPECT_EQ(
      one(R"({"dtype":"F32","shape":[1,)" + shape.substr(0, 199) + R"(],"data_offsets":[0,8]})"),
      "its header has more than 64 sizes as the shape of 'w'");
}

TEST(Safetensors, SizesOfNothingAreRead) {
  const auto one = [](const std::string &shape) {
    return fault_of(
        file_of(R"({"w":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":[0,0]}})", 0));
  };
  EXPECT_EQ(one("[0]"), "");
  EXPECT_EQ(one("[0,9223372036854775807]"), "");
  // The product of what is not zero is one that no number holds.
  EXPECT_EQ(one("[9223372036854775807,9223372036854775807,0]"),
            "has the shape (9223372036854775807, 9223372036854775807, 0) for 'w', which no memory "
            "holds");
}

TEST(Safetensors, NamesInMessagesAreShortAndPlain) {
  const std::string fault = fault_of(
      file_of("{\"\\u0000\\u001b[2J" + std::string(5000, 'n') + R"(":{"dtype":"F32"}})", 0));
  EXPECT_THAT(fault, HasSubstr(R"(for '\x00\x1b[2Jnnn)"));
  EXPECT_LT(fault.size(), 200U);
}

TEST(Safetensors, AnIndexOfManyNamesThatAreNotThereIsReadOnce) {
  // A look at all tensors of the file for each name of the index took minutes.
  constexpr int many = 100'000;
  std::string header = "{", map = R"({"weight_map":{)";
  for (int i = 0; i < many; ++i) {
    const std::string name = std::to_string(1'000'000 + i);
    header +=
        (i == 0 ? "\"" : ",\"") + name + R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
    map += '"' + name + R"(":"weft-st-shard.safetensors",)";
  }
  write_file(temporary("shard.safetensors"), file_of(header + "}", 0));
  const std::string index = temporary("many.json");
  write_file(index, map + R"("x":"weft-st-shard.safetensors"}})");
  EXPECT_THROWS(SafetensorsFile{index}, IOError,
                index + ": has 'x' in weft-st-shard.safetensors, where it is not");
}

TEST(Safetensors, BooleansAreZeroOrOne) {
  std::string bytes = file_of(R"({"on":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})", 2);
  EXPECT_EQ(fault_of(bytes), "");
  bytes.back() = 2;
  EXPECT_EQ(fault_of(bytes), "element 1 of 'on', which is BOOL, is 2");
}

TEST(Safetensors, WhatCannotBeWrittenIsRefused) {
  const std::string path = temporary("refused.safetensors");
  EXPECT_THROWS(save_safetensors(path, {{"w", Tensor()}}), StateError,
                "save_safetensors: the tensor 'w' is undefined");
  EXPECT_THROWS(save_safetensors(path, {{"__metadata__", tensor({1})}}), ValueError,
                "no tensor may be called '__metadata__', which stands for the metadata");
  EXPECT_THROWS(save_safetensors(path, {{"\xff", tensor({1})}}), ValueError,
                "the name of a tensor is not UTF-8");
  EXPECT_THROWS(save_safetensors(path, {}, {{"a", "\xff"}}), ValueError,
                "the text 'a' of the metadata is not UTF-8");
  EXPECT_THROWS(save_safetensors(path, {}, {{"weft.x", ""}}), ValueError,
                "save_safetensors: the metadata 'weft.x' begins with 'weft.', which is for Weft's "
                "own");
  EXPECT_FALSE(std::ifstream(path).good()) << "a refused file was left behind";
  EXPECT_THROWS(save_safetensors("/dev/full", {{"w", tensor({1.F})}}), IOError,
                "/dev/full: cannot be written: No space left on device");
  EXPECT_THROWS(load_safetensors("/dev/null"), IOError,
                "/dev/null: is no regular file, but a pipe or a device");
}

} // namespace
} // namespace weft
