// Tests of optimizers' state in parts: how it is cut, its bits and memory, and checkpoints that
// ranks write together, are killed in, and that others go on from.
#include "Launch.h"

#include <filesystem>
#include <fstream>
#include <numeric>

#include <unistd.h>

#include "NN/Optimizers/Shards.h"

namespace weft::distributed {
namespace {

using optimizers::detail::Cut, optimizers::detail::Piece;
using testing::HasSubstr;
using testing::Not;

TEST(Cut, GivesEachElementToOneRankAndAllTheSame) {
  const std::vector<std::vector<Cut::Sized>> models = {{{1, 4}},
                                                       {{0, 4}, {3, 8}, {5, 2}},
                                                       {{1'000'003, 4}},
                                                       {{7, 4}, {1'000'003, 4}, {7, 8}, {40, 2}},
                                                       std::vector<Cut::Sized>(100, {1, 4})};
  std::vector<std::pair<int, bool>> kinds;
  for (const int ranks : {1, 2, 3, 4, 7, 8, 64})
    for (const bool alone : {false, true}) kinds.emplace_back(ranks, alone);
  for (const std::vector<Cut::Sized> &model : models)
    for (const auto &[ranks, alone] : kinds) {
      const Cut cut(model, ranks, alone);
      std::int64_t bytes = 0;
      for (const Cut::Sized &variable : model)
        bytes += variable.elements * static_cast<std::int64_t>(variable.item_size);
      std::vector<std::int64_t> of_rank(static_cast<std::size_t>(ranks));
      for (std::size_t i = 0; i < model.size(); ++i) {
        std::int64_t at = 0;
        for (int rank = 0; rank < ranks; ++rank) {
          const Piece piece = cut.piece(i, rank);
          if (piece.size() == 0) continue;
          EXPECT_EQ(piece.begin, at);
          at = piece.end;
          of_rank[static_cast<std::size_t>(rank)] +=
              piece.size() * static_cast<std::int64_t>(model[i].item_size);
        }
        EXPECT_EQ(at, model[i].elements);
      }
      if (alone) continue;
      // A part of each run ends within an element.
      const std::int64_t runs = std::max<std::int64_t>(bytes / Cut::kRunBytes, 1);
      for (const std::int64_t own : of_rank) EXPECT_LE(own, bytes / ranks + 8 * runs);
    }
}

/// Gradients of a layer come together, and all ranks are to have work with them.
TEST(Cut, GivesAllRanksPartsOfEachLayer) {
  constexpr std::int64_t elements = Cut::kRunBytes / 4;
  // Layers of a matrix and a bias; the last is too small for a run of its own.
  const Cut cut({{elements, 4}, {100, 4}, {4 * elements, 4}, {100, 4}, {elements / 2, 4}}, 4,
                false);
  for (const std::size_t layer : {0, 2})
    for (int rank = 0; rank < 4; ++rank)
      EXPECT_GT(cut.piece(layer, rank).size(), elements / 8) << layer << " of rank " << rank;
  EXPECT_EQ(cut.piece(4, 0).size(), 0);
  EXPECT_GT(cut.piece(4, 3).size(), 0);
}

TEST(Cut, HasWideElementsFirst) {
  const Cut cut({{3, 2}, {3, 8}, {3, 4}, {1, 8}}, 2, false);
  EXPECT_EQ(cut.order(), (std::vector<std::size_t>{1, 3, 2, 0}));
}

TEST_F(Ranks, HaveTheBitsOfWholeStateWhereTheyHaveParts) {
  const std::string alone =
      digests(run("env WEFT_NUM_THREADS=1 " + kProgram + " sharding bits").text);
  EXPECT_EQ(count_of(alone, " of "), 9U) << alone;
  for (const int ranks : worlds()) {
    const Output output = on_ranks(ranks, "sharding bits");
    EXPECT_EQ(output.status, 0) << output.text;
    EXPECT_THAT(output.text, Not(HasSubstr("WRONG")));
    EXPECT_EQ(digests(output.text), alone) << ranks << " ranks";
  }
}

TEST_F(Ranks, SendLessWhereGradientsAreInParts) {
  for (const int ranks : worlds()) expect_done(ranks, "sharding traffic");
}

TEST_F(Ranks, HoldTheirPartOfTheStateAlone) {
  for (const int ranks : worlds()) expect_done(ranks, "sharding memory");
}

TEST_F(Ranks, UpdateByHandWithPartsOfTheState) {
  for (const int ranks : worlds()) expect_done(ranks, "sharding hand");
}

TEST_F(Ranks, UseWeightsThatTheyHavePartsOf) {
  for (const int ranks : worlds()) expect_done(ranks, "sharding weights");
}

TEST_F(Ranks, HaveReplicasThatDependOnDifferentVariables) {
  expect_done(1, "sharding some");
  const Output output = on_ranks(2, "sharding some");
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_GE(count_of(output.text, "and rank 1 step 1 of 8 rows"), 2U) << output.text;
}

TEST_F(Ranks, HearWhatCannotBeCut) {
  for (const int ranks : worlds()) {
    if (ranks != 2 && ranks != 4) continue;
    const Output output = on_ranks(ranks, "sharding refused");
    EXPECT_EQ(output.status, 0) << output.text;
    EXPECT_THAT(output.text, Not(HasSubstr("WRONG")));
    const std::string size = std::to_string(ranks), last = std::to_string(ranks - 1);
    for (const std::string &words :
         {std::string(
              "3 Adam: shard_state: clip_global_norm takes norms of whole gradients, of which "
              "a rank would have a part: clip_value can be used, or shard_state = optimizer"),
          std::string("4 fit: ranks do not do the same: rank 0 has shard_state = gradients, and "
                      "rank 1 shard_state = optimizer"),
          std::string(
              "3 Lamb: shard_state: an update takes norms of whole variables, of which a rank "
              "would have a part; the state of SGD, Adam, AdamW, RMSprop, Adagrad, "
              "Adadelta, Lion can be cut"),
          std::string("3 Adam: shard_state: with accumulate, clip_norm takes norms of what is"),
          std::string("3 Adam: shard_state: with accumulate, clip_global_norm takes norms"),
          "4 Adam: the state is cut over " + size + " ranks, which a traced function cannot update",
          std::string("4 Checkpoint::save: 'adam.slots.m.0' is cut over ") + size + " ranks: call",
          "4 fit: ranks do not do the same: rank 0 has shard_state = optimizer, and rank " + last +
              " no shard_state",
          std::string("3 fit: shard_state is for the ranks of a parallel run"),
          "4 assign_add: assigns: the variable 'cut' is cut over " + size +
              " ranks, which a traced function cannot assign: assign it behind the call, or call "
              "the optimizer's gather_state() first",
          "4 takes: the variable 'cut' is cut over " + size + " ranks, and an argument",
          "3 export_program: the variable 'cut' is cut over " + size + " ranks: call",
          "4 save_weights: 'variable' is cut over " + size + " ranks: call the optimizer's",
          "4 SGD: shard_state: the variable 'cut' is cut over " + size +
              " ranks: call gather_state() first",
          "4 Adam: shard_state: the state is cut over " + size +
              " ranks, with the weights: call gather_state() first",
          std::string("3 Adam: shard_state: clip_norm takes norms of whole gradients"),
          "4 fit: the optimizer's state is cut over " + size +
              " ranks, of which this call is none"})
      EXPECT_GE(count_of(output.text, words), static_cast<std::size_t>(ranks)) << words << "\n"
                                                                               << output.text;
    EXPECT_GE(count_of(output.text, "has no value any more: the state of its optimizer was cut"),
              static_cast<std::size_t>(ranks))
        << output.text;
  }
}

TEST_F(Ranks, ChangeNothingWhereOneRefusesAnUpdate) {
  const Output output = on_ranks(2, "sharding undone");
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_THAT(output.text, Not(HasSubstr("WRONG")));
  for (const char *const words :
       {"rank 0: Adam: the variable 'w' is f32(4,), but its gradient is f32(5,)",
        "rank 0 has an update, without a gradient of 'v'",
        "rank 0: Adam: there are 1 gradients for 2 parameters", "rank 0 has 'w' of",
        "learning_rate = "})
    EXPECT_THAT(output.text, HasSubstr(words)) << output.text;
}

//===----------------------------------------------------------------------===//
// Checkpoints in parts
//===----------------------------------------------------------------------===//

class Parts : public Ranks {
protected:
  void SetUp() override {
    Ranks::SetUp();
    if (IsSkipped()) return;
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    // Runs of the same program compile it once.
    cache_ = from_environment("WEFT_CACHE", "");
    setenv("WEFT_CACHE", at("cache").c_str(), 1); // NOLINT(concurrency-mt-unsafe): the only thread
  }
  void TearDown() override {
    if (IsSkipped()) return;
    // NOLINTBEGIN(concurrency-mt-unsafe): the only thread
    if (cache_.empty()) unsetenv("WEFT_CACHE");
    else setenv("WEFT_CACHE", cache_.c_str(), 1);
    // NOLINTEND(concurrency-mt-unsafe)
    std::filesystem::remove_all(folder_);
  }

  std::string at(const std::string &name) const { return folder_ + "/" + name; }
  void copy(const std::string &from, const std::string &to) const {
    std::filesystem::copy(at(from), at(to), std::filesystem::copy_options::recursive);
  }
  /// The names in a folder of a run, in order.
  std::vector<std::string> names_in(const std::string &run) const {
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(at(run)))
      names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
  }
  static std::string whole() {
    static const auto &digest = *new std::string(
        digests(run("env WEFT_NUM_THREADS=1 " + kProgram + " training whole,8").text));
    return digest;
  }
  /// What rank 0 says of a run that goes on.
  std::string gone_on(int ranks, const std::string &how, const std::string &run) const {
    const Output output = on_ranks(ranks, "training " + how + "," + at(run));
    EXPECT_THAT(output.text, Not(HasSubstr("WRONG")));
    return digests(output.text);
  }

  std::string cache_;
  const std::string folder_ = testing::TempDir() + "weft-parts-" + std::to_string(getpid());
};

TEST_F(Parts, OfOneNumberOfRanksAreReadByAnyOther) {
  const std::vector<int> others = worlds();
  const int ranks = others.size() > 1 ? 4 : others.front();
  const Output paused = on_ranks(ranks, "training pause-cut," + at("saved"));
  EXPECT_EQ(count_of(paused.text, ": paused\n"), static_cast<std::size_t>(ranks)) << paused.text;
  // The third and the fourth of a run, and a last one where it paused: the first ones have gone.
  EXPECT_EQ(names_in("saved"), (std::vector<std::string>{"ckpt-3", "ckpt-4", "ckpt-5"}));
  std::vector<std::string> files = {"model.safetensors.index.json"};
  for (int rank = 0; rank < ranks; ++rank)
    files.push_back(std::to_string(rank) + "-of-" + std::to_string(ranks) + ".safetensors");
  std::ranges::sort(files);
  EXPECT_EQ(names_in("saved/ckpt-5"), files);
  for (const int other : others) {
    const std::string run = "cut-" + std::to_string(other);
    copy("saved", run);
    EXPECT_EQ(gone_on(other, "resume-cut", run), whole()) << other << " ranks";
  }
  // By ranks that have whole state, and from their checkpoints to parts.
  copy("saved", "whole");
  EXPECT_EQ(gone_on(ranks, "resume", "whole"), whole());
  copy("saved", "gradients");
  EXPECT_EQ(gone_on(ranks, "resume-gradients", "gradients"), whole());
  on_ranks(ranks, "training pause-gradients," + at("of-gradients"));
  copy("of-gradients", "of-gradients-cut");
  copy("of-gradients", "of-gradients-whole");
  EXPECT_EQ(gone_on(1, "resume-gradients", "of-gradients"), whole());
  EXPECT_EQ(gone_on(ranks, "resume-cut", "of-gradients-cut"), whole());
  EXPECT_EQ(gone_on(ranks, "resume", "of-gradients-whole"), whole());
  on_ranks(ranks, "training pause-weights," + at("of-weights"));
  for (const char *const how : {"resume", "resume-cut", "resume-gradients"}) {
    const std::string run = std::string("of-weights-") + how;
    copy("of-weights", run);
    EXPECT_EQ(gone_on(ranks, how, run), whole()) << how;
  }
  for (const int other : others) {
    const std::string run = "of-weights-" + std::to_string(other);
    copy("of-weights", run);
    EXPECT_EQ(gone_on(other, "resume-weights", run), whole()) << other << " ranks";
  }
  copy("saved", "to-weights");
  EXPECT_EQ(gone_on(ranks, "resume-weights", "to-weights"), whole());
  on_ranks(1, "training pause-8," + at("file"));
  EXPECT_EQ(gone_on(ranks, "resume-cut", "file"), whole());
}

TEST_F(Parts, AreNoCheckpointBeforeAllOfThemAreThere) {
  const Output killed = on_ranks(2, "training killed," + at("run"));
  EXPECT_NE(killed.status, 0);
  const std::vector<std::string> names = names_in("run");
  EXPECT_EQ(
      std::ranges::count_if(
          names, [](const std::string &name) { return name == "ckpt-1" || name == "ckpt-2"; }),
      2);
  for (const std::string &name : names)
    EXPECT_TRUE(name == "ckpt-1" || name == "ckpt-2" || name.find(".tmp-") != std::string::npos)
        << name;
  EXPECT_EQ(gone_on(2, "resume-cut", "run"), whole());
}

TEST_F(Parts, GoOnBesideAChildThatLeavesTheRun) {
  const Output output = on_ranks(2, "training forked," + at("run"));
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_THAT(output.text, Not(HasSubstr("WRONG")));
  EXPECT_EQ(digests(output.text), whole()) << output.text;
}

/// At calls that files are made by; WEFT_TEST_KILLS says at how many: a few, or hundreds, in rounds
/// over all of them.
TEST_F(Parts, AreGoneOnFromWhereverARankIsKilled) {
  const int kills = std::stoi(from_environment("WEFT_TEST_KILLS", "2"));
  const std::string untroubled = on_ranks(2, "training dies," + at("untroubled") + ",0").text;
  const auto calls_of = [&](int rank) {
    const std::string words = "rank " + std::to_string(rank) + ": calls done: ";
    const std::size_t at = untroubled.find(words);
    return at == std::string::npos ? 0 : std::stoi(untroubled.substr(at + words.size()));
  };
  const int calls[] = {calls_of(0), calls_of(1)};
  ASSERT_GT(std::min(calls[0], calls[1]), 9) << untroubled;
  for (int i = 0; i < kills; ++i) {
    const std::string run = at("kill-" + std::to_string(i));
    const int rank = i % 2, call = (4 + i / 2) % calls[rank] + 1;
    const Output output =
        on_ranks(2, "training dies," + run + "," + std::to_string(rank == 0 ? -call : call));
    EXPECT_NE(output.status, 0) << output.text;
    const std::string again = " training dies," + run + ",0";
    EXPECT_EQ(digests(on_ranks(1 + i % 3, again).text), whole())
        << "call " << call << " of rank " << rank;
    std::filesystem::remove_all(run);
  }
}

TEST_F(Parts, ThatAreLostOrDamagedAreNamed) {
  on_ranks(2, "training pause-cut," + at("run"));
  const auto damage = [&](const std::string &part) {
    std::fstream file(at(part), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    const int last = file.peek();
    file.seekp(-1, std::ios::end);
    file.put(static_cast<char>(last ^ 1));
  };
  const std::string part = "/1-of-2.safetensors";
  // All go on from the checkpoint before, of which no rank finds a fault.
  copy("run", "older");
  damage("older/ckpt-5" + part);
  EXPECT_EQ(gone_on(2, "resume-cut", "older"), whole());
  copy("run", "lost");
  std::filesystem::remove(at("lost/ckpt-5" + part));
  EXPECT_EQ(gone_on(2, "resume-cut", "lost"), whole());
  // Where there is none, all say which part it is, and of what.
  for (const std::string &name : {"ckpt-3", "ckpt-4"})
    std::filesystem::remove_all(at("run/" + name));
  copy("run", "none");
  damage("run/ckpt-5" + part);
  const Output damaged = on_ranks(2, "training broken," + at("run"));
  EXPECT_EQ(count_of(damaged.text, "has checkpoints, but all of them are broken: "), 2U)
      << damaged.text;
  EXPECT_THAT(damaged.text, HasSubstr("ckpt-5/1-of-2.safetensors: 'optimizer.slots."));
  EXPECT_THAT(damaged.text, HasSubstr("is damaged: it is not what its digest says"));
  std::filesystem::remove(at("none/ckpt-5" + part));
  const Output lost = on_ranks(2, "training broken," + at("none"));
  EXPECT_EQ(count_of(lost.text, "has checkpoints, but all of them are broken"), 2U) << lost.text;
  EXPECT_THAT(lost.text, HasSubstr("ckpt-5/1-of-2.safetensors: "));
  EXPECT_THAT(lost.text, HasSubstr("(it is to have '"));
}

} // namespace
} // namespace weft::distributed
