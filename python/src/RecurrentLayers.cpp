// The layers of weft.nn that carry states or look at other places: recurrent ones and attention.
#include "Define.h"
#include "Layers.h"
#include "Snapshots.h"

#include <array>
#include <variant>

#include <weft/nn/attention.h>
#include <weft/nn/recurrent.h>

namespace weft::python {

template <>
struct Words<nn::Causal> {
  static constexpr std::array words = {"no", "top_left", "bottom_right"};
};
template <>
struct Words<nn::Merge> {
  static constexpr std::array words = {"concatenate", "sum"};
};

namespace {

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// The tensors of a state of Python: a tensor, or a list or tuple of `count` of them.
std::vector<Tensor> state_tensors(PyObject *object, std::size_t count, const char *name,
                                  const char *argument) {
  std::vector<Tensor> tensors;
  if (count == 1 && PyList_Check(object) == 0 && PyTuple_Check(object) == 0) {
    tensors.push_back(tensor_argument(object, name, argument));
    return tensors;
  }
  const std::string wanted = count == 1 ? "a tensor is wanted, or a list of one"
                                        : "a list of two tensors, h and c, is wanted";
  if (PyList_Check(object) == 0 && PyTuple_Check(object) == 0)
    raise_type_error(std::string(name) + ": " + argument + " is a " + Py_TYPE(object)->tp_name +
                     ": " + wanted);
  const nb::tuple items = entries_of(object);
  if (items.size() != count)
    throw ValueError(std::string(name) + ": " + argument + " has " + std::to_string(items.size()) +
                     " entries: " + wanted);
  for (const nb::handle item : items)
    tensors.push_back(tensor_argument(item.ptr(), name, argument));
  return tensors;
}

template <class State>
State state_in(PyObject *object, const char *name, const char *argument) {
  if constexpr (std::is_same_v<State, nn::LSTMState>) {
    const std::vector<Tensor> tensors = state_tensors(object, 2, name, argument);
    return {tensors[0], tensors[1]};
  } else {
    return state_tensors(object, 1, name, argument)[0];
  }
}

/// A state as the one that was given: a tensor, a list or a tuple.
template <class State>
nb::object state_out(const State &state, PyObject *like) {
  const auto wrapped = [](const Tensor &tensor) { return checked(wrap(tensor)); };
  if constexpr (std::is_same_v<State, nn::LSTMState>) {
    if (like != nullptr && PyTuple_Check(like) != 0)
      return nb::make_tuple(wrapped(state.h), wrapped(state.c));
    const nb::object list = checked(PyList_New(2));
    PyList_SET_ITEM(list.ptr(), 0, wrap(state.h));
    PyList_SET_ITEM(list.ptr(), 1, wrap(state.c));
    return list;
  } else {
    if (like != nullptr && PyList_Check(like) == 0 && PyTuple_Check(like) == 0)
      return wrapped(state);
    if (like != nullptr && PyTuple_Check(like) != 0) return nb::make_tuple(wrapped(state));
    nb::list list;
    list.append(wrapped(state));
    return list;
  }
}

} // namespace

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// cell(x, states) gives the output and the next states.
template <class L>
struct CallOfCell {
  static constexpr const char *words[] = {"x", "states", "training"};
  static constexpr std::size_t required = 1;

  static PyObject *call(const LayerOf<L> &self, const char *name, PyObject *const *values) {
    using State = typename L::State;
    const Tensor x = input_argument(self, values[0], name);
    PyObject *given = values[1] == Py_None ? nullptr : values[1];
    std::optional<State> state;
    if (given != nullptr) state = state_in<State>(given, name, "states");
    const State next = unlocked(
        x.impl()->size, [&] { return self.layer(x, state ? *state : self.layer.zero_state(x)); });
    PyObject *output = wrap(self.layer.output(next));
    PyObject *states = state_out(next, given).release().ptr();
    PyObject *pair = PyTuple_New(2);
    PyTuple_SET_ITEM(pair, 0, output);
    PyTuple_SET_ITEM(pair, 1, states);
    return pair;
  }
};
template <>
struct CallOf<nn::SimpleRNNCell> : CallOfCell<nn::SimpleRNNCell> {};
template <>
struct CallOf<nn::LSTMCell> : CallOfCell<nn::LSTMCell> {};
template <>
struct CallOf<nn::GRUCell> : CallOfCell<nn::GRUCell> {};

/// Whether a call gives the last states, too.
template <class Cell>
struct MoreOf<nn::RNN<Cell>> : LayerObject {
  static std::span<const ParameterText> more() {
    static const auto &more =
        *new std::vector<ParameterText>{LayerObject::more()[0], {"return_state", "bool", "False"}};
    return more;
  }
  void take_more(const char *function, std::span<PyObject *const> values) {
    LayerObject::take_more(function, values);
    Given given;
    if (values[1] != nullptr) read(return_state, values[1], {function, "return_state"}, given);
  }
  void copy(const MoreOf &from) {
    LayerObject::copy(from);
    return_state = from.return_state;
  }

  bool return_state = false;
};

template <class Cell>
struct CallOf<nn::RNN<Cell>> {
  static constexpr const char *words[] = {"x", "initial_state", "mask", "training"};
  static constexpr std::size_t required = 1;

  static PyObject *call(const LayerOf<nn::RNN<Cell>> &self, const char *name,
                        PyObject *const *values) {
    using State = typename Cell::State;
    const Tensor x = input_argument(self, values[0], name),
                 mask = optional_tensor(values[2], name, "mask");
    std::optional<State> initial;
    if (values[1] != nullptr && values[1] != Py_None)
      initial = state_in<State>(values[1], name, "initial_state");
    const auto [output, state] =
        unlocked(x.impl()->size, [&] { return self.layer.run(x, initial, mask); });
    nb::object result = checked(result_of(self, output));
    if (!self.return_state) return result.release().ptr();
    const nb::object states = state_out(state, nullptr);
    nb::list all;
    all.append(result);
    for (const nb::handle one : states) all.append(one);
    return nb::tuple(all).release().ptr();
  }
};

namespace {

/// A recurrent layer in both directions, of any of the library's cells.
struct AnyBidirectional {
  using Any = std::variant<nn::Bidirectional<nn::LSTMCell>, nn::Bidirectional<nn::GRUCell>,
                           nn::Bidirectional<nn::SimpleRNNCell>>;

  Tensor operator()(const Tensor &x, const Tensor &mask) const {
    return std::visit([&](const auto &layer) { return layer(x, mask); }, layer);
  }
  void weft_visit(StructureVisitor &visitor) {
    weft::detail::VirtualVisitor inner(visitor);
    std::visit([&](auto &layer) { visit_structure(layer, inner); }, layer);
  }
  void weft_visit(StructureVisitor &visitor) const {
    weft::detail::VirtualVisitor inner(visitor);
    std::visit([&](const auto &layer) { visit_structure(layer, inner); }, layer);
  }

  Any layer;
};

template <class Cell>
using RNNClass = BoundClass<LayerOf<nn::RNN<Cell>>, std::int64_t, nn::RNNOptions, nn::CellOptions>;

/// The argument of Bidirectional: a layer of Python.
struct Directed {
  nb::object layer;
};
void read(Directed &target, nb::handle value, const Place &, Given &) {
  target.layer = nb::borrow(value);
}

} // namespace

template <>
struct Shown<Directed> {
  static std::string type() { return "Any"; }
  static std::string value(const Directed &) { return "None"; }
};

namespace {

struct BidirectionalLayer : AnyBidirectional {
  BidirectionalLayer(const Directed &of, nn::Merge merge) : AnyBidirectional{made(of, merge)} {}

  template <class Cell>
  static std::optional<Any> made_of(nb::handle layer, nn::Merge merge) {
    if (!nb::isinstance<LayerOf<nn::RNN<Cell>>>(layer)) return std::nullopt;
    const auto &object = nb::cast<const LayerOf<nn::RNN<Cell>> &>(layer);
    const auto [units, options, cell] = RNNClass<Cell>::read(object.arguments);
    return nn::Bidirectional<Cell>(units, options.return_sequences, merge, cell);
  }
  static Any made(const Directed &of, nn::Merge merge) {
    if (auto made = made_of<nn::LSTMCell>(of.layer, merge)) return *made;
    if (auto made = made_of<nn::GRUCell>(of.layer, merge)) return *made;
    if (auto made = made_of<nn::SimpleRNNCell>(of.layer, merge)) return *made;
    raise_type_error(std::string("weft.nn.Bidirectional: layer is a ") +
                     Py_TYPE(of.layer.ptr())->tp_name +
                     ": an LSTM, a GRU or a SimpleRNN is wanted");
  }
};

nn::AttentionCall attention_call(PyObject *mask, PyObject *training, const char *name) {
  return {.mask = optional_tensor(mask, name, "mask"), .training = is_true(training)};
}

} // namespace

template <>
struct CallOf<BidirectionalLayer> {
  static constexpr const char *words[] = {"x", "mask", "training"};
  static constexpr std::size_t required = 1;

  static PyObject *call(const LayerOf<BidirectionalLayer> &self, const char *name,
                        PyObject *const *values) {
    const Tensor x = input_argument(self, values[0], name),
                 mask = optional_tensor(values[1], name, "mask");
    return result_of(self, unlocked(x.impl()->size, [&] { return self.layer(x, mask); }));
  }
};

template <>
struct CallOf<nn::MultiHeadAttention> {
  static constexpr const char *words[] = {"x", "others", "mask", "training"};
  static constexpr std::size_t required = 1;

  static PyObject *call(const LayerOf<nn::MultiHeadAttention> &self, const char *name,
                        PyObject *const *values) {
    const Tensor x = input_argument(self, values[0], name),
                 others = optional_tensor(values[1], name, "others");
    const nn::AttentionCall call = attention_call(values[2], values[3], name);
    return result_of(self, unlocked(x.impl()->size, [&] {
                       return others.defined() ? self.layer(x, others, call) : self.layer(x, call);
                     }));
  }
};

/// Their activation is applied within.
template <>
struct MoreOf<nn::TransformerEncoderLayer> : LayerObject {
  static constexpr bool kTakesFunctions = false;
};
template <>
struct MoreOf<nn::TransformerDecoderLayer> : LayerObject {
  static constexpr bool kTakesFunctions = false;
};

template <>
struct CallOf<nn::TransformerEncoderLayer> {
  static constexpr const char *words[] = {"x", "mask", "training"};
  static constexpr std::size_t required = 1;

  static PyObject *call(const LayerOf<nn::TransformerEncoderLayer> &self, const char *name,
                        PyObject *const *values) {
    const Tensor x = input_argument(self, values[0], name);
    const nn::AttentionCall call = attention_call(values[1], values[2], name);
    return result_of(self, unlocked(x.impl()->size, [&] { return self.layer(x, call); }));
  }
};

template <>
struct CallOf<nn::TransformerDecoderLayer> {
  static constexpr const char *words[] = {"x", "encoded", "mask", "cross_mask", "training"};
  static constexpr std::size_t required = 2;

  static PyObject *call(const LayerOf<nn::TransformerDecoderLayer> &self, const char *name,
                        PyObject *const *values) {
    const Tensor x = input_argument(self, values[0], name),
                 encoded = tensor_argument(values[1], name, "encoded");
    const nn::AttentionCall own = attention_call(values[2], values[4], name),
                            cross = attention_call(values[3], values[4], name);
    return result_of(self,
                     unlocked(x.impl()->size, [&] { return self.layer(x, encoded, own, cross); }));
  }
};

namespace {

//===----------------------------------------------------------------------===//
// The classes
//===----------------------------------------------------------------------===//

template <class Cell>
void cell(const char *name, const char *example) {
  auto type = layer<Cell>(
      name,
      "cell(x, states) gives the output (batch, units) and the next states, of x (batch, inputs); "
      "without states they begin with zeros. reset_after is GRU's alone.",
      example, required<std::int64_t>("units"), options<nn::CellOptions>());
  type.def_prop_ro("units", [](const LayerOf<Cell> &self) { return self.layer.units(); });
}

template <class Cell>
void recurrent(const char *name, const char *example) {
  using L = nn::RNN<Cell>;
  auto type = layer<L>(
      name,
      "The cell along time: x (batch, time, inputs) to the last output (batch, units), or to all "
      "with return_sequences=True; with return_state=True the tuple of that and the last states. "
      "layer(x, initial_state=None, mask=None).",
      example, required<std::int64_t>("units"), options<nn::RNNOptions>(),
      options<nn::CellOptions>());
  type.def_prop_ro("units", [](const LayerOf<L> &self) { return self.layer.cell.units(); });
  inner(type, "cell", &L::cell, [](const LayerOf<L> &self) {
    std::vector<const char *> words = {"units"};
    std::apply([&](const auto &...each) { (words.push_back(each.name), ...); },
               weft_options(static_cast<const nn::CellOptions *>(nullptr)));
    return arguments_named(self, words);
  });
}

void define_attention() {
  {
    using O = nn::MultiHeadAttentionOptions;
    using L = nn::MultiHeadAttention;
    using C = BoundClass<LayerOf<L>, std::int64_t, O>;
    auto type = layer<L>(
        "MultiHeadAttention",
        "Attention of many heads: layer(x, others=None, mask=None, training=False), of queries x "
        "(batch, queries, size) to others (batch, keys, ..), x itself without them.\n\n"
        "causal is False, True, 'top_left' or 'bottom_right'.",
        "    >>> layer = wf.nn.MultiHeadAttention(8, heads=2)\n"
        "    >>> layer(wf.ones((2, 5, 8))).shape\n"
        "    (2, 5, 8)\n",
        required<std::int64_t>("size"), options<O>({.positional = 1}));
    const auto dense = [](std::int64_t (*units)(std::int64_t size, const O &options)) {
      return [units](const LayerOf<L> &self) {
        const auto [size, options] = C::read(self.arguments);
        nb::dict words = arguments_named(self, {"use_bias", "kernel_initializer", "dtype"});
        words["units"] = units(size, options);
        return words;
      };
    };
    static constexpr auto depth = [](std::int64_t size, const O &options) {
      return options.depth.value_or(size / options.heads);
    };
    const auto of_queries = dense(
        [](std::int64_t size, const O &options) { return options.heads * depth(size, options); });
    const auto of_keys = dense([](std::int64_t size, const O &options) {
      return options.key_heads.value_or(options.heads) * depth(size, options);
    });
    inner(type, "query", &L::query, of_queries);
    inner(type, "key", &L::key, of_keys);
    inner(type, "value", &L::value, of_keys);
    inner(type, "output", &L::output, dense([](std::int64_t size, const O &) { return size; }));
  }
  layer<nn::TransformerEncoderLayer>(
      "TransformerEncoderLayer",
      "Self-attention, then two dense layers, each added to its input and normalized: layer(x, "
      "mask=None, training=False). Without an activation it is 'relu'; `inner` is four times the "
      "size.",
      "    >>> layer = wf.nn.TransformerEncoderLayer(8, heads=2)\n"
      "    >>> layer(wf.ones((2, 5, 8))).shape\n"
      "    (2, 5, 8)\n",
      required<std::int64_t>("size"), options<nn::TransformerOptions>());
  layer<nn::TransformerDecoderLayer>(
      "TransformerDecoderLayer",
      "The same with attention to an encoder's result between the two: layer(x, encoded, "
      "mask=None, cross_mask=None, training=False). Self-attention is causal.",
      "    >>> layer = wf.nn.TransformerDecoderLayer(8, heads=2)\n"
      "    >>> layer(wf.ones((2, 5, 8)), wf.ones((2, 7, 8))).shape\n"
      "    (2, 5, 8)\n",
      required<std::int64_t>("size"), options<nn::TransformerOptions>());
}

} // namespace

void define_recurrent_layers() {
  cell<nn::SimpleRNNCell>("SimpleRNNCell",
                          "    >>> output, state = wf.nn.SimpleRNNCell(4)(wf.ones((2, 3)))\n"
                          "    >>> output.shape\n"
                          "    (2, 4)\n");
  cell<nn::LSTMCell>("LSTMCell", "    >>> output, (h, c) = wf.nn.LSTMCell(4)(wf.ones((2, 3)))\n"
                                 "    >>> output.shape, c.shape\n"
                                 "    ((2, 4), (2, 4))\n");
  cell<nn::GRUCell>("GRUCell", "    >>> output, state = wf.nn.GRUCell(4)(wf.ones((2, 3)))\n"
                               "    >>> output.shape\n"
                               "    (2, 4)\n");
  recurrent<nn::SimpleRNNCell>("SimpleRNN", "    >>> wf.nn.SimpleRNN(4)(wf.ones((2, 5, 3))).shape\n"
                                            "    (2, 4)\n");
  recurrent<nn::LSTMCell>(
      "LSTM", "    >>> output, h, c = wf.nn.LSTM(4, return_state=True)(wf.ones((2, 5, 3)))\n"
              "    >>> output.shape, h.shape, c.shape\n"
              "    ((2, 4), (2, 4), (2, 4))\n");
  recurrent<nn::GRUCell>("GRU",
                         "    >>> wf.nn.GRU(4)(wf.ones((2, 5, 3))).shape\n"
                         "    (2, 4)\n"
                         "    >>> wf.nn.GRU(4, return_sequences=True)(wf.ones((2, 5, 3))).shape\n"
                         "    (2, 5, 4)\n");
  layer<BidirectionalLayer>(
      "Bidirectional",
      "A recurrent layer made like `layer` in both directions, with variables of their own: "
      "outputs side by side, or with merge='sum' their sums.",
      "    >>> wf.nn.Bidirectional(wf.nn.GRU(4))(wf.ones((2, 5, 3))).shape\n"
      "    (2, 8)\n",
      required<Directed>("layer"), positional("merge", nn::Merge::concatenate));
  define_attention();
}

} // namespace weft::python
