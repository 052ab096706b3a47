// Data sets of files: what NumPy and others wrote, and files that are damaged.
#include <weft/data.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/io.h>
#include <weft/ops.h>

#include "Support/Digest.h"
#include "TestFiles.h"

#include <cmath>
#include <sstream>

namespace weft::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> strings(const BasicDataset<std::string> &dataset) {
  std::vector<std::string> all;
  for (const std::string &x : dataset) all.push_back(x);
  return all;
}

const std::string kDigits = WEFT_SOURCE_DIR "/examples/digits/data/";

TEST(Files, RowsOfSafetensors) {
  const std::string path = ::testing::TempDir() + "rows.safetensors";
  const Tensor x = arange(12, f32), y = arange(4, i32);
  save_safetensors(path, {{"x", reshape(x, {4, 3})}, {"y", y}});
  std::vector<float> xs;
  std::vector<std::int32_t> ys;
  for (auto [a, b] : from_safetensors(path, "x", "y").batch(3)) {
    for (const float value : a.to_vector<float>()) xs.push_back(value);
    for (const std::int32_t value : b.to_vector<std::int32_t>()) ys.push_back(value);
  }
  EXPECT_EQ(xs, x.to_vector<float>());
  EXPECT_EQ(ys, y.to_vector<std::int32_t>());
  std::int32_t next = 0;
  for (const auto &row : from_safetensors(path)) {
    EXPECT_EQ(row.at("y").item<std::int32_t>(), next);
    EXPECT_EQ(row.at("x")[0].item<float>(), static_cast<float>(3 * next++));
  }
  EXPECT_EQ(next, 4);
  EXPECT_THAT(failure_of<IOError>([&] { from_safetensors(path, "x", "z"); }), HasSubstr(path));
  save_safetensors(path, {{"x", reshape(x, {4, 3})}, {"y", arange(5, i32)}});
  EXPECT_THAT(failure_of<ShapeError>([&] { from_safetensors(path, "x", "y"); }), HasSubstr(path));
}

TEST(Files, IdxRowsAreScaledOnTheWayIntoABatch) {
  const std::string images = kDigits + "digits-images.idx3-ubyte",
                    labels = kDigits + "digits-labels.idx1-ubyte";
  const Dataset digits = from_idx(images, labels, {.dtype = DType::f32, .scale = 1 / 16.0});
  EXPECT_EQ(digits.size(), 1797);
  const Tensor all = read_idx(images, {.dtype = DType::f32}) * (1 / 16.0f),
               classes = read_idx(labels);
  std::int64_t first = 0;
  for (auto [x, y] : digits.batch(500)) {
    const std::int64_t rows = x.size(0);
    const Tensor wanted = all[{slice(first, first + rows)}];
    EXPECT_EQ(x.to_vector<float>(), wanted.to_vector<float>());
    EXPECT_EQ(y.to_vector<std::int32_t>(),
              classes[{slice(first, first + rows)}].to_vector<std::int32_t>());
    first += rows;
  }
  EXPECT_EQ(first, 1797);
  for (auto [x, y] : digits.take(1)) EXPECT_EQ(x.shape(), Shape({8, 8}));
}

TEST(Files, IdxRefusesDtypesThatDoNotHoldIt) {
  const TemporaryFile floats(std::string("\0\0\x0d\1\0\0\0\1\x3f\x80\0\0", 12));
  EXPECT_THROW(from_idx(floats.path(), {.dtype = DType::i32}), DTypeError);
  EXPECT_THROW(from_idx(kDigits + "digits-labels.idx1-ubyte", {.scale = 0.5}), DTypeError);
  for (const Tensor &x : from_idx(floats.path(), {.dtype = DType::f64, .scale = 3}))
    EXPECT_EQ(x.item<double>(), 3);
}

TEST(Files, NpyRows) {
  const TemporaryFile file("", ".npy");
  save_npy(file.path(), tensor({{1, 2}, {3, 4}, {5, 6}}));
  std::vector<int> sums;
  for (const Tensor &x : from_npy(file.path())) sums.push_back(sum(x).item<std::int32_t>());
  EXPECT_THAT(sums, ElementsAre(3, 7, 11));
}

TEST(Files, NpzOfNumPy) {
  for (const char *name : {"stored.npz", "deflated.npz"}) {
    const auto arrays = read_npz(stored_file(name));
    ASSERT_EQ(arrays.size(), 3u);
    EXPECT_EQ(arrays.at("x").shape(), Shape({4, 3}));
    EXPECT_EQ(arrays.at("x").to_vector<float>()[11], 11);
    EXPECT_EQ(arrays.at("y").to_vector<std::int64_t>(), (std::vector<std::int64_t>{3, 1, 4, 1}));
    EXPECT_EQ(arrays.at("f").to_vector<double>(), (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}));
    for (auto [x, y] : from_npz(stored_file(name), "x", "y").batch(4))
      EXPECT_EQ(y.to_vector<std::int64_t>(), (std::vector<std::int64_t>{3, 1, 4, 1}));
    for (const auto &row : from_npz(stored_file(name)).take(1))
      EXPECT_EQ(row.at("f").to_vector<double>(), (std::vector<double>{0, 1}));
  }
  EXPECT_THAT(failure_of<ValueError>([] { from_npz(stored_file("stored.npz"), "x", "z"); }),
              HasSubstr("has no array 'z'; there are f, x, y"));
  EXPECT_EQ(read_npz(stored_file("half.npz")).at("x").dtype(), f16);
}

TEST(Files, NpzThatIsDamaged) {
  const std::string bytes = bytes_of(stored_file("deflated.npz"));
  const auto read = [](const std::string &path) { read_npz(path); };
  check_truncations(bytes, read);
  check_damages(bytes, read);
}

TEST(Files, NpzThatLiesAboutItsSize) {
  std::string bytes = bytes_of(stored_file("deflated.npz"));
  const std::size_t entry = bytes.find("PK\1\2");
  bytes.replace(entry + 24, 4, "\xff\xff\xff\x7f"); // the size of the first member: 2 GiB
  const TemporaryFile file(bytes);
  EXPECT_THAT(failure_of<IOError>([&] { read_npz(file.path()); }), HasSubstr("which cannot be"));
}

TEST(Files, CsvColumns) {
  const TemporaryFile file("\xef\xbb\xbfheight, kind ,\"a \"\"b\"\", c\",open\r\n"
                           "1.5,2,-3e2,TRUE\r\n"
                           ",-7,\"0\",0\r\n"
                           "\r\n"
                           "+4, 9 ,inf,false");
  const auto columns = read_csv(file.path(), {.dtypes = {f32, i64, f64, DType::boolean}});
  ASSERT_EQ(columns.size(), 4u);
  const auto heights = columns.at("height").to_vector<float>();
  EXPECT_EQ(heights[0], 1.5f);
  EXPECT_TRUE(std::isnan(heights[1]));
  EXPECT_EQ(columns.at("kind").to_vector<std::int64_t>(), (std::vector<std::int64_t>{2, -7, 9}));
  EXPECT_EQ(columns.at("a \"b\", c").to_vector<double>(),
            (std::vector<double>{-300, 0, std::numeric_limits<double>::infinity()}));
  EXPECT_EQ(columns.at("open").to_vector<bool>(), (std::vector<bool>{true, false, false}));
}

TEST(Files, CsvOptionsChoose) {
  const TemporaryFile file("1;2;3\n4;5;6\n");
  const CsvOptions options{
      .columns = {"2", "0"}, .dtypes = {i32}, .header = false, .delimiter = ';'};
  std::vector<int> seen;
  for (const auto &row : from_csv(file.path(), options))
    seen.push_back(row.at("2").item<int>() * 10 + row.at("0").item<int>());
  EXPECT_THAT(seen, ElementsAre(31, 64));
}

TEST(Files, CsvThatIsMalformed) {
  const auto failure = [](const std::string &text, const CsvOptions &options = {}) {
    const TemporaryFile file(text);
    const std::string message = failure_of<Error>([&] { read_csv(file.path(), options); });
    const std::size_t at = message.find(file.path());
    return at == std::string::npos ? message : message.substr(at + file.path().size());
  };
  EXPECT_EQ(failure("a,b\n1,2\n3\n"), ": line 3: there are 1 fields and 2 columns");
  EXPECT_EQ(failure("a,b\n1,2\n3,4,5\n"), ": line 3: there are 3 fields and 2 columns");
  EXPECT_EQ(failure("a,b\n1,x2\n"), ": line 2: column 'b': 'x2' is no number of f32");
  EXPECT_EQ(failure("a\n1.5\n", {.dtypes = {i32}}),
            ": line 2: column 'a': '1.5' is no number of i32");
  EXPECT_EQ(failure("a\n3000000000\n", {.dtypes = {i32}}),
            ": line 2: column 'a': '3000000000' is no number of i32");
  EXPECT_EQ(failure("a,b\n1,\"2\n3"), ": line 2: a quote is opened and not closed");
  EXPECT_EQ(failure("a,b\n1,\"2\"3"), ": line 2: something follows a closing quote");
  EXPECT_EQ(failure("\"a\nb\",c\n1,2\n3,4\n5\n"), ": line 5: there are 1 fields and 2 columns");
  EXPECT_EQ(failure(""), ": has no lines");
  EXPECT_EQ(failure("a,a\n1,2\n"), ": there are two columns 'a'");
  EXPECT_THAT(failure("a,b\n1,2\n", {.columns = {"c"}}),
              HasSubstr("has no column 'c'; there are a, b"));
  EXPECT_THAT(failure("a,b\n1,2\n", {.dtypes = {f32, f32, f32}}),
              HasSubstr("2 columns and 3 dtypes"));
}

TEST(Files, Lines) {
  const TemporaryFile file("one\r\n\ntwo three\nlast");
  const auto lines = from_lines(file.path());
  EXPECT_THAT(strings(lines), ElementsAre("one", "", "two three", "last"));
  EXPECT_EQ(lines.size(), 4);
  EXPECT_THAT(strings(lines.shuffle({.seed = 1})),
              testing::UnorderedElementsAre("one", "", "two three", "last"));
  std::vector<std::string> many;
  std::string text;
  for (int i = 0; i < 100; ++i) {
    many.emplace_back(static_cast<std::size_t>(i * 7 % 5), static_cast<char>('a' + i % 26));
    text += many.back() + (i % 3 == 0 ? "\r\n" : "\n");
  }
  for (const char *end : {"", "the end"}) {
    file.write(text + end);
    if (*end != '\0') many.emplace_back(end);
    EXPECT_EQ(strings(from_lines(file.path())), many);
    EXPECT_EQ(strings(from_lines(file.path()).skip(15).take(20)),
              std::vector<std::string>(many.begin() + 15, many.begin() + 35));
  }
  file.write("");
  EXPECT_THAT(strings(from_lines(file.path())), ElementsAre());
  EXPECT_THROW(from_lines("/nowhere/text"), IOError);
  EXPECT_THROW(from_lines(::testing::TempDir()), IOError);
  EXPECT_THROW(from_lines(""), ValueError);
}

TEST(Files, ChecksumsOfRecords) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u); // RFC 3720
  EXPECT_EQ(masked_crc32c("123456789"), 0xc78ab0e5u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(crc32c(""), 0u);
}

TEST(Files, TfRecords) {
  const auto records = from_tfrecord(stored_file("records.tfrecord"));
  EXPECT_EQ(records.size(), 4);
  const std::vector<std::string> all = strings(records);
  EXPECT_EQ(all[0], "first");
  EXPECT_EQ(all[1], "");
  ASSERT_EQ(all[2].size(), 256u);
  EXPECT_EQ(all[2][255], '\xff');
  const Example example = parse_example(all[3]);
  EXPECT_EQ(example.numbers.at("pixels").to_vector<float>(), (std::vector<float>{0.5, -2, 8.25}));
  EXPECT_EQ(example.numbers.at("label").to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{7, -1}));
  EXPECT_THAT(example.strings.at("name"), ElementsAre("seven", std::string("\0\xff", 2)));
  EXPECT_THAT(strings(records.skip(3).shuffle({.seed = 1})), ElementsAre(all[3]));
}

TEST(Files, TfRecordsThatAreDamaged) {
  const std::string bytes = bytes_of(stored_file("records.tfrecord"));
  const auto read = [](const std::string &path) { strings(from_tfrecord(path)); };
  // Cut off between two records a file is a shorter one.
  std::vector<std::size_t> ends{0};
  for (std::size_t at = 0; at < bytes.size();) {
    at += 16 + static_cast<unsigned char>(bytes[at]) +
          256u * static_cast<unsigned char>(bytes[at + 1]);
    ends.push_back(at);
  }
  const TemporaryFile file("");
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    file.write(bytes.substr(0, length));
    const std::string message = failure_of<IOError>([&] { read(file.path()); });
    if (std::ranges::count(ends, length) != 0) EXPECT_EQ(message, "no error") << length;
    else EXPECT_THAT(message, HasSubstr("is truncated")) << length;
  }
  // Every byte of it is under a checksum.
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    file.write(damaged);
    EXPECT_THAT(failure_of<IOError>([&] { read(file.path()); }),
                testing::AllOf(HasSubstr(file.path() + ": record "), HasSubstr("damaged")))
        << at;
  }
}

TEST(Files, ErrorsOfAMapNameTheRecord) {
  const auto examples =
      from_tfrecord(stored_file("records.tfrecord")).map([](const std::string &record) {
        return parse_example(record).numbers.at("pixels");
      });
  const std::string path = stored_file("records.tfrecord");
  EXPECT_THAT(failure_of<IOError>([&] {
                for (const Tensor &x : examples) static_cast<void>(x);
              }),
              HasSubstr("map: element 0 (" + path +
                        ", record 0): parse_example: these bytes are no "
                        "tf.train.Example"));
}

TEST(Files, ExamplesOfAnyBytes) {
  const std::vector<std::string> all = strings(from_tfrecord(stored_file("records.tfrecord")));
  const std::string &good = all[3];
  for (std::size_t length = 0; length < good.size(); ++length)
    if (length != 0) EXPECT_THROW(parse_example(good.substr(0, length)), IOError) << length;
  for (std::size_t at = 0; at < good.size(); ++at)
    for (int change = 1; change < 256; change += 2) {
      std::string damaged = good;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      try {
        parse_example(damaged);
      } catch (const IOError &) { // either is fine; nothing else is
      }
    }
}

} // namespace
} // namespace weft::data
