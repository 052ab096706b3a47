// The bodies of requests and replies in JSON, read and written without a tree in between.
#pragma once

#include "Model.h"

#include <string_view>

namespace serve {

/// The inputs of `{"instances": [...]}`: each instance is a nested list, or, where the program
/// takes several inputs, the list of them. Throws RequestError 400, which says where in the body
/// something is wrong: malformed JSON, a ragged list, an element that the dtype cannot hold.
std::vector<weft::Tensor> parse_instances(std::string_view body, const Model &model);

/// `{"predictions": [...]}`, one prediction per row: a nested list, or the list of the outputs
/// where there are several. What is not finite is the text "NaN", "Infinity" or "-Infinity".
std::string format_predictions(const std::vector<weft::Tensor> &outputs);

/// `{"error": message}`.
std::string format_error(std::string_view message);

} // namespace serve
