// Summaries: the calls of layers are heard while the model is traced, and written as a table.
#include <weft/nn/summary.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "Function/Tracer.h"
#include "NN/LayerCall.h"
#include "Ops/LayerPaths.h"
#include "Support/CallSite.h"

namespace weft {

namespace {

/// Hears the layers that `call` runs on inputs of these types.
std::vector<nn::LayerRecord> heard(const std::vector<TensorType> &inputs,
                                   const std::function<void(const std::vector<Tensor> &)> &call) {
  nn::LayerRecorder recorder;
  Tracer tracer({.name = "summary"});
  std::vector<Tensor> tensors;
  for (const TensorType &type : inputs) tensors.push_back(tracer.input(type));
  push_interpreter(&tracer);
  struct Pop {
    Tracer &tracer;
    ~Pop() { pop_interpreter(&tracer); }
  } pop{tracer};
  const UserCode user;
  call(tensors);
  return std::move(recorder.records);
}

std::int64_t size_of(const Variable &variable) {
  std::int64_t size = is_floating(variable.dtype()) ? 1 : 0;
  for (const std::int64_t dim : variable.shape()) size *= dim;
  return size;
}

/// 1234567 as "1,234,567".
std::string with_commas(std::int64_t number) {
  std::string text = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array units = {"B", "KB", "MB", "GB", "TB"};
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; size >= 1024 && unit + 1 < units.size(); ++unit) size /= 1024;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.2f %s", size, units[unit]);
  return text.data();
}

using Row = std::array<std::string, 3>;

std::string table_of(const std::vector<Row> &rows) {
  std::array<std::size_t, 3> widths{};
  for (const Row &row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  const std::string rule(widths[0] + widths[1] + widths[2] + 4, '-');
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row &row = rows[i];
    const auto left = [&](std::size_t column) {
      return row[column] + std::string(widths[column] - row[column].size() + 2, ' ');
    };
    text += left(0) + left(1) + std::string(widths[2] - row[2].size(), ' ') + row[2] + '\n';
    if (i == 0) text += rule + '\n';
  }
  return text + rule + '\n';
}

} // namespace

namespace detail {

std::string summary_of(const std::vector<nn::NamedVariable> &before,
                       const std::function<std::vector<nn::NamedVariable>()> &after,
                       const std::vector<TensorType> &inputs,
                       const std::function<void(const std::vector<Tensor> &)> &call,
                       const std::source_location &where) {
  static_cast<void>(before); // listed, so that layers know their paths before they are called
  const CallSite site(where);
  const std::vector<nn::LayerRecord> records = heard(inputs, call);
  const nn::LayerPaths listing;
  const std::vector<nn::NamedVariable> variables = after();
  // What a layer holds is what lies below its path; of layers inside each other, the innermost.
  std::map<std::string, std::int64_t> own;
  std::set<std::string> paths;
  std::string root; // a layer without a path is the whole model
  // Two layers may have been given one name, but no two have one path.
  const auto path_of = [&](const nn::LayerName &name) {
    const std::string path = listing.of(name);
    return path.empty() ? std::string(name.text()) : path;
  };
  for (const nn::LayerRecord &record : records) {
    paths.insert(path_of(record.name));
    if (listing.of(record.name).empty()) root = record.name.text();
  }
  std::int64_t total = 0, trainable = 0, bytes = 0, elsewhere = 0;
  for (const nn::NamedVariable &entry : variables) {
    if (!entry.variable.initialized()) continue;
    const std::int64_t size = size_of(entry.variable);
    total += size;
    bytes += size * static_cast<std::int64_t>(item_size(entry.variable.dtype()));
    if (entry.variable.trainable()) trainable += size;
    std::string path = entry.path;
    while (!path.empty() && !paths.contains(path)) {
      const std::size_t dot = path.rfind('.');
      path.resize(dot == std::string::npos ? 0 : dot);
    }
    if (path.empty()) path = root;
    if (path.empty()) elsewhere += size;
    else own[path] += size;
  }
  std::vector<Row> rows = {{"Layer (kind)", "Output shape", "Parameters"}};
  for (const nn::LayerRecord &record : records) {
    const std::string path = record.name.text(), kind = record.name.kind();
    const auto found = own.find(path_of(record.name));
    const std::string count =
        found != own.end() ? with_commas(std::exchange(found->second, -1)) : "0";
    rows.push_back({path == kind ? kind : path + " (" + kind + ")", to_string(record.result.shape),
                    count == "-1" ? "(shared)" : count});
  }
  if (elsewhere > 0) rows.push_back({"(not in a layer)", "", with_commas(elsewhere)});
  return table_of(rows) + "Parameters: " + with_commas(total) + " (" + bytes_text(bytes) +
         "), trainable: " + with_commas(trainable) +
         ", not trainable: " + with_commas(total - trainable) + '\n';
}

} // namespace detail
} // namespace weft
