// The interface of C: what it describes, runs and refuses. test/Install runs it without libweft.
#include "ExportFixture.h"

#include <thread>

#include <weft/c/program.h>

namespace weft {
namespace {

class CProgram : public ExportFixture {
protected:
  void SetUp() override {
    ExportFixture::SetUp();
    const auto f = function(
        [this](const Tensor &x, const Tensor &flags) {
          count_.assign_add(std::int64_t{1});
          check(all(x < 100), "small");
          return std::pair(select(any(flags), matmul(x, w_), zeros({2})), count_.value());
        },
        {.name = "f", .signature = {spec(f32, {unknown, 3}), spec(boolean, {2})}});
    export_program(f, file());
    program_ = weft_program_open(file().c_str(), message_, sizeof message_);
    ASSERT_NE(program_, nullptr) << message_;
  }
  void TearDown() override {
    weft_program_close(program_);
    ExportFixture::TearDown();
  }

  /// Runs it on `rows` rows of `value`; the reason if it fails.
  std::string run(std::int64_t rows, float value, std::vector<float> &y, std::int64_t &count) {
    const std::vector<float> x(static_cast<std::size_t>(rows * 3), value);
    const std::int64_t sizes[] = {rows, 3}, two[] = {2};
    const bool flags[] = {false, true};
    const weft_input inputs[] = {{WEFT_F32, 2, sizes, x.data()}, {WEFT_BOOL, 1, two, flags}};
    weft_output outputs[2];
    char message[200];
    if (weft_program_run(program_, inputs, 2, outputs, 2, message, sizeof message) != 0) {
      EXPECT_EQ(outputs[0].owner, nullptr);
      EXPECT_EQ(outputs[1].data, nullptr);
      return message;
    }
    EXPECT_EQ(outputs[0].dtype, WEFT_F32);
    EXPECT_EQ(outputs[0].rank, 2);
    EXPECT_EQ(outputs[0].sizes[0], rows);
    EXPECT_EQ(outputs[1].dtype, WEFT_I64);
    EXPECT_EQ(outputs[1].rank, 0);
    const auto *first = static_cast<const float *>(outputs[0].data);
    y.assign(first, first + rows * 2);
    count = *static_cast<const std::int64_t *>(outputs[1].data);
    weft_outputs_free(outputs, 2);
    EXPECT_EQ(outputs[0].owner, nullptr);
    return "";
  }
  /// What a call with these inputs and that many outputs says.
  std::string fault_of(std::span<const weft_input> inputs, std::int64_t outputs = 2) {
    std::vector<weft_output> outputs_of_call(static_cast<std::size_t>(outputs));
    char message[300] = "";
    EXPECT_EQ(weft_program_run(program_, inputs.data(), static_cast<std::int64_t>(inputs.size()),
                               outputs_of_call.data(), outputs, message, sizeof message),
              1);
    return message;
  }

  Variable count_{tensor(std::int64_t{0}), "count"}, w_{numbers({3, 2}), "w"};
  weft_program *program_ = nullptr;
  char message_[300] = "";
};

TEST_F(CProgram, ItDescribesItself) {
  EXPECT_STREQ(weft_program_name(program_), "f");
  EXPECT_EQ(weft_program_entry_count(program_), 1);
  EXPECT_EQ(weft_program_input_count(program_, 0), 2);
  EXPECT_EQ(weft_program_output_count(program_, 0), 2);
  EXPECT_EQ(weft_program_input_count(program_, 1), -1);
  EXPECT_EQ(weft_program_output_count(program_, -1), -1);
  weft_type type;
  ASSERT_EQ(weft_program_input_type(program_, 0, 0, &type), 0);
  EXPECT_EQ(type.dtype, WEFT_F32);
  ASSERT_EQ(type.rank, 2);
  EXPECT_EQ(type.sizes[0], -1);
  EXPECT_EQ(type.sizes[1], 3);
  ASSERT_EQ(weft_program_output_type(program_, 0, 1, &type), 0);
  EXPECT_EQ(type.dtype, WEFT_I64);
  EXPECT_EQ(type.rank, 0);
  EXPECT_EQ(weft_program_input_type(program_, 0, 2, &type), 1);
  EXPECT_EQ(weft_program_output_type(program_, 1, 0, &type), 1);
}

TEST_F(CProgram, ItRuns) {
  const std::vector<float> sums = sum(w_.value(), {.axes = Ints{0}}).to_vector<float>();
  std::vector<float> y;
  std::int64_t count = 0;
  for (const std::int64_t rows : {1, 5, 0}) {
    EXPECT_EQ(run(rows, 1, y, count), "");
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_FLOAT_EQ(y[i], sums[i % 2]);
  }
  EXPECT_EQ(count, 3); // it keeps what it assigns
  EXPECT_THAT(run(1, 100, y, count), testing::EndsWith("assertion failed in f: small"));
  EXPECT_EQ(run(1, 1, y, count), "");
}

TEST_F(CProgram, ManyThreads) {
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([this] {
      std::vector<float> y;
      std::int64_t count = 0;
      for (int n = 0; n < 50; ++n) EXPECT_EQ(run(3, 1, y, count), "");
    });
  for (std::thread &thread : threads) thread.join();
  std::vector<float> y;
  std::int64_t count = 0;
  EXPECT_EQ(run(1, 1, y, count), "");
  EXPECT_EQ(count, 201);
}

TEST_F(CProgram, WrongInputsAreSaid) {
  const std::int64_t sizes[] = {1, 3}, negative[] = {-1, 3},
                     huge[] = {std::int64_t{1} << 62, 1 << 30}, two[] = {2};
  const float x[3] = {};
  const bool flags[2] = {};
  const weft_input good = {WEFT_F32, 2, sizes, x}, flag = {WEFT_BOOL, 1, two, flags};
  const auto with = [&](const weft_input &input) {
    const weft_input inputs[] = {input, flag};
    return fault_of(inputs);
  };
  EXPECT_THAT(with({WEFT_F64, 2, sizes, x}),
              testing::StartsWith("f: there is no entry for (f64(1, 3)"));
  const std::string all =
      ", which is none of WEFT_BOOL, WEFT_I8, WEFT_I16, WEFT_I32, WEFT_I64, "
      "WEFT_U8, WEFT_U16, WEFT_U32, WEFT_U64, WEFT_F16, WEFT_BF16, WEFT_F32, WEFT_F64, "
      "WEFT_C64, WEFT_C128, WEFT_F8E4M3FN and WEFT_F8E5M2";
  EXPECT_EQ(with({99, 2, sizes, x}), "f: input 0 has the dtype 99" + all);
  // 256 more than WEFT_F32: DType has a byte.
  EXPECT_EQ(with({256 + WEFT_F32, 2, sizes, x}), "f: input 0 has the dtype 259" + all);
  EXPECT_EQ(with({WEFT_F32, 65, sizes, x}), "f: input 0 has no sizes for the rank 65");
  EXPECT_EQ(with({WEFT_F32, 2, nullptr, x}), "f: input 0 has no sizes for the rank 2");
  EXPECT_EQ(with({WEFT_F32, 2, negative, x}), "f: input 0 cannot have the size -1");
  EXPECT_NE(with({WEFT_F32, 2, huge, x}), "");
  EXPECT_EQ(with({WEFT_F32, 2, sizes, nullptr}), "f: input 0 has no data");
  EXPECT_THAT(fault_of({&good, 1}), testing::StartsWith("f: there is no entry for (f32(1, 3))"));
  const weft_input both[] = {good, flag};
  EXPECT_EQ(fault_of(both, 1), "f: there is room for 1 outputs, but the entry has 2");
  std::vector<float> y;
  std::int64_t count = 0;
  EXPECT_EQ(run(1, 1, y, count), "");
  EXPECT_EQ(count, 1); // none of those ran
}

TEST_F(CProgram, NullsAreRefused) {
  weft_output output;
  const weft_input input{};
  const auto message_of = [&](const weft_program *program, const weft_input *inputs,
                              weft_output *outputs) {
    output = {.dtype = 7, .rank = 7, .sizes = nullptr, .data = message_, .owner = message_};
    EXPECT_EQ(weft_program_run(program, inputs, 1, outputs, 1, message_, sizeof message_), 1);
    if (outputs != nullptr) {
      EXPECT_EQ(outputs->owner, nullptr); // empty, as after every failure
      EXPECT_EQ(outputs->data, nullptr);
    }
    return std::string(message_);
  };
  EXPECT_EQ(message_of(nullptr, &input, &output), "weft_program_run: program is NULL");
  EXPECT_EQ(message_of(program_, nullptr, &output), "weft_program_run: inputs is NULL");
  EXPECT_EQ(message_of(program_, &input, nullptr), "weft_program_run: outputs is NULL");
  EXPECT_STREQ(weft_program_name(nullptr), "");
  EXPECT_EQ(weft_program_entry_count(nullptr), -1);
  EXPECT_EQ(weft_program_input_count(nullptr, 0), -1);
  EXPECT_EQ(weft_program_input_type(program_, 0, 0, nullptr), 1);
  weft_outputs_free(nullptr, 1);
}

TEST_F(CProgram, FilesThatCannotBeOpened) {
  char short_message[12];
  EXPECT_EQ(weft_program_open("/nowhere", short_message, sizeof short_message), nullptr);
  EXPECT_STREQ(short_message, "/nowhere: c");
  EXPECT_EQ(weft_program_open("/nowhere", nullptr, 0), nullptr);
  EXPECT_EQ(weft_program_open(nullptr, message_, sizeof message_), nullptr);
  EXPECT_STREQ(message_, "weft_program_open: the path is empty");
  // A name may have what moves a terminal's cursor, or ends a line of a log.
  EXPECT_EQ(weft_program_open("/no\nwhere\x1b[2J", message_, sizeof message_), nullptr);
  EXPECT_THAT(message_, testing::StartsWith("/no\\x0awhere\\x1b[2J: "));
  weft_program_close(nullptr);
}

} // namespace
} // namespace weft
