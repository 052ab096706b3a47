// Builds the messages of event files.
#include "Events/Messages.h"

namespace weft::events::detail {

namespace {

using protobuf::Message;

// DataType and DataClass of TensorFlow's messages.
enum Types : std::uint8_t { kFloat = 1, kDouble = 2, kString = 7 };
enum Classes : std::uint8_t { kScalar = 1, kTensor = 2, kBlobs = 3 };

Message shape_of(std::span<const std::int64_t> sizes) {
  Message shape;
  for (const std::int64_t size : sizes) shape.message(2, Message().integer(1, size));
  return shape;
}

Message tensor(Types type, std::span<const std::int64_t> sizes) {
  return Message().integer(1, type).message(2, shape_of(sizes));
}

Message event(const Stamp &stamp) {
  return Message().number(1, stamp.wall_time).integer(2, stamp.step);
}

/// An event of one value.
std::string value_event(const Stamp &stamp, std::string_view tag, std::string_view plugin,
                        std::string_view content, Classes kind, const Message &tensor) {
  Message data = Message().bytes(1, plugin);
  if (!content.empty()) data.bytes(2, content);
  Message metadata = Message().message(1, data);
  // hparams has no class.
  if (plugin != "hparams") metadata.integer(4, kind);
  const Message value = Message().bytes(1, tag).message(9, metadata).message(8, tensor);
  return event(stamp).message(5, Message().message(1, value)).text();
}

/// google.protobuf.Value.
Message value_of(const Hyperparameter &parameter) {
  Message value;
  std::visit(
      [&](const auto &v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, bool>) value.integer(4, v ? 1 : 0);
        else if constexpr (std::is_same_v<T, std::string>) value.bytes(3, v);
        else value.number(2, static_cast<double>(v));
      },
      parameter);
  return value;
}

/// DataType of HParamInfo: string, bool, float64.
std::int64_t type_of(const Hyperparameter &parameter) {
  if (std::holds_alternative<std::string>(parameter)) return 1;
  return std::holds_alternative<bool>(parameter) ? 2 : 3;
}

std::string hparams_event(double wall_time, std::string_view tag, std::uint32_t field,
                          const Message &message) {
  const std::int64_t none[] = {0};
  // Version 0, which is not written, and one of the three.
  return value_event({wall_time, 0}, tag, "hparams", Message().message(field, message).text(),
                     kTensor, tensor(kFloat, none));
}

} // namespace

std::string version_event(double wall_time) {
  return Message()
      .number(1, wall_time)
      .bytes(3, "brain.Event:2")
      .message(10, Message().bytes(1, "weft.events"))
      .text();
}

std::string start_event(const Stamp &stamp) {
  return event(stamp).message(7, Message().integer(1, 1)).text();
}

std::string scalar_event(const Stamp &stamp, std::string_view tag, float value) {
  const std::string bytes(reinterpret_cast<const char *>(&value), sizeof value);
  return value_event(stamp, tag, "scalars", {}, kScalar, tensor(kFloat, {}).bytes(4, bytes));
}

std::string histogram_event(const Stamp &stamp, std::string_view tag,
                            std::span<const double> buckets) {
  const std::int64_t sizes[] = {static_cast<std::int64_t>(buckets.size() / 3), 3};
  const std::string_view bytes(reinterpret_cast<const char *>(buckets.data()),
                               buckets.size_bytes());
  return value_event(stamp, tag, "histograms", {}, kTensor, tensor(kDouble, sizes).bytes(4, bytes));
}

std::string strings_event(const Stamp &stamp, std::string_view tag, std::string_view plugin,
                          const std::vector<std::string> &strings) {
  const std::int64_t sizes[] = {static_cast<std::int64_t>(strings.size())};
  Message list = tensor(kString, std::span(sizes).first(plugin == "text" ? 0 : 1));
  for (const std::string &text : strings) list.bytes(8, text);
  return value_event(stamp, tag, plugin, {}, plugin == "text" ? kTensor : kBlobs, list);
}

std::vector<std::string> hyperparameter_events(double wall_time,
                                               const std::map<std::string, Hyperparameter> &values,
                                               const std::vector<std::string> &metrics) {
  Message experiment, session;
  for (const auto &[name, value] : values) {
    experiment.message(4, Message().bytes(1, name).integer(4, type_of(value)));
    session.message(1, Message().bytes(1, name).message(2, value_of(value)));
  }
  for (const std::string &tag : metrics)
    experiment.message(5, Message().message(1, Message().bytes(2, tag)));
  session.number(5, wall_time);
  return {hparams_event(wall_time, "_hparams_/experiment", 2, experiment),
          hparams_event(wall_time, "_hparams_/session_start_info", 3, session)};
}

std::string graph_event(double wall_time, const Graph &graph) {
  Message definition;
  for (const GraphNode &node : graph.nodes) {
    Message made = Message().bytes(1, node.name).bytes(2, node.op);
    for (const std::string &input : node.inputs) made.bytes(3, input);
    const auto attribute = [&](std::string_view name, const Message &value) {
      made.message(5, Message().bytes(1, name).message(2, value));
    };
    if (!node.types.empty()) {
      // AttrValue::ListValue, of whose members shapes are number 7.
      Message shapes;
      std::string types;
      for (const TensorType &type : node.types) {
        shapes.message(7, shape_of(std::vector(type.shape.begin(), type.shape.end())));
        types += (types.empty() ? "" : ", ") + to_string(type);
      }
      attribute("_output_shapes", Message().message(1, shapes));
      attribute("types", Message().bytes(2, types));
    }
    if (node.place.known()) attribute("line", Message().bytes(2, to_string(node.place)));
    definition.message(1, made);
  }
  definition.message(4, Message().integer(1, 1)); // made by which version of a producer
  return Message().number(1, wall_time).bytes(4, definition.text()).text();
}

std::string finished_event(double wall_time, Status status) {
  const Message end =
      Message().integer(1, status == Status::succeeded ? 1 : 2).number(2, wall_time);
  return hparams_event(wall_time, "_hparams_/session_end_info", 4, end);
}

} // namespace weft::events::detail
