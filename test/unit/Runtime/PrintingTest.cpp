// Tensors as text, and the lines of print.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <limits>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "Runtime/NewTensor.h"
#include "Runtime/Printing.h"
#include <weft/error.h>
#include <weft/print.h>

namespace weft {
namespace {

std::string element(float value) { return to_string(tensor(value)); }
std::string wrapped(const std::string &digits, const std::string &dtype = "f32") {
  return "tensor(" + digits + ", shape=(), dtype=" + dtype + ")";
}

TEST(Printing, Elements) {
  EXPECT_EQ(element(8), wrapped("8"));
  EXPECT_EQ(element(0.1f), wrapped("0.1"));
  EXPECT_EQ(element(-0.f), wrapped("-0"));
  EXPECT_EQ(element(1.f / 3), wrapped("0.33333334"));
  EXPECT_EQ(element(100000), wrapped("100000"));
  EXPECT_EQ(element(16777216), wrapped("16777216"));
  EXPECT_EQ(element(1.5e8f), wrapped("1.5e+08"));
  EXPECT_EQ(element(1e10f), wrapped("1e+10"));
  EXPECT_EQ(element(0.0001f), wrapped("0.0001"));
  EXPECT_EQ(element(0.00001f), wrapped("1e-05"));
  EXPECT_EQ(element(-1234.5f), wrapped("-1234.5"));
  EXPECT_EQ(element(NAN), wrapped("nan"));
  EXPECT_EQ(element(-NAN), wrapped("nan"));
  EXPECT_EQ(element(INFINITY), wrapped("inf"));
  EXPECT_EQ(element(-INFINITY), wrapped("-inf"));
  EXPECT_EQ(element(std::numeric_limits<float>::max()), wrapped("3.4028235e+38"));
  EXPECT_EQ(element(std::numeric_limits<float>::denorm_min()), wrapped("1e-45"));
  EXPECT_EQ(to_string(tensor(0.1 + 0.2)), wrapped("0.3", "f64"));
  EXPECT_EQ(to_string(tensor(99999999.9)), wrapped("1e+08", "f64"));
  EXPECT_EQ(to_string(tensor(1e-300)), wrapped("1e-300", "f64"));
  EXPECT_EQ(to_string(tensor(true)), wrapped("true", "bool"));
  EXPECT_EQ(to_string(tensor(std::numeric_limits<std::int64_t>::min())),
            wrapped("-9223372036854775808", "i64"));
}

TEST(Printing, Nested) {
  EXPECT_EQ(to_string(tensor({{8.f, 11.f}, {16.f, 23.f}})),
            "tensor([[8, 11],\n        [16, 23]], shape=(2, 2), dtype=f32)");
  EXPECT_EQ(to_string(tensor({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}})),
            "tensor([[[1, 2],\n         [3, 4]],\n\n        [[5, 6],\n         [7, 8]]], "
            "shape=(2, 2, 2), dtype=i32)");
  EXPECT_EQ(to_string(tensor({true})), "tensor([true], shape=(1,), dtype=bool)");
  EXPECT_EQ(to_string(zeros({0})), "tensor([], shape=(0,), dtype=f32)");
  EXPECT_EQ(to_string(zeros({2, 0, 3}, i64)), "tensor([], shape=(2, 0, 3), dtype=i64)");
  EXPECT_EQ(to_string(Tensor()), "tensor(undefined)");
}

TEST(Printing, ViewsPrintTheirElements) {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(to_string(detail::new_view(x, Ints{3, 2}, Ints{-1, 3}, 2)),
            "tensor([[3, 6],\n        [2, 5],\n        [1, 4]], shape=(3, 2), dtype=i32)");
}

TEST(Printing, LongRowsWrapAtEightyColumns) {
  const std::string text = to_string(arange(100));
  std::size_t longest = 0, start = 0;
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', start)) {
    longest = std::max(longest, at - start);
    start = at + 1;
    EXPECT_EQ(text.substr(start, 8), "        ");
    EXPECT_NE(text[start + 8], ' ');
  }
  EXPECT_LE(longest, 80u);
  EXPECT_GT(longest, 72u);
  EXPECT_NE(text.find("98, 99], shape=(100,), dtype=i32)"), std::string::npos);
}

TEST(Printing, ManyElementsAreSummarised) {
  EXPECT_EQ(to_string(arange(1001)),
            "tensor([0, 1, 2, ..., 998, 999, 1000], shape=(1001,), dtype=i32)");
  EXPECT_EQ(to_string(arange(1000)).find("..."), std::string::npos);
  const Tensor tall = detail::new_view(arange(4000), Ints{1000, 4}, Ints{4, 1}, 0);
  EXPECT_EQ(to_string(tall), "tensor([[0, 1, 2, 3],\n"
                             "        [4, 5, 6, 7],\n"
                             "        [8, 9, 10, 11],\n"
                             "        ...,\n"
                             "        [3988, 3989, 3990, 3991],\n"
                             "        [3992, 3993, 3994, 3995],\n"
                             "        [3996, 3997, 3998, 3999]], shape=(1000, 4), dtype=i32)");
}

TEST(Printing, Formats) {
  const Tensor loss = tensor(0.482f), pair = tensor({1, 2});
  const PrintedArray values[] = {printed(loss), printed(pair)};
  EXPECT_EQ(format_values("loss is {} on {}!", values),
            "loss is 0.482 on tensor([1, 2], shape=(2,), dtype=i32)!");
  EXPECT_EQ(format_values("no braces", std::span(values, 1), "; "), "no braces; 0.482");
  EXPECT_EQ(format_values("{ {} } {}", std::span(values, 1)), "{ 0.482 } {}");
  EXPECT_EQ(format_values("", {}), "");
}

TEST(Printing, SinkReceivesLines) {
  std::vector<std::string> lines;
  const PrintSink before = set_print_sink([&](std::string_view line) { lines.emplace_back(line); });
  print_line("one");
  print_line("");
  set_print_sink(before);
  EXPECT_EQ(lines, (std::vector<std::string>{"one", ""}));
  testing::internal::CaptureStdout();
  print_line("to stdout");
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "to stdout\n");
}

/// What print_line throws in a process whose stdout is that descriptor.
std::string thrown_on(int descriptor) {
  int answer[2];
  EXPECT_EQ(pipe(answer), 0);
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGPIPE, SIG_IGN);
    dup2(descriptor, STDOUT_FILENO);
    std::string words;
    try {
      print_line("lost");
    } catch (const IOError &error) {
      words = error.message();
    }
    const ssize_t written = write(answer[1], words.data(), words.size());
    _exit(written == static_cast<ssize_t>(words.size()) ? 0 : 1);
  }
  close(answer[1]);
  char text[256];
  const ssize_t got = read(answer[0], text, sizeof text);
  close(answer[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  return {text, static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

TEST(Printing, LinesThatCannotBeWrittenAreErrors) {
  const int full = open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  EXPECT_EQ(thrown_on(full),
            "print: the line cannot be written to stdout: No space left on device");
  close(full);
  int broken[2];
  ASSERT_EQ(pipe(broken), 0);
  close(broken[0]);
  EXPECT_EQ(thrown_on(broken[1]), "print: the line cannot be written to stdout: Broken pipe");
  close(broken[1]);
}

} // namespace
} // namespace weft
