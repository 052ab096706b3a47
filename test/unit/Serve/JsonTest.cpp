// What bodies in JSON are read as, and what is said of those that are wrong.
#include "Json.h"
#include "RequestError.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace serve {
namespace {

using weft::Tensor;

Model model_of(std::vector<weft::TensorType> inputs) {
  return {.name = "model", .entries = {{std::move(inputs), {}}}, .run = {}};
}

const Model kMatrices = model_of({weft::spec(weft::f32, {weft::unknown, 2, 2})});

std::string refusal(const std::string &body, const Model &model = kMatrices) {
  try {
    parse_instances(body, model);
  } catch (const RequestError &error) {
    EXPECT_EQ(error.status(), 400);
    return error.what();
  }
  return "";
}

TEST(Json, InstancesAreRows) {
  const Tensor read =
      parse_instances(R"({"instances": [[[1, 2.5], [-3, 4e2]], [[5, 6], [7, 0]]]})", kMatrices)
          .at(0);
  EXPECT_EQ(read.type(), weft::spec(weft::f32, {2, 2, 2}));
  EXPECT_EQ(read.to_vector<float>(), (std::vector<float>{1, 2.5, -3, 400, 5, 6, 7, 0}));
  const Tensor none = parse_instances(R"({"instances": []})", kMatrices).at(0);
  EXPECT_EQ(none.shape(), (weft::Shape{0, 0, 0}));
}

TEST(Json, EachDtypeHasItsElements) {
  EXPECT_EQ(parse_instances(R"({"instances": [true, false]})",
                            model_of({weft::spec(weft::boolean, {-1})}))
                .at(0)
                .to_vector<bool>(),
            (std::vector<bool>{true, false}));
  EXPECT_EQ(parse_instances(R"({"instances": [9223372036854775807, -5]})",
                            model_of({weft::spec(weft::i64, {-1})}))
                .at(0)
                .to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{9223372036854775807, -5}));
  EXPECT_EQ(parse_instances(R"({"instances": [1e300]})", model_of({weft::spec(weft::f64, {-1})}))
                .at(0)
                .to_vector<double>(),
            std::vector<double>{1e300});
}

TEST(Json, AnInstanceOfSeveralInputsIsTheirList) {
  const Model model = model_of({weft::spec(weft::i32, {-1}), weft::spec(weft::f32, {-1, 2})});
  const std::vector<Tensor> read =
      parse_instances(R"({"instances": [[1, [0.5, 1.5]], [2, [2.5, 3.5]]]})", model);
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].to_vector<int>(), (std::vector<int>{1, 2}));
  EXPECT_EQ(read[1].type(), weft::spec(weft::f32, {2, 2}));
  EXPECT_EQ(read[1].to_vector<float>(), (std::vector<float>{0.5, 1.5, 2.5, 3.5}));
  EXPECT_EQ(refusal(R"({"instances": [[1]]})", model),
            "instances[0]: an instance has 1 inputs and the program takes 2");
  EXPECT_EQ(refusal(R"({"instances": [[1, [1, 2], 3]]})", model),
            "instances[0]: an instance has more inputs than the 2 of the program");
  EXPECT_EQ(refusal(R"({"instances": [1]})", model),
            "instances[0]: an instance must be the list of its 2 inputs");
}

TEST(Json, SaysWhereAListIsWrong) {
  EXPECT_EQ(refusal(R"({"instances": [[[1, 2], [3]]]})"),
            "instances[0][1]: a list of 1 where others have 2");
  EXPECT_EQ(refusal(R"({"instances": [[[1, 2], [3, 4, 5]]]})"),
            "instances[0][1][2]: one more than the 2 that others have");
  EXPECT_EQ(refusal(R"({"instances": [[1, 2]]})"),
            "instances[0][0]: one element where a list of rank 1 is wanted");
  EXPECT_EQ(refusal(R"({"instances": [[[[1]]]]})"),
            "instances[0][0][0]: a list where the program takes f32: it is of rank 3");
  EXPECT_EQ(refusal(R"({"instances": [[[1, "2"]]]})"),
            "instances[0][0][0]: a text where a number is wanted");
  EXPECT_EQ(refusal(R"({"instances": [[[1, null]]]})"),
            "instances[0][0][0]: null where a number is wanted");
  EXPECT_EQ(refusal(R"({"instances": [{"a": 1}]})"),
            "instances[0]: an object where a number is wanted");
  EXPECT_EQ(refusal(R"({"instances": [[[true]]]})"),
            "instances[0][0][0]: true or false where the program takes f32");
  EXPECT_EQ(refusal(R"({"instances": [[[1e39]]]})"),
            "instances[0][0][0]: 1e+39 is beyond what f32 holds");
  const Model whole = model_of({weft::spec(weft::i32, {-1})});
  EXPECT_EQ(refusal(R"({"instances": [1.5]})", whole),
            "instances[0]: 1.5 where the program takes whole numbers");
  EXPECT_EQ(refusal(R"({"instances": [1, 2147483648]})", whole),
            "instances[1]: 2147483648 is beyond what i32 holds");
  EXPECT_EQ(refusal(R"({"instances": [1]})", model_of({weft::spec(weft::boolean, {-1})})),
            "instances[0]: a number where the program takes true and false");
}

TEST(Json, SaysWhatElseIsWrong) {
  EXPECT_EQ(refusal("[]"), R"(the body must be an object: {"instances": [...]})");
  EXPECT_EQ(refusal("3"), R"(the body must be an object: {"instances": [...]})");
  EXPECT_EQ(refusal("{}"), R"(the body has no member "instances")");
  EXPECT_EQ(refusal(R"({"instances": 3})"), R"("instances" must be a list)");
  EXPECT_EQ(refusal(R"({"inputs": []})"),
            R"(the body has the member "inputs"; "instances" is the only one)");
  EXPECT_EQ(refusal(R"({"instances": [], "instances": []})"), R"(the body has "instances" twice)");
  EXPECT_TRUE(refusal("").starts_with("malformed JSON, at byte 1: ")) << refusal("");
  EXPECT_TRUE(refusal(R"({"instances": [NaN]})").starts_with("malformed JSON, at byte 16: "));
  EXPECT_TRUE(refusal(R"({"instances": [[)").starts_with("malformed JSON, at byte 17: "));
  EXPECT_TRUE(refusal(R"({"instances": []} x)").starts_with("malformed JSON, at byte 19: "));
  EXPECT_NE(refusal(R"({"instances": [[[1e999]]]})").find("1e999"), std::string::npos);
  EXPECT_NE(refusal("{\"instances\": [\"\xff\"]}").find("malformed JSON"), std::string::npos);
}

// A list that is deep, and not what is wanted, is refused at the depth that is.
TEST(Json, DepthIsNoHarm) {
  EXPECT_EQ(refusal("{\"instances\": " + std::string(1'000'000, '[')),
            "instances[0][0][0]: a list where the program takes f32: it is of rank 3");
}

TEST(Json, PredictionsAreReadBackAsTheSame) {
  const Tensor values = weft::tensor({{0.1f, -2.0f}, {1e-30f, 16777216.0f}});
  const auto read = nlohmann::json::parse(format_predictions({values}));
  EXPECT_EQ(read.at("predictions").get<std::vector<std::vector<float>>>(),
            (std::vector<std::vector<float>>{{0.1f, -2.0f}, {1e-30f, 16777216.0f}}));
  const auto pairs = nlohmann::json::parse(
      format_predictions({weft::tensor({1, 2}), weft::tensor({true, false})}));
  EXPECT_EQ(pairs.dump(), R"({"predictions":[[1,true],[2,false]]})");
  // Views and no rows.
  EXPECT_EQ(nlohmann::json::parse(format_predictions({values[{weft::all, 1}]})).dump(),
            R"({"predictions":[-2,16777216]})");
  EXPECT_EQ(nlohmann::json::parse(format_predictions({weft::zeros({0, 2})})).dump(),
            R"({"predictions":[]})");
}

TEST(Json, WhatIsNotFiniteIsText) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(nlohmann::json::parse(
                format_predictions({weft::tensor({infinity, -infinity, std::nanf("")})}))
                .dump(),
            R"({"predictions":["Infinity","-Infinity","NaN"]})");
}

TEST(Json, ErrorsQuoteAnything) {
  EXPECT_EQ(nlohmann::json::parse(format_error("a \"b\" \n \xff")).at("error").get<std::string>(),
            "a \"b\" \n \xef\xbf\xbd");
}

} // namespace
} // namespace serve
