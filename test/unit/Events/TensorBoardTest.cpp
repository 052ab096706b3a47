// Writes what test/unit/Events/read_back.py reads with the tensorboard package: ./x check
// tensorboard says where.
#include "../Testing.h"

#include <cstdlib>

#include <weft/events.h>
#include <weft/weft.h>

namespace weft {
namespace {

TEST(TensorBoard, ReadsWhatIsWritten) {
  const char *const folder = std::getenv("WEFT_EVENTS_FOLDER");
  if (folder == nullptr) GTEST_SKIP() << "./x check tensorboard runs it";
  const events::Writer writer(folder);
  for (int step = 0; step < 10; ++step)
    writer.within("train").scalar("loss", 1.F / static_cast<float>(step + 1), step);
  writer.histogram("weights", arange(1000, f64), 1);
  writer.image("picture", tensor({{0, 255, 7}, {1, 2, 3}}), 1);
  writer.text("note", "# A run\n\nwith *words*", 1);
  writer.hyperparameters({{"rate", 0.01}, {"units", std::int64_t{64}}, {"name", "a"}, {"on", true}},
                         {"train/loss"});
  const auto clip = function(
      [](const Tensor &x) {
        return cond(sum(x) > 0, [&] { return exp(x); }, [&] { return x * 2; });
      },
      {.name = "clip"});
  writer.graph(clip.graph(ones({3})));
  writer.finished();
}

} // namespace
} // namespace weft
