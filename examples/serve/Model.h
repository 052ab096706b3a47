// What the server serves: a function of batches, and the types that it takes.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <weft/weft.h>

namespace serve {

/// One signature of a program. The first axis of every input and output is the batch; its size, as
/// that of other axes, is `weft::unknown` where the program takes any.
struct Entry {
  std::vector<weft::TensorType> inputs, outputs;

  std::int64_t batch() const { return inputs.front().shape[0]; }
};

struct Model {
  std::string name;
  std::vector<Entry> entries;
  /// May be called by several threads at once.
  std::function<std::vector<weft::Tensor>(std::span<const weft::Tensor>)> run;
};

/// Throws weft::ValueError for a model that requests cannot be batched for: without entries, or
/// with an input or output whose first axis is not the batch.
void check_model(const Model &model);

/// "f32(?, 28, 28, 1)": a type without its batch.
std::string type_of_rows(weft::TensorType type);

/// A program that weft::export_program wrote, for any number of rows or for some, which runs on
/// that device; its results are on the CPU. Throws what weft::load_program throws.
Model program_model(const std::string &path, weft::Device device = {});

/// A convolutional network, trained for a second on the handwritten digits in `data`
/// (examples/digits/data) and compiled for the batches 1, 2, 4, ... up to `max_batch`. It takes
/// images f32(batch, 28, 28, 1) from 0 to 1 and gives the scores of the ten digits, f32(batch, 10).
Model demo_model(const std::string &data, std::int64_t max_batch);
/// Writes it as a program.
void save_demo(const std::string &data, std::int64_t max_batch, const std::string &path);

} // namespace serve
