// The checks of a model that is to be served.
#include "Model.h"

namespace serve {

std::string type_of_rows(weft::TensorType type) {
  if (!type.shape.empty()) type.shape[0] = weft::unknown;
  return to_string(type);
}

Model program_model(const std::string &path, weft::Device device) {
  const weft::LoadedProgram program = weft::load_program(path, {.device = device});
  Model model{.name = program.name(), .entries = {}, .run = {}};
  for (const weft::ProgramEntry &entry : program.entries())
    model.entries.push_back({entry.inputs, entry.outputs});
  model.run = [program](std::span<const weft::Tensor> inputs) {
    std::vector<weft::Tensor> results = program.run(inputs);
    for (weft::Tensor &result : results) result = result.to("cpu");
    return results;
  };
  return model;
}

void check_model(const Model &model) {
  if (model.entries.empty()) throw weft::ValueError(model.name + " has no entry to serve");
  for (std::size_t i = 0; i < model.entries.size(); ++i) {
    const Entry &entry = model.entries[i];
    const std::string name = model.name + ", entry " + std::to_string(i);
    if (entry.inputs.empty() || entry.outputs.empty())
      throw weft::ValueError(name +
                             ": a program that is served takes and gives one tensor or more");
    for (const auto *types : {&entry.inputs, &entry.outputs})
      for (const weft::TensorType &type : *types) {
        const bool batched = !is_any_rank(type.shape) && !type.shape.empty();
        if (!batched || type.shape[0] != entry.inputs.front().shape[0] || type.shape[0] == 0)
          throw weft::ValueError(name + ": " + to_string(type) +
                                 " has not the batch of the first input for its first axis, which "
                                 "all that a served program takes and gives must have");
      }
  }
}

} // namespace serve
