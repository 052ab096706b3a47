// Reports and their plots: tags that close, texts that are escaped, nothing from the network.
#include "../Testing.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>

#include "Train/Chart.h"
#include <weft/train/report.h>
#include <weft/weft.h>

namespace weft {
namespace {

using train::History;

TEST(Chart, Ticks) {
  using V = std::vector<double>;
  EXPECT_EQ(train::ticks(0, 10, 5), (V{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(train::ticks(0.013, 0.094, 5), (V{0.02, 0.04, 0.06, 0.08}));
  EXPECT_EQ(train::ticks(-3, 4, 4), (V{-2, 0, 2, 4}));
  EXPECT_EQ(train::ticks(7, 7, 5), V{7});
  const double most = std::numeric_limits<double>::max();
  EXPECT_GE(train::ticks(-most, most, 5).size(), 2U);
}

// Of many points the least and the largest of each stretch stay.
TEST(Chart, Decimated) {
  std::vector<History::Point> points;
  for (int i = 0; i < 100'000; ++i) points.push_back({i, i == 77'777 ? 9. : std::sin(i * 0.001)});
  const auto kept = train::decimated(points, 1000);
  EXPECT_LE(kept.size(), 1000U);
  EXPECT_TRUE(std::find(kept.begin(), kept.end(), History::Point{77'777, 9.}) != kept.end());
  for (std::size_t i = 1; i < kept.size(); ++i) EXPECT_LT(kept[i - 1].step, kept[i].step);
  EXPECT_EQ(train::decimated(points, 200'000), points);
}

/// The names of a page's elements; a failure unless each that must be closed is.
std::multiset<std::string> elements_of(const std::string &page) {
  static const std::set<std::string> open = {"meta", "img", "!doctype"};
  std::multiset<std::string> all;
  std::vector<std::string> stack;
  for (std::size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at + 1)) {
    const std::size_t end = page.find('>', at);
    if (end == std::string::npos) {
      ADD_FAILURE() << "no end of " << page.substr(at, 40);
      return all;
    }
    std::string tag = page.substr(at + 1, end - at - 1);
    if (tag.starts_with('/')) {
      if (stack.empty() || stack.back() != tag.substr(1)) {
        ADD_FAILURE() << "<" << tag << "> closes <" << (stack.empty() ? "" : stack.back()) << ">";
        return all;
      }
      stack.pop_back();
      continue;
    }
    const bool closed = tag.ends_with('/');
    const std::string name = tag.substr(0, tag.find_first_of(" /"));
    all.insert(name);
    if (!closed && !open.contains(name)) stack.push_back(name);
  }
  EXPECT_TRUE(stack.empty());
  return all;
}

std::string report_of(const History &history, const train::ReportOptions &options) {
  const std::string path = ::testing::TempDir() + "weft-report.html";
  train::write_report(path, history, options);
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

History curves() {
  History history;
  for (int i = 1; i <= 20; ++i) {
    history.add("loss", i, std::exp(-i));
    history.add("val_loss", i, std::exp(-i) + (i == 5 ? std::nan("") : 0.01));
    history.add("a <b> & \"c\"", i, i);
  }
  return history;
}

TEST(Report, Whole) {
  const std::string page =
      report_of(curves(), {.title = "<script>alert(1)</script>",
                           .configuration = {{"rate", "0.001"}, {"</table>", "'&'"}},
                           .model = "Dense  (None, 3)\n",
                           .resources = curves(),
                           .times = {{"compile", 0.5}, {"train", 2.25}},
                           .confusion = tensor({{3, 1}, {0, 5}}),
                           .classes = {"cat", "<dog>"},
                           .pictures = {{random::uniform({5, 4}, {.seed = 1}), "took 3 for 8"},
                                        {ones({2, 2, 3}, i32), ""}},
                           .tables = {{"Profile", {{"op", "ms"}, {"matmul", "3"}}}}});
  const std::multiset<std::string> elements = elements_of(page);
  EXPECT_EQ(elements.count("svg"), 4U); // loss with its validation, and the other; twice
  EXPECT_EQ(elements.count("img"), 2U);
  EXPECT_EQ(elements.count("script"), 0U);
  EXPECT_EQ(elements.count("link"), 0U);
  for (const char *part : {"default-src 'none'", "cat", "&lt;dog&gt;", "took 3 for 8", "matmul",
                           "Dense  (None, 3)", "&lt;script&gt;", "&lt;/table&gt;",
                           "a &lt;b&gt; &amp; &quot;c&quot;", "data:image/png;base64,iVBORw0KGgo"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  // A NaN breaks a line in two.
  const std::size_t validation = page.find("data-name=\"val_loss\"");
  const std::string group = page.substr(validation, page.find("</g>", validation) - validation);
  EXPECT_EQ(elements_of("<g " + group + "</g>").count("polyline"), 2U);
  for (const char *part : {"http://", "https://", "src=\"//", "url("})
    EXPECT_EQ(page.find(part), std::string::npos) << part;
}

TEST(Report, ProfilesMemoryAndVersions) {
  const auto f = function([](const Tensor &x) { return sum(exp(x) * 2); }, {.name = "energy<T>"});
  Profile profile;
  f(zeros({1 << 18}));
  tanh(ones({4}));
  profile.stop();
  const std::string page = report_of(curves(), {.profile = &profile});
  elements_of(page);
  for (const char *text :
       {"Profile: eager ops", "<td>tanh</td><td>ReportTest.cpp:",
        "Profile: inside of compiled functions", "exp multiply", "Profile: all else",
        "function energy&lt;T&gt;", "Profile: memory", "Versions", "<td>Weft</td><td>0."})
    EXPECT_NE(page.find(text), std::string::npos) << text;
}

TEST(Report, Empty) {
  const std::string page = report_of({}, {});
  elements_of(page);
  EXPECT_NE(page.find("<h1>Training run</h1>"), std::string::npos);
}

// A long run makes no large page.
TEST(Report, Large) {
  History history;
  for (int i = 0; i < 300'000; ++i) history.add("loss", i, std::cos(i));
  const std::string page = report_of(
      history, {.confusion = zeros({100, 100}),
                .pictures = std::vector<train::ReportPicture>(100, {zeros({28, 28}), "x"})});
  elements_of(page);
  EXPECT_LT(page.size(), 500'000U);
  EXPECT_NE(page.find("The first 64 of 100 classes."), std::string::npos);
  EXPECT_NE(page.find("The first 64 of 100."), std::string::npos);
}

TEST(Report, Refusals) {
  EXPECT_THROW(train::write_report("/nothing/here.html", {}), IOError);
  EXPECT_THROWS(report_of({}, {.confusion = zeros({2, 3})}), ShapeError,
                "write_report: the confusion matrix must be (classes, classes), but is f32(2, 3)");
  EXPECT_THROWS(report_of({}, {.confusion = zeros({2, 2}), .classes = {"one"}}), ValueError,
                "write_report: there are 1 names of classes, but 2 classes");
}

} // namespace
} // namespace weft
