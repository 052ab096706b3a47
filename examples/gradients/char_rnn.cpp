// char_rnn: a recurrent network that learns a rhyme letter by letter; scan runs its cell along the
// text, and the gradient goes back through it.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <weft/weft.h>
using namespace weft;

namespace {

constexpr std::string_view text =
    "one for sorrow, two for mirth, three for a funeral, four for birth, "
    "five for heaven, six for hell, seven for the devil, his own self. ";
constexpr std::int64_t units = 64;

/// The letters of the text, each once.
std::string alphabet() {
  std::string letters;
  for (const char c : text)
    if (letters.find(c) == letters.npos) letters += c;
  return letters;
}

struct Cell {
  Variable input, state, output, bias;
  WEFT_FIELDS(Cell, input, state, output, bias)

  explicit Cell(std::int64_t letters)
      : input(random::normal({letters, units}, {.seed = 1, .stddev = 0.2f}), "input"),
        state(random::normal({units, units}, {.seed = 2, .stddev = 0.1f}), "state"),
        output(random::normal({units, letters}, {.seed = 3, .stddev = 0.2f}), "output"),
        bias(zeros({units}), "bias") {}

  /// The state (units) after a letter, of which the network reads its row of `input`.
  Tensor next(const Tensor &h, const Tensor &letter) const {
    return tanh(gather(input.value(), letter) + matmul(h, state.value()) + bias.value());
  }
  Tensor logits(const Tensor &h) const { return matmul(h, output.value()); }
};

} // namespace

int main() {
  const std::string letters = alphabet();
  std::vector<std::int32_t> codes;
  for (const char c : text) codes.push_back(static_cast<std::int32_t>(letters.find(c)));
  const std::vector<std::int32_t> before(codes.begin(), codes.end() - 1),
      behind(codes.begin() + 1, codes.end());
  const auto size = static_cast<std::int64_t>(before.size());
  const Tensor inputs = tensor(before, {size}), targets = tensor(behind, {size});

  const Cell cell(static_cast<std::int64_t>(letters.size()));
  const std::vector<Variable> parameters = {cell.input, cell.state, cell.output, cell.bias};
  optimizers::Adam optimizer(parameters, {.learning_rate = 5e-3f});
  const auto step = function([&] {
    GradientTape tape;
    const auto [last, states] = scan(
        [&](const Tensor &h, const Tensor &letter) {
          const Tensor next = cell.next(h, letter);
          return std::pair(next, next);
        },
        zeros({units}), inputs);
    const Tensor loss = losses::softmax_cross_entropy(targets, cell.logits(states));
    optimizer.apply_gradients(tape.gradient(loss, parameters));
    return loss;
  });
  for (int i = 0; i <= 400; ++i) {
    const Tensor loss = step();
    if (i % 100 == 0) std::printf("step %3d: loss %.3f\n", i, loss.item<float>());
  }

  // From its first letter on the network says the rest by itself.
  const auto say = function([&](const Tensor &h, const Tensor &letter) {
    const Tensor next = cell.next(h, letter);
    return std::pair(next, cast(argmax(cell.logits(next), {.axis = 0}), i32));
  });
  std::string said(1, text[0]);
  std::pair at(zeros({units}), tensor(codes[0]));
  while (said.size() < text.size()) {
    at = say(at.first, at.second);
    said += letters[static_cast<std::size_t>(at.second.item<std::int32_t>())];
  }
  std::printf("%s\n", said.c_str());
}
