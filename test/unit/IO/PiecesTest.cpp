// Tensors whose pieces are in several files with an index: whole ones, runs of them, and indices
// and files that do not fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

#include "IO/Safetensors.h"
#include "Support/Files.h"
#include <weft/ops.h>

namespace weft {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// What reading says that is refused.
template <class F>
std::string words_of(const F &read) {
  try {
    read();
    return "";
  } catch (const IOError &error) {
    return std::string(error.message());
  }
}

struct Part {
  std::string name; ///< of the tensor in the file
  PieceOfTensor piece;
  Tensor elements;
};

class Pieces : public testing::Test {
protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string at(const std::string &name) const { return folder_ + "/" + name; }

  void write(const std::string &name, const std::vector<Part> &parts,
             const std::map<std::string, Tensor> &whole = {}) {
    std::vector<SafetensorsItem> items;
    std::map<std::string, std::string> texts;
    for (const Part &part : parts) {
      items.push_back({part.name, part.elements});
      texts[std::string(kPiecePrefix) + part.name] = part.piece.text();
    }
    for (const auto &[of, tensor] : whole) items.push_back({of, tensor});
    AtomicFile file(at(name));
    write_safetensors(file, std::move(items), std::move(texts));
    file.commit();
  }
  /// Of these files as they are now.
  std::string index(const std::vector<std::string> &names) {
    std::vector<std::unique_ptr<SafetensorsShard>> shards;
    std::vector<std::pair<std::string, const SafetensorsShard *>> files;
    for (const std::string &name : names) {
      shards.push_back(std::make_unique<SafetensorsShard>(at(name)));
      files.emplace_back(name, shards.back().get());
    }
    const std::string path = at("model.safetensors.index.json");
    std::ofstream(path) << make_safetensors_index(files);
    return path;
  }
  std::string fault(const std::vector<Part> &first, const std::vector<Part> &second) {
    write("a.safetensors", first);
    write("b.safetensors", second);
    const std::string path = index({"a.safetensors", "b.safetensors"});
    return words_of([&] { SafetensorsFile(path).load("w"); });
  }

  static Part part(std::int64_t begin, std::int64_t end, const Shape &whole = {3, 4},
                   DType dtype = DType::f32) {
    return {"w[" + std::to_string(begin) + "]",
            {.of = "w", .whole = whole, .begin = begin},
            arange(begin, end).astype(dtype)};
  }

  const std::string folder_ = ::testing::TempDir() + "weft-pieces-" + std::to_string(getpid());
};

TEST_F(Pieces, AreOneTensor) {
  // In no order, beside one that is whole, one without elements, and a scalar.
  write("b.safetensors", {part(5, 6), {"none[0]", {.of = "none", .whole = {0, 2}}, zeros({0})}},
        {{"bias", ones({2})}});
  write("a.safetensors", {part(6, 12), part(0, 5), {"s[0]", {.of = "s", .whole = {}}, ones({1})}});
  const SafetensorsFile file(index({"a.safetensors", "b.safetensors"}));
  EXPECT_EQ(file.load("w").to_vector<float>(), arange(12).astype(DType::f32).to_vector<float>());
  EXPECT_EQ(file.load("w").shape(), Shape({3, 4}));
  EXPECT_EQ(file.load("none").shape(), Shape({0, 2}));
  EXPECT_EQ(file.load("s").item<float>(), 1);
  EXPECT_EQ(file.entries().size(), 4U);
  EXPECT_EQ(file.find("w")->bytes, 48U);
  for (std::int64_t begin = 0; begin <= 12; ++begin)
    for (std::int64_t end = begin; end <= 12; ++end) {
      const std::vector<Tensor> run = load_tensors(file, {{"w", std::pair(begin, end)}}, {});
      EXPECT_EQ(run[0].to_vector<float>(),
                arange(begin, end).astype(DType::f32).to_vector<float>());
    }
  // Other readers have what each file has.
  EXPECT_EQ(SafetensorsFile(at("a.safetensors")).load("w[6]").size(), 6);
}

TEST_F(Pieces, ThatAreLargeAreReadInPart) {
  const std::int64_t count = (std::int64_t{1} << 19) + 3; // more than is read at a time
  write("a.safetensors", {part(0, count, {2, count})});
  write("b.safetensors", {part(count, 2 * count, {2, count})});
  const SafetensorsFile file(index({"a.safetensors", "b.safetensors"}));
  const std::vector<Tensor> run =
      load_tensors(file, {{"w", std::pair(count - 2, 2 * count - 1)}}, {});
  EXPECT_EQ(run[0].size(), count + 1);
  EXPECT_EQ(sum(not_equal(run[0], arange(count - 2, 2 * count - 1).astype(DType::f32)))
                .item<std::int64_t>(),
            0);
}

TEST_F(Pieces, MustFitEachOther) {
  EXPECT_THAT(fault({part(0, 5)}, {part(6, 12)}),
              HasSubstr("index.json: lacks elements of 'w' from number 5 on"));
  EXPECT_THAT(fault({part(0, 5)}, {part(4, 12)}), HasSubstr("from number 5 on, or has some twice"));
  EXPECT_THAT(fault({part(0, 5)}, {part(5, 11)}), HasSubstr("from number 11 on"));
  EXPECT_THAT(fault({part(0, 5)}, {part(5, 13)}), HasSubstr("from number 13 on"));
  EXPECT_THAT(fault({part(1, 5)}, {part(5, 12)}), HasSubstr("from number 0 on"));
  EXPECT_THAT(fault({part(0, 5)}, {part(5, 12, {4, 3})}),
              HasSubstr("has 'w[5]', which is a piece of another tensor than 'w[0]'"));
  EXPECT_THAT(fault({part(0, 5)}, {part(5, 12, {3, 4}, DType::f64)}),
              HasSubstr("is a piece of another tensor"));
  Part square = part(5, 12);
  square.elements = square.elements.reshape({7, 1});
  EXPECT_THAT(fault({part(0, 5)}, {square}),
              HasSubstr("b.safetensors: has 'w[5]', which is no piece of a tensor"));
  Part twice = part(0, 2, {2});
  twice.piece.of = "bias";
  write("a.safetensors", {twice}, {{"bias", ones({2})}});
  EXPECT_THAT(words_of([&] { SafetensorsFile(index({"a.safetensors"})); }),
              HasSubstr("has 'bias' as a whole and in pieces"));
}

TEST_F(Pieces, AreThoseThatTheIndexWasMadeOf) {
  write("a.safetensors", {part(0, 5)});
  write("b.safetensors", {part(5, 12)});
  const std::string path = index({"a.safetensors", "b.safetensors"});
  // A file of another save, whole in itself.
  Part other = part(5, 12);
  other.elements = other.elements + 1.0F;
  write("b.safetensors", {other});
  EXPECT_THAT(words_of([&] { SafetensorsFile{path}; }),
              AllOf(HasSubstr("is of another b.safetensors than the one that is there"),
                    HasSubstr("'w[5]'")));
  std::filesystem::remove(at("b.safetensors"));
  EXPECT_THAT(words_of([&] { SafetensorsFile{path}; }),
              AllOf(HasSubstr("b.safetensors: "), HasSubstr("(it is to have 'w[5]')")));
}

TEST_F(Pieces, AreTextsThatAreRead) {
  for (const PieceOfTensor &piece : {PieceOfTensor{.of = "a b", .whole = {3, 0, 4}, .begin = 7},
                                     PieceOfTensor{.of = "x", .whole = {}}}) {
    const std::optional<PieceOfTensor> read = PieceOfTensor::parse(piece.text());
    ASSERT_TRUE(read);
    EXPECT_EQ(read->of, piece.of);
    EXPECT_EQ(read->whole, piece.whole);
    EXPECT_EQ(read->begin, piece.begin);
  }
  std::string deep = "0 1";
  for (int i = 0; i < 64; ++i) deep += ",1";
  for (const std::string &text :
       {std::string(), std::string("1"), std::string("1 2"), std::string("1 2 "),
        std::string("-1 2 w"), std::string("1 2,-3 w"), std::string("x 2 w"),
        std::string("1 2,,3 w"), std::string("99999999999999999999 1 w"), deep + " w"})
    EXPECT_FALSE(PieceOfTensor::parse(text)) << text;
}

} // namespace
} // namespace weft
