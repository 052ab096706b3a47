// Archives that are cut, flipped, newer or made up are errors of their file, and never anything
// else.
#include "ExportFixture.h"

#include "Export/Archive.h"
#include "Support/Digest.h"

namespace weft {
namespace {

class Damage : public ExportFixture {
protected:
  void SetUp() override {
    ExportFixture::SetUp();
    const Variable w(numbers({5, 3}), "w"), flags(tensor(std::vector<bool>{true, false}), "flags");
    const Tensor table = numbers({3});
    const auto f =
        function([&](const Tensor &x) { return select(any(flags), matmul(x, w) + table, 0.0f); },
                 {.name = "f", .signature = {spec(f32, {unknown, 5})}});
    export_program(f, file());
    whole_ = read(file());
  }

  /// What loading says of these bytes; fails if it is anything but an IOError of this file.
  std::string fault_of(std::string_view bytes) {
    write(file("bad"), bytes);
    try {
      load_program(file("bad"));
    } catch (const IOError &error) {
      const std::string text = words_of(error), start = file("bad") + ": ";
      EXPECT_TRUE(text.starts_with(start)) << text;
      return text.substr(std::min(text.size(), start.size()));
    } catch (const std::exception &error) {
      ADD_FAILURE() << "another error: " << error.what();
    }
    return "";
  }

  /// The archive with another manifest, and digests that fit it.
  std::string with_manifest(const std::string &text) const {
    const std::uint64_t offset = number(24), size = offset + text.size(), length = text.size();
    std::string bytes = whole_.substr(0, offset) + text;
    std::memcpy(bytes.data() + 16, &size, 8);
    std::memcpy(bytes.data() + 32, &length, 8);
    return signed_again(bytes);
  }
  std::string manifest() const { return whole_.substr(number(24), number(32)); }
  static std::string signed_again(std::string bytes) {
    std::uint64_t offset = 0, length = 0;
    std::memcpy(&offset, bytes.data() + 24, 8);
    std::memcpy(&length, bytes.data() + 32, 8);
    Sha256 sha;
    sha.update(std::string_view(bytes).substr(0, 40));
    sha.update(std::string_view(bytes).substr(offset, length));
    const Digest digest = sha.finish();
    std::memcpy(bytes.data() + 40, digest.data(), digest.size());
    return bytes;
  }
  std::uint64_t number(std::size_t at) const {
    std::uint64_t value = 0;
    std::memcpy(&value, whole_.data() + at, sizeof value);
    return value;
  }

  std::string whole_;
};

TEST_F(Damage, Truncation) {
  EXPECT_NE(fault_of(""), "");
  for (std::size_t size = 1; size < whole_.size(); size += 97)
    EXPECT_NE(fault_of(whole_.substr(0, size)), "") << size;
  EXPECT_EQ(fault_of(whole_.substr(0, whole_.size() - 1)),
            "is truncated: it has " + std::to_string(whole_.size() - 1) + " of " +
                std::to_string(whole_.size()) + " bytes");
  EXPECT_EQ(fault_of(whole_ + "x"), "is damaged: its header does not fit it");
}

TEST_F(Damage, FlippedBits) {
  // Every byte of the header and of the manifest, and steps through the rest.
  std::string bytes = whole_;
  for (std::size_t at = 0; at < bytes.size(); at += at < 72 || at >= number(24) ? 1 : 13) {
    bytes[at] = static_cast<char>(bytes[at] ^ 1 << at % 8);
    EXPECT_NE(fault_of(bytes), "") << "byte " << at;
    bytes[at] = whole_[at];
  }
}

TEST_F(Damage, DamagedWeightsAreSeenUnlessThatIsNotWanted) {
  const std::size_t at = whole_.find(bytes_of(numbers({5, 3})));
  ASSERT_NE(at, whole_.npos);
  std::string bytes = whole_;
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  EXPECT_EQ(fault_of(bytes), "is damaged: 'w' among its weights is not what its digest says");
  const LoadedProgram program = load_program(file("bad"), {.verify_weights = false});
  EXPECT_EQ(program(zeros({1, 5})).size(), 1u);
}

TEST_F(Damage, ANewerVersion) {
  std::string bytes = whole_;
  bytes[8] = 4;
  bytes[12] = 7;
  EXPECT_EQ(fault_of(bytes), "has format 4.7, but this version of Weft reads up to 3.x: load it "
                             "with a newer one, or export it with this one");
  bytes[8] = 1;
  EXPECT_EQ(fault_of(bytes), "has format 1.7, but this version of Weft reads 2.x: load it with an "
                             "older one, or export it again");
  bytes[8] = 2; // a newer minor version is read
  write(file("minor"), signed_again(bytes));
  EXPECT_EQ(load_program(file("minor")).name(), "f");
}

TEST_F(Damage, AnotherFile) {
  EXPECT_EQ(fault_of("PK\3\4 something else"), "is no program: it does not begin with WEFTPROG");
  EXPECT_THROWS(load_program(folder_), IOError, folder_ + ": is a folder");
}

TEST_F(Damage, ManifestsThatWereMadeUp) {
  const std::string text = manifest();
  ASSERT_TRUE(archive::parse_manifest(text).ok());
  const auto replaced = [&](const std::string &from, const std::string &to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << from;
    std::string other = text;
    return fault_of(with_manifest(other.replace(at, from.size(), to)));
  };
  EXPECT_EQ(replaced(R"("name":"f")", R"("name":5)"),
            "its manifest is damaged: manifest.name is no text");
  EXPECT_EQ(replaced(R"("captures":[0])", R"("captures":[7])"),
            "its manifest is damaged: manifest.entries[0].captures[0] is 7, but there are 1");
  EXPECT_EQ(replaced(R"("dtype":"f32")", R"("dtype":"f8")"),
            "its manifest is damaged: manifest.entries[0].inputs[0].dtype is 'f8', which Weft "
            "lacks");
  const auto with_weights = [&](std::uint64_t offset, std::uint64_t size) {
    auto other = archive::parse_manifest(text);
    other->weights.offset = offset;
    other->weights.size = size;
    return fault_of(with_manifest(archive::to_json(*other)));
  };
  const archive::Region weights = archive::parse_manifest(text)->weights;
  EXPECT_EQ(with_weights(1, weights.size),
            "is damaged: its parts lie outside of it or on each other");
  EXPECT_EQ(with_weights(weights.offset, std::uint64_t{1} << 40),
            "is damaged: its parts lie outside of it or on each other");
  EXPECT_EQ(with_weights(~std::uint64_t{0}, weights.size),
            "is damaged: there is something between its parts");
  EXPECT_EQ(replaced(R"("name":"w")", R"("name":"v")"),
            "is damaged: there is no 'v' among its weights");
  EXPECT_EQ(fault_of(with_manifest("{")), "its manifest is no JSON");
  EXPECT_EQ(fault_of(with_manifest("[]")), "its manifest is damaged: manifest lacks 'weft'");
  EXPECT_EQ(fault_of(with_manifest(std::string(1'000'000, '['))), "its manifest is no JSON");
}

TEST_F(Damage, ManifestsAreReadAsTheyWereWritten) {
  auto read = archive::parse_manifest(manifest());
  ASSERT_TRUE(read.ok());
  auto again = archive::parse_manifest(archive::to_json(*read));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*read, *again);
  EXPECT_EQ(read->variables.size(), 2u);
  EXPECT_FALSE(read->entries.at(0).lines.empty());
}

} // namespace
} // namespace weft
