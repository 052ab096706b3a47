// An LSTM that learns which letter comes next, with a falling learning rate and clipped gradients,
// and then writes on by itself.
#include <cstdio>
#include <string>
#include <vector>

#include <weft/weft.h>

using namespace weft;

namespace {

const std::string text =
    "the warp runs the length of the loom and the weft crosses it from edge to edge; each pass of "
    "the shuttle lays one thread, and thread by thread the cloth is made. ";

constexpr std::int64_t kUnits = 64, kBatch = 16, kTime = 24, kSteps = 600;

struct LanguageModel {
  nn::Embedding letters;
  nn::LSTM lstm{kUnits, {.return_sequences = true}};
  nn::Dense scores;
  explicit LanguageModel(std::int64_t count) : letters(count, 16), scores(count) {}
  WEFT_FIELDS(LanguageModel, letters, lstm, scores)

  /// (batch, time) letters to the scores of each next one, and the state behind them.
  std::pair<Tensor, nn::LSTMState>
  operator()(const Tensor &x, const std::optional<nn::LSTMState> &state = {}) const {
    const auto [shown, last] = lstm.run(letters(x), state);
    return {scores(shown), last};
  }
};

} // namespace

int main() {
  std::string alphabet;
  for (const char c : text)
    if (alphabet.find(c) == alphabet.npos) alphabet += c;
  std::vector<std::int32_t> codes;
  for (const char c : text + text) codes.push_back(static_cast<std::int32_t>(alphabet.find(c)));
  const Tensor all_codes = tensor(codes);
  const auto count = static_cast<std::int64_t>(alphabet.size());

  const LanguageModel model(count);
  nn::seed(model, 3);
  const optimizers::Adam adam(
      model, {.learning_rate = optimizers::exponential_decay(0.01, {.steps = 200, .rate = 0.5}),
              .clip_global_norm = 1.0});
  const auto step = function([&](const Tensor &starts) {
    const Tensor positions = reshape(starts, {kBatch, 1}) + iota(i32, {kTime + 1});
    const Tensor pieces = gather(all_codes, positions);
    GradientTape tape;
    const Tensor scores = model(pieces[{all, slice(0, kTime)}]).first;
    const Tensor next = reshape(pieces[{all, slice(1, kTime + 1)}], {kBatch * kTime});
    const Tensor loss =
        losses::softmax_cross_entropy(next, reshape(scores, {kBatch * kTime, count}));
    adam.apply_gradients(tape.gradient(loss, model));
    return loss;
  });

  const random::Generator starts(4);
  const auto last = static_cast<std::int64_t>(text.size());
  for (std::int64_t i = 1; i <= kSteps; ++i) {
    const Tensor loss = step(starts.randint({kBatch}, 0, last, i32));
    if (i % 100 == 0)
      std::printf("step %lld: loss %.3f\n", static_cast<long long>(i), loss.item<double>());
  }

  // One letter at a time, each chosen by the last.
  const auto next = function([&](const Tensor &letter, const nn::LSTMState &state) {
    const auto [scores, after] = model(reshape(letter, {1, 1}), state);
    return std::pair(argmax(reshape(scores, {count})).astype(i32), after);
  });
  Tensor letter = tensor(static_cast<std::int32_t>(alphabet.find('t')));
  nn::LSTMState state = model.lstm.cell.zero_state(zeros({1, 16}));
  std::string written = "t";
  for (int i = 0; i < 60; ++i) {
    std::tie(letter, state) = next(letter, state);
    written += alphabet[static_cast<std::size_t>(letter.item<std::int32_t>())];
  }
  std::printf("%s\n", written.c_str());
}
