// Histories: series, the best values, tables and plots, by values worked out by hand.
#include "../Testing.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>

#include <weft/train.h>

namespace weft {
namespace {

using train::Goal;
using train::History;
using Points = std::vector<History::Point>;

History small() {
  History history;
  history.add("loss", 0, 2.5);
  history.add("loss", 1, 0.5);
  history.add("val, \"loss\"", 1, std::nan(""));
  history.add("loss", 3, 1. / 3);
  return history;
}

TEST(History, Series) {
  History history = small();
  EXPECT_EQ(history.names(), (std::vector<std::string>{"loss", "val, \"loss\""}));
  EXPECT_EQ(history.series("loss"), (Points{{0, 2.5}, {1, 0.5}, {3, 1. / 3}}));
  // A value of the same step replaces the other.
  history.add("loss", 3, 7);
  EXPECT_EQ(history.last("loss"), 7);
  history.drop_after(1);
  EXPECT_EQ(history.series("loss"), (Points{{0, 2.5}, {1, 0.5}}));
  history.drop_after(0);
  EXPECT_EQ(history.names(), std::vector<std::string>{"loss"});
}

TEST(History, Best) {
  History history;
  for (const double value : {3., std::nan(""), 1., 5., 1., 5.})
    history.add("x",
                static_cast<std::int64_t>(history.contains("x") ? history.series("x").size() : 0),
                value);
  EXPECT_EQ(history.best("x"), (History::Point{2, 1}));
  EXPECT_EQ(history.best("x", Goal::highest), (History::Point{3, 5}));
}

TEST(History, Refusals) {
  History history = small();
  EXPECT_THROWS(history.add("", 0, 1), ValueError, "History: the name of a series is empty");
  EXPECT_THROWS(history.add("loss", 2, 1), ValueError,
                "History: 'loss' has a value of step 3 already, and step 2 lies before it");
  EXPECT_THROWS(history.series("lost"), IndexError,
                "History: there is no series 'lost', but 'loss', 'val, \"loss\"'");
  EXPECT_THROWS(History().series("x"), IndexError,
                "History: there is no series 'x', but no other either");
  EXPECT_THROWS(history.best("val, \"loss\""), IndexError,
                "History: all values of 'val, \"loss\"' are NaN: none is best");
}

TEST(History, Csv) {
  const std::string path = ::testing::TempDir() + "weft-history.csv";
  History history = small();
  history.add("loss", 4, std::numeric_limits<double>::denorm_min());
  history.add("loss", 5, -HUGE_VAL);
  history.save_csv(path);
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(),
            "step,loss,\"val, \"\"loss\"\"\"\n0,2.5,\n1,0.5,nan\n3,0.3333333333333333,\n"
            "4,5e-324,\n5,-inf,\n");
  const History read = History::load_csv(path);
  EXPECT_EQ(read.names(), history.names());
  EXPECT_EQ(read.series("loss"), history.series("loss"));
  EXPECT_TRUE(std::isnan(read.last("val, \"loss\"")));
}

TEST(History, DamagedCsv) {
  const std::string path = ::testing::TempDir() + "weft-damaged.csv";
  const auto expect = [&](const std::string &text, const std::string &what) {
    std::ofstream(path) << text;
    EXPECT_THROWS(History::load_csv(path), IOError, path + ": " + what);
  };
  expect("", "line 1 is missing: there must be a header, step and the names of the series");
  expect("step,a,a\n", "line 1 has a name twice");
  expect("step,\n", "line 1 has an empty name");
  expect("step,\"a\n", "line 1 has a quote that is never closed");
  expect("step,a\n1,2\n\n", "line 3 has 1 fields, but there are 2 columns");
  expect("step,a\n1,2,3\n", "line 2 has 3 fields, but there are 2 columns");
  expect("step,a\n1,x\n", "line 2 has 'x', which is no number");
  expect("step,a\n1.5,1\n", "line 2 begins with '1.5', which is no step");
  expect("step,a\n2,1\n1,1\n", "line 3 has step 1, which does not lie behind the one before");
  expect("step,\"a\nb\"\n1,1\nx,1\n", "line 4 begins with 'x', which is no step");
  EXPECT_THROW(History::load_csv("/nothing/here"), IOError);
}

TEST(History, InCheckpoints) {
  const History history = small();
  History other;
  other.add("other", 1, 1);
  other.check_state(history.saved_state());
  other.restore_state(history.saved_state());
  EXPECT_EQ(other.saved_state(), history.saved_state());
  EXPECT_THROWS(other.check_state("step,a\n1\n"), ValueError,
                "line 2 has 1 fields, but there are 2 columns");
}

TEST(History, Table) {
  std::ostringstream text;
  text << small();
  EXPECT_EQ(text.str(), "step    loss  val, \"loss\"\n"
                        "   0     2.5             \n"
                        "   1     0.5          nan\n"
                        "   3  0.3333             \n");
}

/// Sets the locale that the environment names for as long as it lives.
struct Locale {
  explicit Locale(const char *value) { setenv("LC_ALL", value, 1); }
  ~Locale() { unsetenv("LC_ALL"); }
  Locale(const Locale &) = delete;
  Locale &operator=(const Locale &) = delete;
};

TEST(History, PlotOfMarks) {
  History history;
  for (int i = 0; i < 5; ++i) {
    history.add("up", i, i);
    history.add("down", i, 4 - i);
  }
  EXPECT_EQ(history.plot({}, {.width = 20, .height = 5, .ascii = true}), "   * up   + down\n"
                                                                         "4 |+++           ***\n"
                                                                         "3 |   ++++   ****\n"
                                                                         "2 |      *++++\n"
                                                                         "1 |  ****     ++++\n"
                                                                         "0 |**             ++\n"
                                                                         "  +-----------------\n"
                                                                         "   0               4\n");
}

TEST(History, PlotOfDots) {
  const Locale locale("C.UTF-8");
  History history;
  for (int i = 0; i < 3; ++i) history.add("x", i, std::pow(10, i));
  EXPECT_EQ(history.plot({}, {.width = 20, .height = 3, .log_scale = true}),
            "     x\n"
            "100 ┤          ⣀⡠⠔⠒⠉\n"
            " 10 ┤     ⣀⡠⠔⠊⠉\n"
            "  1 ┤⣀⠤⠔⠊⠉\n"
            "    └───────────────\n"
            "     0             2\n");
}

TEST(History, PlotsOfOddSeries) {
  History history;
  history.add("nan", 0, std::nan(""));
  EXPECT_EQ(history.plot(), "nothing to plot: no value is finite\n");
  history.add("one", 7, 3);
  EXPECT_NE(history.plot({"one"}, {.width = 20, .height = 2, .ascii = true}).find('*'),
            std::string::npos);
  const double most = std::numeric_limits<double>::max();
  history.add("far", 0, -most);
  history.add("far", std::numeric_limits<std::int64_t>::max(), most);
  EXPECT_NE(history.plot({"far"}, {.width = 30, .height = 4}).size(), 0U);
  EXPECT_THROWS(history.plot({"lost"}), IndexError,
                "History: there is no series 'lost', but 'nan', 'one', 'far'");
  EXPECT_THROWS(history.plot({}, {.width = 3}), ValueError,
                "History::plot: the plot is 3 x 12, but must be at least 20 x 2, and at most 10000 "
                "each way");
}

} // namespace
} // namespace weft
