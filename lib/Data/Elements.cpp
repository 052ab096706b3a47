// Stages that make elements, one at a time: map, filter, zip, generators, interleave, cache.
#include <algorithm>
#include <mutex>

#include "Data/Stage.h"
#include "Runtime/NewTensor.h"
#include "Support/Fault.h"

namespace weft::data::detail {

namespace {

/// What the elements of one epoch of a map have in common.
struct MapRun {
  MapFunction function;
  std::uint64_t seed;
  bool parallel;
  mutable std::mutex mutex; ///< held in the function unless that is called in parallel
};

class MapMaker final : public Maker {
public:
  MapMaker(std::shared_ptr<const MapRun> run, Lazy input)
      : run_(std::move(run)), input_(std::move(input)) {}
  Item make(std::int64_t ordinal) const override {
    Item item = input_.make();
    return called_for("map", ordinal, input_, [&] {
      std::unique_lock<std::mutex> lock;
      if (!run_->parallel) lock = std::unique_lock(run_->mutex);
      Item result =
          run_->function(std::move(item), mixed(run_->seed, static_cast<std::uint64_t>(ordinal)));
      for (const Tensor &tensor : result.tensors)
        if (!tensor.defined())
          raise(ErrorKind::value, "the function returns a tensor that is undefined");
      return result;
    });
  }
  std::string origin(std::int64_t) const override { return input_.origin(); }

private:
  std::shared_ptr<const MapRun> run_;
  Lazy input_;
};

class Map final : public Stage {
public:
  Map(StagePointer input, MapFunction f, bool seeded, std::optional<std::uint64_t> seed,
      bool parallel)
      : Stage({std::move(input)}), function_(std::move(f)), seeded_(seeded), seed_(seed),
        parallel_(parallel) {}
  std::string describe() const override {
    return seeded_ && seed_ ? "map(seed=" + std::to_string(*seed_) + ")" : "map";
  }
  bool wants_seed() const override { return seeded_ && !seed_; }
  std::unique_ptr<Cursor> start(const Epoch &epoch) const override {
    auto run = std::make_shared<MapRun>(function_, mixed(seed_.value_or(epoch.seed), epoch.number),
                                        parallel_);
    return std::make_unique<MapCursor>(start_input(epoch), std::move(run));
  }

private:
  class MapCursor final : public Cursor {
  public:
    MapCursor(std::unique_ptr<Cursor> input, std::shared_ptr<const MapRun> run)
        : input_(std::move(input)), run_(std::move(run)) {}
    bool next(Lazy &element) override {
      Lazy inner;
      if (!input_->next(inner)) return false;
      element = Lazy(std::make_shared<MapMaker>(run_, std::move(inner)), ordinal_++);
      return true;
    }
    std::int64_t skip(std::int64_t count) override {
      count = input_->skip(count);
      ordinal_ += count;
      return count;
    }

  private:
    std::unique_ptr<Cursor> input_;
    std::shared_ptr<const MapRun> run_;
    std::int64_t ordinal_ = 0;
  };

  MapFunction function_;
  bool seeded_;
  std::optional<std::uint64_t> seed_;
  bool parallel_;
};

class Filter final : public Stage {
public:
  Filter(StagePointer input, Predicate predicate)
      : Stage({std::move(input)}), predicate_(std::move(predicate)) {}
  std::string describe() const override { return "filter"; }
  std::optional<std::int64_t> size() const override {
    return input().size() == 0 ? std::optional<std::int64_t>(0) : std::nullopt;
  }
  std::unique_ptr<Cursor> start(const Epoch &epoch) const override {
    return std::make_unique<FilterCursor>(start_input(epoch), predicate_);
  }

private:
  class FilterCursor final : public Cursor {
  public:
    FilterCursor(std::unique_ptr<Cursor> input, const Predicate &predicate)
        : input_(std::move(input)), predicate_(predicate) {}
    bool next(Lazy &element) override {
      while (input_->next(element)) {
        Item item = element.make();
        const bool keep =
            called_for("filter", ordinal_++, element, [&] { return predicate_(item); });
        if (!keep) continue;
        element = Lazy(std::move(item), element.origin());
        return true;
      }
      return false;
    }

  private:
    std::unique_ptr<Cursor> input_;
    const Predicate &predicate_;
    std::int64_t ordinal_ = 0;
  };

  Predicate predicate_;
};

class ZipMaker final : public Maker {
public:
  ZipMaker(std::vector<Lazy> parts, const JoinFunction &join)
      : parts_(std::move(parts)), join_(join) {}
  Item make(std::int64_t) const override {
    std::vector<Item> items;
    for (const Lazy &part : parts_) items.push_back(part.make());
    if (join_) return join_(std::move(items));
    Item whole = std::move(items[0]);
    for (std::size_t i = 1; i < items.size(); ++i)
      whole.tensors.insert(whole.tensors.end(), items[i].tensors.begin(), items[i].tensors.end());
    return whole;
  }
  std::string origin(std::int64_t) const override {
    std::string all;
    for (const Lazy &part : parts_) {
      const std::string one = part.origin();
      if (!one.empty()) all += (all.empty() ? "" : " and ") + one;
    }
    return all;
  }
  const std::vector<Lazy> *columns() const override { return join_ ? nullptr : &parts_; }

private:
  std::vector<Lazy> parts_;
  JoinFunction join_;
};

class Zip final : public Stage {
public:
  Zip(std::vector<StagePointer> inputs, JoinFunction join)
      : Stage(std::move(inputs)), join_(std::move(join)) {}
  std::string describe() const override { return "zip"; }
  std::optional<std::int64_t> size() const override {
    std::int64_t shortest = kEndless;
    for (const StagePointer &each : inputs()) {
      const auto size = each->size();
      if (!size) return std::nullopt;
      shortest = std::min(shortest, *size);
    }
    return shortest;
  }
  std::unique_ptr<Cursor> start(const Epoch &epoch) const override {
    std::vector<std::unique_ptr<Cursor>> cursors;
    for (std::size_t i = 0; i < inputs().size(); ++i)
      cursors.push_back(input(i).start(epoch.of_input(i)));
    return std::make_unique<ZipCursor>(std::move(cursors), join_);
  }

private:
  class ZipCursor final : public Cursor {
  public:
    ZipCursor(std::vector<std::unique_ptr<Cursor>> inputs, const JoinFunction &join)
        : inputs_(std::move(inputs)), join_(join) {}
    bool next(Lazy &element) override {
      if (ended_) return false;
      std::vector<Lazy> parts(inputs_.size());
      for (std::size_t i = 0; i < parts.size(); ++i)
        if (!inputs_[i]->next(parts[i])) {
          ended_ = true;
          return false;
        }
      element = Lazy(std::make_shared<ZipMaker>(std::move(parts), join_), 0);
      return true;
    }
    std::int64_t skip(std::int64_t count) override {
      if (ended_) return 0;
      std::int64_t least = count;
      for (const auto &input : inputs_) least = std::min(least, input->skip(count));
      ended_ = least < count;
      return least;
    }

  private:
    std::vector<std::unique_ptr<Cursor>> inputs_;
    const JoinFunction &join_;
    bool ended_ = false;
  };

  JoinFunction join_;
};

class GeneratorStage final : public Stage {
public:
  explicit GeneratorStage(std::function<Generator(bool)> start) : start_(std::move(start)) {}
  std::string describe() const override { return "from_generator"; }
  std::optional<std::int64_t> size() const override { return std::nullopt; }
  std::unique_ptr<Cursor> start(const Epoch &epoch) const override {
    return std::make_unique<GeneratorCursor>(start_(epoch.for_types));
  }

private:
  class GeneratorCursor final : public Cursor {
  public:
    explicit GeneratorCursor(Generator generate) : generate_(std::move(generate)) {}
    bool next(Lazy &element) override {
      if (ended_) return false;
      std::optional<Item> item =
          called_for("from_generator", ordinal_, nowhere_, [&] { return generate_(); });
      ended_ = !item;
      if (ended_) return false;
      ++ordinal_;
      element = Lazy(*std::move(item));
      return true;
    }

  private:
    Generator generate_;
    Lazy nowhere_{Item{}};
    std::int64_t ordinal_ = 0;
    bool ended_ = false;
  };

  std::function<Generator(bool)> start_;
};

/// The numbers of a range, as i64 scalars and vectors.
class RangeMaker final : public Maker {
public:
  RangeMaker(std::int64_t start, std::int64_t step) : start_(start), step_(step) {}
  Item make(std::int64_t index) const override {
    return {{weft::detail::new_scalar<std::int64_t>(start_ + index * step_)}, nullptr};
  }
  std::optional<Item> gather(std::span<const std::int64_t> indices) const override {
    const auto count = static_cast<std::int64_t>(indices.size());
    const Tensor result = weft::detail::new_tensor(DType::i64, {{count}});
    auto *to = weft::detail::elements<std::int64_t>(result);
    for (const std::int64_t index : indices) *to++ = start_ + index * step_;
    return Item{{result}, nullptr};
  }

private:
  std::int64_t start_, step_;
};

/// Data sets that are open at the same time alternate, as in tf.data.
class Interleave final : public Stage {
public:
  Interleave(StagePointer input, std::function<StagePointer(Item)> open,
             const InterleaveOptions &options)
      : Stage({std::move(input)}), open_(std::move(open)), options_(options) {}
  std::string describe() const override {
    return "interleave(cycle=" + std::to_string(options_.cycle) +
           ", block=" + std::to_string(options_.block) + ")";
  }
  std::optional<std::int64_t> size() const override { return std::nullopt; }
  // What is inside is only known once it is opened.
  Varying varying() const override { return Varying::all; }
  bool wants_seed() const override { return true; }
  std::unique_ptr<Cursor> start(const Epoch &epoch) const override {
    return std::make_unique<InterleaveCursor>(*this, epoch);
  }

private:
  class InterleaveCursor final : public Cursor {
  public:
    InterleaveCursor(const Interleave &stage, const Epoch &epoch)
        : stage_(stage), epoch_(epoch), input_(stage.start_input(epoch)),
          cycle_(static_cast<std::size_t>(stage.options_.cycle)) {}
    bool next(Lazy &element) override {
      return advance([&](Cursor &inner) { return inner.next(element); });
    }
    std::int64_t skip(std::int64_t count) override {
      std::int64_t done = 0;
      while (done < count && advance([](Cursor &inner) { return inner.skip(1) == 1; })) ++done;
      return done;
    }

  private:
    struct Open {
      StagePointer stage; ///< outlives its cursor
      std::unique_ptr<Cursor> cursor;
    };
    /// Has `take` take one element of the data set that is next.
    template <class Take>
    bool advance(const Take &take) {
      for (std::size_t empty = 0; empty < cycle_.size();) {
        Open &here = cycle_[current_];
        if (here.cursor == nullptr && !open(here)) {
          ++empty;
          next_input();
        } else if (take(*here.cursor)) {
          if (++taken_ == stage_.options_.block) next_input();
          return true;
        } else {
          here = {};
          empty = 0;
          next_input();
        }
      }
      return false;
    }
    bool open(Open &input) {
      Lazy element;
      if (ended_ || !input_->next(element)) {
        ended_ = true;
        return false;
      }
      Item item = element.make();
      input.stage =
          called_for("interleave", opened_, element, [&] { return stage_.open_(std::move(item)); });
      input.cursor = input.stage->start(epoch_.of_input(static_cast<std::uint64_t>(++opened_)));
      return true;
    }
    void next_input() {
      taken_ = 0;
      current_ = (current_ + 1) % cycle_.size();
    }

    const Interleave &stage_;
    Epoch epoch_;
    std::unique_ptr<Cursor> input_;
    std::vector<Open> cycle_;
    std::size_t current_ = 0;
    std::int64_t taken_ = 0, opened_ = 0;
    bool ended_ = false;
  };

  std::function<StagePointer(Item)> open_;
  InterleaveOptions options_;
};

/// An element of a cache: computed once, by whoever wants it first.
class CachedMaker final : public Maker {
public:
  explicit CachedMaker(Lazy input) : input_(std::move(input)) {}
  Item make(std::int64_t) const override {
    const std::lock_guard lock(mutex_);
    if (!made_) {
      origin_ = input_.origin();
      made_ = input_.make();
      input_ = Lazy();
    }
    return *made_;
  }
  std::string origin(std::int64_t) const override {
    const std::lock_guard lock(mutex_);
    return made_ ? origin_ : input_.origin();
  }

private:
  mutable std::mutex mutex_;
  mutable Lazy input_;
  mutable std::optional<Item> made_;
  mutable std::string origin_;
};

class Cache final : public Stage {
public:
  explicit Cache(StagePointer input) : Stage({std::move(input)}), kept_(std::make_shared<Kept>()) {}
  std::string describe() const override { return "cache"; }
  std::unique_ptr<Cursor> start(const Epoch &epoch) const override {
    Epoch first = epoch;
    first.number = 0;
    return std::make_unique<CacheCursor>(kept_, start_input(first), epoch);
  }

private:
  /// The elements that loops have come to so far, in order.
  struct Kept {
    std::mutex mutex;
    std::vector<Lazy> elements;
    std::uint64_t seed = 0; ///< that their order is of
    bool complete = false;
  };
  class CacheCursor final : public Cursor {
  public:
    CacheCursor(std::shared_ptr<Kept> kept, std::unique_ptr<Cursor> input, const Epoch &epoch)
        : kept_(std::move(kept)), input_(std::move(input)), seed_(epoch.seed),
          keeps_(!epoch.for_types) {}
    bool next(Lazy &element) override {
      const std::lock_guard lock(kept_->mutex);
      if (at_ == 0 && keeps_ && kept_->seed != seed_) { // a state with another order was restored
        kept_->elements.clear();
        kept_->complete = false;
        kept_->seed = seed_;
      }
      keeps_ &= kept_->seed == seed_;
      if (keeps_ && at_ < kept_->elements.size()) {
        element = kept_->elements[at_++];
        return true;
      }
      if (keeps_ && kept_->complete) return false;
      // The input stands before those elements that were there already.
      input_->skip(static_cast<std::int64_t>(at_ - passed_));
      passed_ = at_ + 1;
      if (!input_->next(element)) {
        if (keeps_) kept_->complete = true;
        return false;
      }
      ++at_;
      if (!keeps_) return true;
      element = Lazy(std::make_shared<CachedMaker>(std::move(element)), 0);
      kept_->elements.push_back(element);
      return true;
    }

  private:
    std::shared_ptr<Kept> kept_;
    std::unique_ptr<Cursor> input_;
    std::size_t at_ = 0, passed_ = 0; ///< of this cursor, and of its input
    std::uint64_t seed_;
    bool keeps_;
  };

  std::shared_ptr<Kept> kept_;
};

} // namespace

StagePointer make_map(StagePointer input, MapFunction f, bool seeded,
                      std::optional<std::uint64_t> seed, bool parallel) {
  return std::make_shared<Map>(std::move(input), std::move(f), seeded, seed, parallel);
}
StagePointer make_filter(StagePointer input, Predicate predicate) {
  return std::make_shared<Filter>(std::move(input), std::move(predicate));
}
StagePointer make_zip(std::vector<StagePointer> inputs, JoinFunction join) {
  return std::make_shared<Zip>(std::move(inputs), std::move(join));
}
StagePointer make_generator(std::function<Generator(bool)> start) {
  return std::make_shared<GeneratorStage>(std::move(start));
}
StagePointer make_range(std::int64_t start, std::int64_t stop, std::int64_t step) {
  // Unsigned, for the distance may not fit; the last one before the end does.
  std::uint64_t count = 0;
  if (step > 0 && start < stop)
    count = (static_cast<std::uint64_t>(stop) - static_cast<std::uint64_t>(start) - 1) /
                static_cast<std::uint64_t>(step) +
            1;
  if (step < 0 && start > stop)
    count = (static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(stop) - 1) /
                (~static_cast<std::uint64_t>(step) + 1) +
            1;
  return std::make_shared<RowStage>(
      "range(" + std::to_string(start) + ", " + std::to_string(stop) + ", " + std::to_string(step) +
          ")",
      static_cast<std::int64_t>(std::min(count, static_cast<std::uint64_t>(kEndless))),
      std::make_shared<RangeMaker>(start, step));
}
StagePointer make_interleave(StagePointer input, std::function<StagePointer(Item)> open,
                             const InterleaveOptions &options) {
  return std::make_shared<Interleave>(std::move(input), std::move(open), options);
}
StagePointer make_cache(StagePointer input) { return std::make_shared<Cache>(std::move(input)); }

} // namespace weft::data::detail
