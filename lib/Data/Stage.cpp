// What all stages have in common: descriptions, seeds, errors, and rows of sources.
#include "Data/Stage.h"

#include <algorithm>

#include "Support/Fault.h"

namespace weft::data::detail {

namespace {

class Computed final : public Maker {
public:
  Computed(Item item, std::string origin) : item_(std::move(item)), origin_(std::move(origin)) {}
  Item make(std::int64_t) const override { return item_; }
  std::string origin(std::int64_t) const override { return origin_; }

private:
  Item item_;
  std::string origin_;
};

class RowCursor final : public Cursor {
public:
  RowCursor(std::shared_ptr<const Maker> rows, std::int64_t size)
      : rows_(std::move(rows)), size_(size) {}
  bool next(Lazy &element) override {
    if (at_ == size_) return false;
    element = Lazy(rows_, at_++);
    return true;
  }
  std::int64_t skip(std::int64_t count) override {
    count = std::min(count, size_ - at_);
    at_ += count;
    return count;
  }

private:
  std::shared_ptr<const Maker> rows_;
  std::int64_t size_, at_ = 0;
};

void describe_into(const Stage &stage, std::vector<std::string> &lines) {
  std::string own = stage.describe();
  if (stage.inputs().size() == 1) {
    describe_into(stage.input(), lines);
  } else if (stage.inputs().size() > 1) {
    for (std::size_t i = 0; i < stage.inputs().size(); ++i) {
      const std::vector<std::string> inner = describe_all(stage.input(i));
      own += i == 0 ? " of [" : ", [";
      for (std::size_t j = 0; j < inner.size(); ++j) own += (j == 0 ? "" : " | ") + inner[j];
      own += ']';
    }
  }
  if (!own.empty()) lines.push_back(std::move(own));
}

} // namespace

Lazy::Lazy(Item item, std::string origin)
    : maker_(std::make_shared<Computed>(std::move(item), std::move(origin))) {}

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  // The finalizer of SplitMix64, twice.
  std::uint64_t word = a;
  for (const std::uint64_t next : {b, a}) {
    word += next + 0x9e3779b97f4a7c15u;
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
    word = (word ^ word >> 27) * 0x94d049bb133111ebu;
    word ^= word >> 31;
  }
  return word;
}

Varying Stage::varying() const {
  Varying widest = Varying::none;
  for (const StagePointer &each : inputs_) widest = std::max(widest, each->varying());
  return widest;
}

std::unique_ptr<Cursor> RowStage::start(const Epoch &) const {
  return std::make_unique<RowCursor>(rows_, size_);
}

std::vector<std::string> describe_all(const Stage &stage) {
  std::vector<std::string> lines;
  describe_into(stage, lines);
  return lines;
}

bool any_wants_seed(const Stage &stage) {
  return stage.wants_seed() || std::ranges::any_of(stage.inputs(), [](const StagePointer &input) {
           return any_wants_seed(*input);
         });
}

namespace {
std::string named(const char *stage, std::int64_t ordinal, const Lazy &element) {
  const std::string origin = element.origin();
  return std::string(stage) + ": element " + std::to_string(ordinal) +
         (origin.empty() ? "" : " (" + origin + ")");
}
} // namespace

ForeignError::~ForeignError() = default;

void rethrow_for(const Error &error, const char *stage, std::int64_t ordinal, const Lazy &element) {
  raise(error.kind(), named(stage, ordinal, element) + ": " + std::string(error.message()),
        error.location());
}
void note_for(ForeignError &error, const char *stage, std::int64_t ordinal, const Lazy &element) {
  error.add_note(named(stage, ordinal, element));
}

void check_count(const char *what, std::int64_t count, std::int64_t least, std::int64_t most) {
  if (count >= least && count <= most) return;
  raise(ErrorKind::value, std::string(what) + " is " + std::to_string(count) + " but must be " +
                              std::to_string(least) +
                              (count < least ? " or more" : " to " + std::to_string(most)));
}

} // namespace weft::data::detail
