// Stages that choose and order elements and never look into them.
#include <algorithm>

#include "Data/Stage.h"

namespace weft::data::detail {

namespace {

std::optional<std::int64_t> times(std::optional<std::int64_t> size, std::int64_t count) {
  std::int64_t product = 0;
  if (size == 0 || count == 0) return 0;
  if (!size || *size == kEndless) return size;
  // Nobody comes to the end of more than can be counted.
  if (__builtin_mul_overflow(*size, count, &product)) return kEndless;
  return product;
}

/// `count` elements from number `first` on.
class Slice final : public Stage {
public:
  Slice(StagePointer input, std::int64_t first, std::int64_t count)
      : Stage({std::move(input)}), first_(first), count_(count) {}
  std::string describe() const override {
    if (first_ == 0) return "take(" + std::to_string(count_) + ")";
    return count_ == kEndless
               ? "skip(" + std::to_string(first_) + ")"
               : "skip(" + std::to_string(first_) + ").take(" + std::to_string(count_) + ")";
  }
  std::optional<std::int64_t> size() const override {
    const auto whole = input().size();
    if (!whole) return std::nullopt;
    if (*whole == kEndless) return count_;
    return std::min(count_, std::max<std::int64_t>(*whole - first_, 0));
  }
  std::unique_ptr<Cursor> start(const Epoch &epoch) const override {
    return std::make_unique<SliceCursor>(start_input(epoch), first_, count_);
  }

private:
  class SliceCursor final : public Cursor {
  public:
    SliceCursor(std::unique_ptr<Cursor> input, std::int64_t first, std::int64_t count)
        : input_(std::move(input)), before_(first), left_(count) {}
    bool next(Lazy &element) override {
      pass_first();
      if (left_ == 0 || !input_->next(element)) return false;
      --left_;
      return true;
    }
    std::int64_t skip(std::int64_t count) override {
      pass_first();
      count = input_->skip(std::min(count, left_));
      left_ -= count;
      return count;
    }

  private:
    void pass_first() {
      if (before_ != 0) input_->skip(std::exchange(before_, 0));
    }
    std::unique_ptr<Cursor> input_;
    std::int64_t before_, left_;
  };

  std::int64_t first_, count_;
};

class Shard final : public Stage {
public:
  Shard(StagePointer input, std::int64_t count, std::int64_t index)
      : Stage({std::move(input)}), count_(count), index_(index) {}
  std::string describe() const override {
    return "shard(" + std::to_string(count_) + ", " + std::to_string(index_) + ")";
  }
  std::optional<std::int64_t> size() const override {
    const auto whole = input().size();
    if (!whole || *whole == kEndless) return whole;
    return *whole / count_ + (*whole % count_ > index_ ? 1 : 0);
  }
  std::unique_ptr<Cursor> start(const Epoch &epoch) const override {
    return std::make_unique<ShardCursor>(start_input(epoch), count_, index_);
  }

private:
  class ShardCursor final : public Cursor {
  public:
    ShardCursor(std::unique_ptr<Cursor> input, std::int64_t count, std::int64_t index)
        : input_(std::move(input)), count_(count), before_(index) {}
    bool next(Lazy &element) override {
      input_->skip(std::exchange(before_, count_ - 1));
      return input_->next(element);
    }
    std::int64_t skip(std::int64_t count) override {
      std::int64_t done = 0;
      for (; done < count; ++done) {
        input_->skip(std::exchange(before_, count_ - 1));
        if (input_->skip(1) == 0) break;
      }
      return done;
    }

  private:
    std::unique_ptr<Cursor> input_;
    std::int64_t count_, before_;
  };

  std::int64_t count_, index_;
};

class Repeat final : public Stage {
public:
  Repeat(StagePointer input, std::optional<std::int64_t> count)
      : Stage({std::move(input)}), count_(count) {}
  std::string describe() const override {
    return count_ ? "repeat(" + std::to_string(*count_) + ")" : "repeat()";
  }
  std::optional<std::int64_t> size() const override {
    const auto once = input().size();
    if (count_) return times(once, *count_);
    return once && *once != 0 ? std::optional(kEndless) : once;
  }
  std::unique_ptr<Cursor> start(const Epoch &epoch) const override {
    return std::make_unique<RepeatCursor>(*this, epoch);
  }

private:
  class RepeatCursor final : public Cursor {
  public:
    RepeatCursor(const Repeat &stage, const Epoch &epoch) : stage_(stage), epoch_(epoch) {}
    bool next(Lazy &element) override {
      while (open()) {
        if (input_->next(element)) return had_any_ = true;
        close();
      }
      return false;
    }
    std::int64_t skip(std::int64_t count) override {
      std::int64_t done = skip_rounds(count);
      while (done < count && open()) {
        const std::int64_t passed = input_->skip(count - done);
        had_any_ |= passed != 0;
        done += passed;
        if (done < count) {
          close();
          done += skip_rounds(count - done);
        }
      }
      return done;
    }

  private:
    /// Passes over whole rounds without starting them: a run may have had a great many. Returns how
    /// many elements those have.
    std::int64_t skip_rounds(std::int64_t count) {
      const std::int64_t once = stage_.input().size().value_or(0);
      if (input_ != nullptr || ended_ || once <= 0) return 0;
      std::int64_t rounds = count / once;
      if (stage_.count_) rounds = std::min(rounds, *stage_.count_ - round_);
      round_ += rounds;
      return rounds * once;
    }
    bool open() {
      if (input_ != nullptr) return true;
      if (ended_ || (stage_.count_ && round_ == *stage_.count_)) return false;
      Epoch inner = epoch_;
      // Epochs of the whole are as many rounds apart as one has.
      const std::uint64_t rounds =
          stage_.count_ ? static_cast<std::uint64_t>(*stage_.count_) : std::uint64_t{1} << 32;
      inner.number = epoch_.number * rounds + static_cast<std::uint64_t>(round_);
      input_ = stage_.start_input(inner);
      had_any_ = false;
      return true;
    }
    void close() {
      input_.reset();
      ++round_;
      ended_ = !had_any_; // nothing without end is nothing
    }
    const Repeat &stage_;
    Epoch epoch_;
    std::unique_ptr<Cursor> input_;
    std::int64_t round_ = 0;
    bool had_any_ = false, ended_ = false;
  };

  std::optional<std::int64_t> count_;
};

class Concatenation final : public Stage {
public:
  explicit Concatenation(std::vector<StagePointer> inputs) : Stage(std::move(inputs)) {}
  std::string describe() const override { return "concatenate"; }
  std::optional<std::int64_t> size() const override {
    std::int64_t sum = 0;
    for (const StagePointer &each : inputs()) {
      const auto size = each->size();
      if (!size) return std::nullopt;
      if (__builtin_add_overflow(sum, *size, &sum)) return kEndless;
    }
    return sum;
  }
  std::unique_ptr<Cursor> start(const Epoch &epoch) const override {
    return std::make_unique<ConcatenationCursor>(*this, epoch);
  }

private:
  class ConcatenationCursor final : public Cursor {
  public:
    ConcatenationCursor(const Concatenation &stage, const Epoch &epoch)
        : stage_(stage), epoch_(epoch) {}
    bool next(Lazy &element) override {
      for (; open(); close())
        if (input_->next(element)) return true;
      return false;
    }
    std::int64_t skip(std::int64_t count) override {
      std::int64_t done = 0;
      for (; open(); close()) {
        done += input_->skip(count - done);
        if (done == count) break;
      }
      return done;
    }

  private:
    bool open() {
      if (at_ == stage_.inputs().size()) return false;
      if (input_ == nullptr) input_ = stage_.input(at_).start(epoch_.of_input(at_));
      return true;
    }
    void close() {
      input_.reset();
      ++at_;
    }
    const Concatenation &stage_;
    Epoch epoch_;
    std::unique_ptr<Cursor> input_;
    std::size_t at_ = 0;
  };
};

class Frozen final : public Stage {
public:
  explicit Frozen(StagePointer input) : Stage({std::move(input)}) {}
  std::string describe() const override { return ""; }
  std::unique_ptr<Cursor> start(const Epoch &epoch) const override {
    Epoch first = epoch;
    first.number = 0;
    return start_input(first);
  }
};

class Open final : public Stage {
public:
  explicit Open(StagePointer input) : Stage({std::move(input)}) {}
  std::string describe() const override { return ""; }
  Varying varying() const override { return Varying::all; }
  std::unique_ptr<Cursor> start(const Epoch &epoch) const override {
    return input().start(epoch); // the same elements, drawn by the same seeds
  }
};

/// A buffer of elements: one is chosen, handed out and replaced by the next of the input.
class Shuffle final : public Stage {
public:
  Shuffle(StagePointer input, const ShuffleOptions &options)
      : Stage({std::move(input)}), options_(options) {}
  std::string describe() const override {
    return "shuffle(buffer=" + (options_.buffer == 0 ? "all" : std::to_string(options_.buffer)) +
           (options_.seed ? ", seed=" + std::to_string(*options_.seed) : "") +
           (options_.reshuffle ? ")" : ", the same each epoch)");
  }
  bool wants_seed() const override { return !options_.seed; }
  std::unique_ptr<Cursor> start(const Epoch &epoch) const override {
    const std::uint64_t seed = options_.seed.value_or(epoch.seed);
    return std::make_unique<ShuffleCursor>(start_input(epoch),
                                           options_.buffer == 0 ? kEndless : options_.buffer,
                                           mixed(seed, options_.reshuffle ? epoch.number : 0));
  }

private:
  class ShuffleCursor final : public Cursor {
  public:
    ShuffleCursor(std::unique_ptr<Cursor> input, std::int64_t buffer, std::uint64_t seed)
        : input_(std::move(input)), capacity_(static_cast<std::size_t>(buffer)), seed_(seed) {}
    bool next(Lazy &element) override {
      if (!filled_) fill();
      if (buffer_.empty()) return false;
      Lazy &chosen = buffer_[below(buffer_.size())];
      element = std::move(chosen);
      if (ended_ || !input_->next(chosen)) {
        ended_ = true;
        chosen = std::move(buffer_.back());
        buffer_.pop_back();
      }
      return true;
    }

  private:
    void fill() {
      filled_ = true;
      Lazy element;
      while (buffer_.size() < capacity_) {
        if (!input_->next(element)) {
          ended_ = true;
          break;
        }
        buffer_.push_back(std::move(element));
      }
    }
    /// A number below `count`, all equally likely: by Lemire, "Fast Random Integer Generation in an
    /// Interval" (2019).
    std::size_t below(std::uint64_t count) {
      for (;;) {
        const auto product = static_cast<unsigned __int128>(mixed(seed_, drawn_++)) * count;
        const auto low = static_cast<std::uint64_t>(product);
        if (low >= count || low >= -count % count) return static_cast<std::size_t>(product >> 64);
      }
    }
    std::unique_ptr<Cursor> input_;
    std::size_t capacity_;
    std::uint64_t seed_, drawn_ = 0;
    std::vector<Lazy> buffer_;
    bool filled_ = false, ended_ = false;
  };

  ShuffleOptions options_;
};

} // namespace

StagePointer make_slice(StagePointer input, std::int64_t first, std::int64_t count) {
  return std::make_shared<Slice>(std::move(input), first, count);
}
StagePointer make_shard(StagePointer input, std::int64_t count, std::int64_t index) {
  return std::make_shared<Shard>(std::move(input), count, index);
}
StagePointer make_repeat(StagePointer input, std::optional<std::int64_t> count) {
  return std::make_shared<Repeat>(std::move(input), count);
}
StagePointer make_concatenation(std::vector<StagePointer> inputs) {
  return std::make_shared<Concatenation>(std::move(inputs));
}
StagePointer make_open(StagePointer input) { return std::make_shared<Open>(std::move(input)); }
StagePointer make_frozen(StagePointer input) { return std::make_shared<Frozen>(std::move(input)); }
StagePointer make_shuffle(StagePointer input, const ShuffleOptions &options) {
  return std::make_shared<Shuffle>(std::move(input), options);
}

} // namespace weft::data::detail
