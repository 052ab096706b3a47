// Calls of what makes tensors and looks at them: factories, members, indices, operators, printing,
// random numbers.
#include <functional>
#include <limits>

#include "Calls.h"

namespace weft::fuzz {

namespace {

/// A draw of memory that no call needs: what a shape asks for is bounded by the limit of the
/// process, and clearing gigabytes takes seconds.
bool is_large(const Shape &shape) {
  double count = 1;
  for (const std::int64_t size : shape) count *= static_cast<double>(size);
  return count > 1e7 && count < 1e12;
}

Shape small_shape(Draw &draw) {
  const auto shape = draw.value<Shape>("shape");
  return is_large(shape) ? Shape{3} : shape;
}

std::optional<std::int64_t> position(Draw &draw) {
  return draw.value<std::optional<std::int64_t>>("position");
}

Index drawn_index(Draw &draw) {
  switch (draw.choose(6)) {
  case 0: return all;
  case 1: return ellipsis;
  case 2: return newaxis;
  case 3: {
    const auto start = position(draw), stop = position(draw);
    const auto step = draw.value<std::int64_t>("step");
    return slice(start, stop, step);
  }
  case 4: return draw.value<std::uint64_t>("index");
  default: return draw.value<std::int64_t>("index");
  }
}

std::optional<std::uint64_t> seed(Draw &draw) {
  // Without a seed the numbers follow from what ran before.
  return draw.value<std::uint64_t>("seed");
}

/// With numbers of a seed or of a key.
template <class Options>
Options by_numbers(Draw &draw, Options options) {
  if (draw.choose(2) == 0) options.seed = seed(draw);
  else options.key = draw.key("key");
  return options;
}

random::NormalOptions normal_options(Draw &draw) {
  const auto mean = draw.value<double>("mean"), stddev = draw.value<double>("stddev");
  const auto dtype = draw.value<DType>("dtype");
  return by_numbers(draw, random::NormalOptions{.mean = mean, .stddev = stddev, .dtype = dtype});
}

const CallEntry kCalls[] = {
    {"full",
     [](Draw &draw) {
       const Shape shape = small_shape(draw);
       const auto value = draw.operand("value");
       const auto dtype = draw.value<DType>("dtype");
       return results(full(shape, value, dtype));
     }},
    {"zeros",
     [](Draw &draw) {
       const Shape shape = small_shape(draw);
       const auto dtype = draw.value<DType>("dtype");
       return results(std::pair(zeros(shape, dtype), ones(shape, dtype)));
     }},
    {"zeros_like",
     [](Draw &draw) {
       const Tensor x = draw.tensor("like");
       return results(std::pair(zeros_like(x), ones_like(x)));
     }},
    {"arange",
     [](Draw &draw) {
       const auto stop = draw.value<std::int64_t>("stop");
       const auto dtype = draw.value<DType>("dtype");
       if (is_large({stop})) return std::vector<Tensor>();
       return results(arange(stop, dtype));
     }},
    {"arange of doubles",
     [](Draw &draw) {
       const auto start = draw.value<double>("start"), stop = draw.value<double>("stop"),
                  step = draw.value<double>("step");
       const auto dtype = draw.value<DType>("dtype");
       if ((stop - start) / step > 1e6 && (stop - start) / step < 1e12)
         return std::vector<Tensor>();
       return results(arange(start, stop, step, dtype));
     }},
    {"eye",
     [](Draw &draw) {
       const auto n = draw.value<std::int64_t>("n");
       const auto dtype = draw.value<DType>("dtype");
       if (is_large({n, n})) return std::vector<Tensor>();
       return results(eye(n, dtype));
     }},
    {"tensor of a span",
     [](Draw &draw) {
       const Shape shape = draw.value<Shape>("shape");
       const std::vector<float> values(6, 1.5F);
       return results(tensor(values, shape));
     }},
    {"operator[]",
     [](Draw &draw) {
       const Tensor x = draw.tensor("x");
       switch (draw.choose(4)) {
       case 0: return results(x[drawn_index(draw)]);
       case 1: {
         const Index a = drawn_index(draw), b = drawn_index(draw);
         return results(x[{a, b}]);
       }
       case 2: {
         const Index a = drawn_index(draw), b = drawn_index(draw), c = drawn_index(draw);
         return results(x[{a, b, c}]);
       }
       default: return results(x[{}]);
       }
     }},
    {"members",
     [](Draw &draw) {
       const Tensor x = draw.tensor("x");
       const auto axes = draw.value<Axes>("axes");
       const bool keepdims = draw.value<bool>("keepdims");
       switch (draw.choose(8)) {
       case 0: return results(x.sum(axes, keepdims));
       case 1: return results(x.mean(axes, keepdims));
       case 2: return results(x.max(axes, keepdims));
       case 3: return results(x.min(axes, keepdims));
       case 4: return results(x.reshape(draw.value<Ints>("shape")));
       case 5: return results(x.transpose(draw.value<Ints>("permutation")));
       case 6: return results(x.mT());
       default: return results(x.astype(draw.value<DType>("dtype")));
       }
     }},
    {"looks",
     [](Draw &draw) {
       const Tensor x = draw.tensor("x");
       switch (draw.choose(6)) {
       case 0: return results(tensor(x.item<float>()));
       case 1: return results(tensor(x.item<std::int64_t>()));
       case 2: return results(tensor(x.item<bool>()));
       case 3: return results(tensor(x.to_vector<double>(), x.shape()));
       case 4: return results(tensor(static_cast<std::int64_t>(x.span<float>().size())));
       default:
         return results(
             tensor(static_cast<std::int64_t>(x.size(draw.value<std::int64_t>("axis")))));
       }
     },
     false},
    {"operators",
     [](Draw &draw) {
       const auto a = draw.operand("a"), b = draw.operand("b");
       const Operand l = a, r = b;
       switch (draw.choose(14)) {
       case 0: return results(l + r);
       case 1: return results(l - r);
       case 2: return results(l * r);
       case 3: return results(l / r);
       case 4: return results(l % r);
       case 5: return results(l < r);
       case 6: return results(l >= r);
       case 7: return results(l == r);
       case 8: return results(l & r);
       case 9: return results(l | r);
       case 10: return results(l ^ r);
       case 11: return results(!l);
       case 12: return results(-l);
       default: return results(l != r);
       }
     }},
    {"square and relu",
     [](Draw &draw) {
       const auto x = draw.operand("x");
       return draw.choose(2) == 0 ? results(square(x)) : results(relu(x));
     }},
    {"print",
     [](Draw &draw) {
       const auto text = draw.value<std::string>("text");
       const auto a = draw.operand("a"), b = draw.operand("b");
       const Operand first = a, second = b;
       if (a.is_tensor() && b.is_tensor()) print(text, a.tensor(), b.tensor());
       return std::vector<Tensor>();
     }},
    {"check",
     [](Draw &draw) {
       const auto condition = draw.operand("condition");
       const auto text = draw.value<std::string>("message");
       const Tensor value = draw.tensor("value");
       check(condition, text, value);
       return results(value);
     }},
    {"fft::hann_window",
     [](Draw &draw) {
       const auto length = draw.value<std::int64_t>("length");
       const fft::WindowOptions options{.periodic = draw.value<bool>("periodic"),
                                        .dtype = draw.value<DType>("dtype")};
       if (is_large({length})) return std::vector<Tensor>();
       return results(
           std::pair(fft::hann_window(length, options), fft::hamming_window(length, options)));
     }},
    {"fft::fftfreq",
     [](Draw &draw) {
       const auto n = draw.value<std::int64_t>("n");
       const fft::FrequencyOptions options{.d = draw.value<double>("d"),
                                           .dtype = draw.value<DType>("dtype")};
       if (is_large({n})) return std::vector<Tensor>();
       return results(std::pair(fft::fftfreq(n, options), fft::rfftfreq(n, options)));
     }},
    {"random::key",
     [](Draw &draw) { return results(random::key(draw.value<std::uint64_t>("seed"))); }},
    {"random::uniform",
     [](Draw &draw) {
       const Shape shape = small_shape(draw);
       const auto low = draw.value<double>("low"), high = draw.value<double>("high");
       const auto dtype = draw.value<DType>("dtype");
       return results(random::uniform(
           shape,
           by_numbers(draw, random::UniformOptions{.low = low, .high = high, .dtype = dtype})));
     }},
    {"random::normal",
     [](Draw &draw) {
       const Shape shape = small_shape(draw);
       return results(random::normal(shape, normal_options(draw)));
     }},
    {"random::truncated_normal",
     [](Draw &draw) {
       const Shape shape = small_shape(draw);
       return results(random::truncated_normal(shape, normal_options(draw)));
     }},
    {"random::bernoulli",
     [](Draw &draw) {
       const Shape shape = small_shape(draw);
       const auto probability = draw.operand("probability");
       return results(
           random::bernoulli(shape, probability, by_numbers(draw, random::BernoulliOptions())));
     }},
    {"random::categorical",
     [](Draw &draw) {
       const auto logits = draw.operand("logits");
       const auto axis = draw.value<std::int64_t>("axis");
       return results(
           random::categorical(logits, by_numbers(draw, random::CategoricalOptions{.axis = axis})));
     }},
    {"random::randint",
     [](Draw &draw) {
       const Shape shape = small_shape(draw);
       const auto low = draw.value<std::int64_t>("low"), high = draw.value<std::int64_t>("high");
       const auto dtype = draw.value<DType>("dtype");
       return results(random::randint(shape, low, high,
                                      by_numbers(draw, random::RandintOptions{.dtype = dtype})));
     }},
    {"random::permutation",
     [](Draw &draw) {
       const auto n = draw.value<std::int64_t>("n");
       const auto dtype = draw.value<DType>("dtype");
       if (is_large({n})) return std::vector<Tensor>();
       return results(
           random::permutation(n, by_numbers(draw, random::PermutationOptions{.dtype = dtype})));
     }},
    {"Generator",
     [](Draw &draw) {
       const random::Generator generator(draw.value<std::uint64_t>("seed"));
       const Tensor like = draw.tensor("like");
       const auto dtype = draw.value<DType>("dtype");
       const std::tuple drawn(generator.uniform(random::like(like)), generator.key(),
                              generator.randint(random::like(like), -3, 4));
       Tensor more;
       switch (draw.choose(6)) {
       case 0: more = generator.normal(random::like(like), {.dtype = dtype}); break;
       case 1: more = generator.truncated_normal(random::like(like), {.dtype = dtype}); break;
       case 2: more = generator.bernoulli(draw.operand("probability")); break;
       case 3:
         more = generator.categorical(draw.operand("logits"), draw.value<std::int64_t>("axis"));
         break;
       case 4: more = generator.permutation(5, dtype); break;
       default: more = generator.shuffle(draw.operand("x")); break;
       }
       return results(std::tuple(drawn, more, generator.state().value()));
     },
     false},
    {"IndexedSlices::dense",
     [](Draw &draw) {
       const Tensor values = draw.tensor("values"), indices = draw.tensor("indices");
       const Shape shape = small_shape(draw);
       return results(IndexedSlices{values, indices, shape}.dense());
     },
     false},
};

} // namespace

std::span<const CallEntry> tensor_calls() { return kCalls; }

} // namespace weft::fuzz
