// Batches: elements stacked, side by side or gathered from where they are, and the stages for
// elements in a row and of similar length.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "Data/Stage.h"
#include "Runtime/Elements.h"
#include "Runtime/NewTensor.h"
#include "Runtime/OnDevice.h"
#include "Runtime/StridedCopy.h"
#include "Support/Fault.h"
#include "Support/Messages.h"

namespace weft::data::detail {

namespace {

std::string in_batch(std::size_t element, std::size_t part, const std::string &what) {
  return "batch: element " + std::to_string(element) + " of the batch: tensor " +
         std::to_string(part) + " " + what;
}

/// The shape that all of the elements fit in.
Shape common_shape(std::span<const Item> items, std::size_t part, bool padded) {
  const TensorType first = items[0].tensors[part].type();
  Shape shape = first.shape;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const TensorType type = items[i].tensors[part].type();
    if (type.dtype != first.dtype)
      raise(ErrorKind::dtype, in_batch(i, part,
                                       "is " + to_string(type) + " and that of the first is " +
                                           to_string(first) + ": they must have one dtype"));
    if (type.shape == first.shape) continue;
    if (!padded || type.shape.rank() != first.shape.rank())
      raise(ErrorKind::shape,
            in_batch(i, part,
                     "is " + to_string(type) + " and that of the first is " + to_string(first) +
                         (padded ? ": their ranks must be the same"
                                 : ": make them of one shape, or set "
                                   "the option padding")));
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      shape[axis] = std::max(shape[axis], type.shape[axis]);
  }
  return shape;
}

void fill(const Tensor &tensor, double value) {
  visit_dtype(tensor.dtype(), [&]<class T>() {
    const T element = convert_element<T>(value);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      if (static_cast<double>(element) != std::trunc(value))
        raise(ErrorKind::value, "the option padding is " + number_text(value) +
                                    ", which does not fit the dtype " +
                                    std::string(name_of(tensor.dtype())));
    std::fill_n(weft::detail::elements<T>(tensor), tensor.size(), element);
  });
}

Tensor stack_part(std::span<const Item> items, std::size_t part,
                  const std::optional<double> &padding) {
  const Shape shape = common_shape(items, part, padding.has_value());
  Shape whole{static_cast<std::int64_t>(items.size())};
  for (const std::int64_t size : shape) whole.push_back(size);
  const DType dtype = items[0].tensors[part].dtype();
  const Tensor result = weft::detail::new_tensor(dtype, whole);
  const std::size_t bytes =
      items.empty() ? 0 : static_cast<std::size_t>(result.size()) / items.size() * item_size(dtype);
  const bool differ = std::ranges::any_of(
      items, [&](const Item &item) { return item.tensors[part].shape() != shape; });
  if (differ) fill(result, *padding);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Tensor from = weft::detail::on_host(items[i].tensors[part]);
    std::byte *to = result.impl()->data + i * bytes;
    const std::span<const std::int64_t> strides(result.impl()->strides() + 1, shape.size());
    if (from.is_contiguous() && !differ) std::memcpy(to, from.impl()->data, bytes);
    else
      copy_strided(item_size(dtype), from.shape(), from.impl()->data,
                   {from.impl()->strides(), shape.size()}, to, strides);
  }
  return result;
}

} // namespace

Item stacked(std::span<const Item> items, const std::optional<double> &padding) {
  for (std::size_t i = 1; i < items.size(); ++i) {
    const bool same =
        items[i].tensors.size() == items[0].tensors.size() &&
        (items[i].form == items[0].form ||
         (items[i].form && items[0].form && items[i].form->key == items[0].form->key));
    if (!same)
      raise(ErrorKind::value,
            "batch: element " + std::to_string(i) +
                " of the batch has another structure than the first: numbers and strings in "
                "elements, keys and lengths of containers must be the same; make what differs a "
                "tensor by map");
  }
  Item whole{{}, items[0].form};
  for (std::size_t part = 0; part < items[0].tensors.size(); ++part)
    whole.tensors.push_back(stack_part(items, part, padding));
  return whole;
}

Item gathered(std::span<const Lazy> elements, const std::optional<double> &padding) {
  const Maker *rows = elements[0].maker().get();
  if (std::ranges::all_of(elements, [&](const Lazy &e) { return e.maker().get() == rows; })) {
    std::vector<std::int64_t> indices;
    indices.reserve(elements.size());
    for (const Lazy &element : elements) indices.push_back(element.index());
    if (auto item = rows->gather(indices)) return *std::move(item);
  }
  if (std::ranges::all_of(elements,
                          [](const Lazy &e) { return e.maker()->columns() != nullptr; })) {
    Item whole;
    const std::size_t count = rows->columns()->size();
    for (std::size_t column = 0; column < count; ++column) {
      std::vector<Lazy> parts;
      parts.reserve(elements.size());
      for (const Lazy &element : elements) parts.push_back((*element.maker()->columns())[column]);
      for (Tensor &tensor : gathered(parts, padding).tensors)
        whole.tensors.push_back(std::move(tensor));
    }
    return whole;
  }
  std::vector<Item> items;
  items.reserve(elements.size());
  for (const Lazy &element : elements) items.push_back(element.make());
  return stacked(items, padding);
}

namespace {

class BatchMaker final : public Maker {
public:
  BatchMaker(std::vector<Lazy> elements, const std::optional<double> &padding)
      : elements_(std::move(elements)), padding_(padding) {}
  Item make(std::int64_t) const override { return gathered(elements_, padding_); }
  std::string origin(std::int64_t) const override {
    const std::string first = elements_.front().origin(), last = elements_.back().origin();
    return first == last ? first : first + " to " + last;
  }

private:
  std::vector<Lazy> elements_;
  std::optional<double> padding_;
};

Lazy batch_of(std::vector<Lazy> elements, const std::optional<double> &padding) {
  return {std::make_shared<BatchMaker>(std::move(elements), padding), 0};
}

class Batch final : public Stage {
public:
  Batch(StagePointer input, std::int64_t size, const BatchOptions &options)
      : Stage({std::move(input)}), size_(size), options_(options) {}
  std::string describe() const override {
    return "batch(" + std::to_string(size_) + (options_.drop_remainder ? ", drop_remainder)" : ")");
  }
  std::optional<std::int64_t> size() const override {
    const auto whole = input().size();
    if (!whole || *whole == kEndless) return whole;
    return *whole / size_ + (options_.drop_remainder || *whole % size_ == 0 ? 0 : 1);
  }
  Varying varying() const override {
    const auto whole = input().size();
    const bool full =
        options_.drop_remainder || (whole && (*whole == kEndless || *whole % size_ == 0));
    // A stacked element's first axis is the second one of the batch.
    if (options_.padding || input().varying() != Varying::none) return Varying::all;
    return full ? Varying::none : Varying::first_axis;
  }
  std::unique_ptr<Cursor> start(const Epoch &epoch) const override {
    return std::make_unique<BatchCursor>(start_input(epoch), size_, options_);
  }

private:
  class BatchCursor final : public Cursor {
  public:
    BatchCursor(std::unique_ptr<Cursor> input, std::int64_t size, const BatchOptions &options)
        : input_(std::move(input)), size_(size), options_(options) {}
    bool next(Lazy &element) override {
      std::vector<Lazy> elements;
      Lazy one;
      while (static_cast<std::int64_t>(elements.size()) < size_ && input_->next(one)) {
        if (elements.empty())
          elements.reserve(static_cast<std::size_t>(std::min<std::int64_t>(size_, 4096)));
        elements.push_back(std::move(one));
      }
      const bool full = static_cast<std::int64_t>(elements.size()) == size_;
      if (elements.empty() || (!full && options_.drop_remainder)) return false;
      element = batch_of(std::move(elements), options_.padding);
      return true;
    }
    std::int64_t skip(std::int64_t count) override {
      std::int64_t passing = 0;
      if (__builtin_mul_overflow(count, size_, &passing)) passing = kEndless;
      const std::int64_t passed = input_->skip(passing);
      return passed / size_ + (options_.drop_remainder || passed % size_ == 0 ? 0 : 1);
    }

  private:
    std::unique_ptr<Cursor> input_;
    std::int64_t size_;
    BatchOptions options_;
  };

  std::int64_t size_;
  BatchOptions options_;
};

class Bucket final : public Stage {
public:
  Bucket(StagePointer input, LengthFunction length, const BucketOptions &options)
      : Stage({std::move(input)}), length_(std::move(length)), options_(options) {}
  std::string describe() const override {
    std::string text = "bucket(boundaries";
    for (const std::int64_t each : options_.boundaries) text += " " + std::to_string(each);
    text += ", sizes";
    for (const std::int64_t each : options_.batch_sizes) text += " " + std::to_string(each);
    return text + (options_.drop_remainder ? ", drop_remainder)" : ")");
  }
  std::optional<std::int64_t> size() const override { return std::nullopt; }
  Varying varying() const override { return Varying::all; }
  std::unique_ptr<Cursor> start(const Epoch &epoch) const override {
    return std::make_unique<BucketCursor>(*this, start_input(epoch));
  }

private:
  class BucketCursor final : public Cursor {
  public:
    BucketCursor(const Bucket &stage, std::unique_ptr<Cursor> input)
        : stage_(stage), input_(std::move(input)), buckets_(stage.options_.boundaries.size() + 1) {}
    bool next(Lazy &element) override {
      Lazy one;
      while (!ended_ && input_->next(one)) {
        Item item = one.make();
        const std::int64_t length =
            called_for("bucket", ordinal_++, one, [&] { return stage_.length_(item); });
        const std::size_t at = bucket_of(length);
        buckets_[at].emplace_back(std::move(item), one.origin());
        if (static_cast<std::int64_t>(buckets_[at].size()) == size_of(at)) {
          element = take(at);
          return true;
        }
      }
      ended_ = true;
      for (; left_ < buckets_.size() && !stage_.options_.drop_remainder; ++left_)
        if (!buckets_[left_].empty()) {
          element = take(left_);
          return true;
        }
      return false;
    }

  private:
    std::size_t bucket_of(std::int64_t length) const {
      const auto &boundaries = stage_.options_.boundaries;
      return static_cast<std::size_t>(std::ranges::upper_bound(boundaries, length) -
                                      boundaries.begin());
    }
    std::int64_t size_of(std::size_t bucket) const {
      const auto &sizes = stage_.options_.batch_sizes;
      return sizes[sizes.size() == 1 ? 0 : bucket];
    }
    Lazy take(std::size_t bucket) {
      return batch_of(std::exchange(buckets_[bucket], {}), stage_.options_.padding);
    }

    const Bucket &stage_;
    std::unique_ptr<Cursor> input_;
    std::vector<std::vector<Lazy>> buckets_;
    std::int64_t ordinal_ = 0;
    std::size_t left_ = 0; ///< the bucket whose remainder comes next
    bool ended_ = false;
  };

  LengthFunction length_;
  BucketOptions options_;
};

} // namespace

StagePointer make_batch(StagePointer input, std::int64_t size, const BatchOptions &options) {
  return std::make_shared<Batch>(std::move(input), size, options);
}
StagePointer make_bucket(StagePointer input, LengthFunction length, const BucketOptions &options) {
  return std::make_shared<Bucket>(std::move(input), std::move(length), options);
}

} // namespace weft::data::detail
