// Progress bars, in a terminal (a pty) and in a pipe.
#include "../Testing.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <pty.h>
#include <unistd.h>

#include <weft/train.h>

namespace weft {
namespace {

using train::ProgressBar;

/// In a locale without other characters.
class Progress : public ::testing::Test {
protected:
  Progress() { setenv("LC_ALL", "C", 1); }
  ~Progress() override { unsetenv("LC_ALL"); }
};

/// The two ends of a channel.
struct Channel {
  int reader = -1, writer = -1;
  ~Channel() {
    close(reader);
    close(writer);
  }
  /// What was written so far.
  std::string text() const {
    fcntl(reader, F_SETFL, O_NONBLOCK);
    std::string all;
    char buffer[4096];
    for (ssize_t count; (count = read(reader, buffer, sizeof buffer)) > 0;)
      all.append(buffer, static_cast<std::size_t>(count));
    return all;
  }
};

TEST_F(Progress, InAPipe) {
  Channel pipe;
  ASSERT_EQ(::pipe(&pipe.reader), 0);
  {
    const ProgressBar bar({.label = "epoch 1/3", .total = 1000, .descriptor = pipe.writer});
    for (int i = 0; i < 1000; ++i) bar.advance();
    bar.show("loss", 0.25);
    EXPECT_EQ(bar.steps(), 1000);
    EXPECT_GT(bar.rate(), 0);
  }
  const std::string text = pipe.text();
  // One line, at the end, with no control characters.
  EXPECT_TRUE(text.starts_with("epoch 1/3  1000/1000 ")) << text;
  EXPECT_TRUE(text.ends_with("  loss 0.25\n")) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 127)) << text;
}

TEST_F(Progress, LinesNowAndThen) {
  Channel pipe;
  ASSERT_EQ(::pipe(&pipe.reader), 0);
  const ProgressBar bar({.descriptor = pipe.writer, .seconds_between_lines = 0});
  bar.advance();
  bar.advance();
  bar.finish();
  bar.finish();
  const std::string text = pipe.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
  EXPECT_TRUE(text.starts_with("1 steps  ")) << text;
}

TEST_F(Progress, InATerminal) {
  Channel terminal;
  winsize size{.ws_row = 24, .ws_col = 60, .ws_xpixel = 0, .ws_ypixel = 0};
  if (openpty(&terminal.reader, &terminal.writer, nullptr, nullptr, &size) != 0)
    GTEST_SKIP() << "no pseudo terminal: " << std::strerror(errno);
  setenv("TERM", "xterm", 1);
  {
    const ProgressBar bar({.label = "epoch 1/3", .total = 2000, .descriptor = terminal.writer});
    bar.show("accuracy", 0.5);
    for (int i = 0; i < 2000; ++i) bar.advance();
    bar.hide();
  }
  const std::string text = terminal.text();
  unsetenv("TERM");
  // The first step, and the last; not two thousand.
  EXPECT_LE(std::count(text.begin(), text.end(), '\r'), 6) << text;
  EXPECT_TRUE(text.starts_with("\repoch 1/3  1/2000 ")) << text;
  EXPECT_NE(text.find("\r\x1b[K"), std::string::npos) << text;
  EXPECT_NE(text.find("\repoch 1/3  2000/2000 "), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\x1b[K\r\n")) << text;
}

TEST_F(Progress, KeepsItsWidth) {
  const ProgressBar bar(
      {.label = "a label", .total = 100, .descriptor = open("/dev/null", O_WRONLY)});
  bar.advance(50);
  bar.show("loss", 1);
  for (const int width : {0, 1, 10, 40, 79, 200}) EXPECT_LE(bar.line(width).size(), width);
  EXPECT_EQ(bar.line(-1), "");
  EXPECT_NE(bar.line(200).find(std::string(15, '=') + std::string(15, '-') + " 50%"),
            std::string::npos)
      << bar.line(200);
  EXPECT_THROWS(ProgressBar({.total = -1}), ValueError,
                "ProgressBar: total is -1, but must be at least 0");
}

// Nobody reads: the run goes on.
TEST_F(Progress, BrokenOutput) {
  const ProgressBar bar({.descriptor = 9999, .seconds_between_lines = 0});
  bar.advance();
  bar.finish();
  EXPECT_EQ(bar.steps(), 1);
}

} // namespace
} // namespace weft
