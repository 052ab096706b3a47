// Notes what is stored, and carries the notes in an attribute.
#include "Weft/AD/Saved.h"

#include "Weft/IR/Bridge.h"
#include "Weft/IR/Places.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::weft {

using ::weft::SavedNote;

/// Of one such value; -1 if a size is unknown.
static int64_t bytesOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  int64_t bytes = elementBytes(tensor ? tensor.getElementType() : type);
  if (!tensor) return bytes;
  for (int64_t size : tensor.getShape())
    if (ShapedType::isDynamic(size) || llvm::MulOverflow(bytes, size, bytes)) return -1;
  return bytes;
}

static int64_t timesOf(int64_t a, int64_t b) {
  int64_t product = 0;
  return a < 0 || b < 0 || llvm::MulOverflow(a, b, product) ? -1 : product;
}

std::string nameForReport(Value value) {
  while (auto cast = value.getDefiningOp<tensor::CastOp>()) value = cast.getSource();
  if (Operation *op = value.getDefiningOp()) return op->getName().getStringRef().str();
  auto argument = cast<BlockArgument>(value);
  Operation *parent = argument.getOwner()->getParentOp();
  auto number = static_cast<int64_t>(argument.getArgNumber());
  if (isa<scf::ForOp>(parent) && --number < 0) return "the number of scf.for";
  return "state " + std::to_string(number) + " of " + parent->getName().getStringRef().str();
}

void Saved::keep(Form form, Value value, int64_t times, std::string reason, Value holder) {
  if (auto inner = holders.find(value); inner != holders.end()) {
    SmallVector<size_t, 1> numbers = inner->second;
    for (size_t number : numbers) {
      SavedNote &note = notes[number];
      if (note.form == Form::branch) note.form = form;
      note.times = timesOf(note.times, times);
    }
    holders[holder] = std::move(numbers);
    return;
  }
  SavedNote &note = notes.emplace_back();
  note.form = form;
  note.function = function;
  note.what = nameForReport(value);
  llvm::raw_string_ostream(note.type) << value.getType();
  note.bytes = bytesOf(value.getType());
  note.times = times;
  note.reason = std::move(reason);
  note.location = to_string(placeOf(value.getLoc()));
  if (holder) holders[holder].push_back(notes.size() - 1);
}

void Saved::follow(Value from, Value to) {
  auto found = holders.find(from);
  if (found == holders.end()) return;
  SmallVector<size_t, 1> numbers = std::move(found->second);
  holders.erase(found);
  holders[to] = std::move(numbers);
}

void Saved::truncate(size_t count) {
  notes.resize(count);
  for (auto &[holder, numbers] : holders)
    llvm::erase_if(numbers, [&](size_t number) { return number >= count; });
}

static constexpr std::array<StringLiteral, 4> formNames = {"value", "branch", "stack", "snapshot"};

ArrayAttr attributeOf(ArrayRef<SavedNote> notes, MLIRContext *context) {
  Builder b(context);
  return b.getArrayAttr(llvm::map_to_vector(notes, [&](const SavedNote &note) -> Attribute {
    return b.getDictionaryAttr(
        {b.getNamedAttr("form", b.getStringAttr(formNames[static_cast<size_t>(note.form)])),
         b.getNamedAttr("function", b.getStringAttr(note.function)),
         b.getNamedAttr("what", b.getStringAttr(note.what)),
         b.getNamedAttr("type", b.getStringAttr(note.type)),
         b.getNamedAttr("bytes", b.getI64IntegerAttr(note.bytes)),
         b.getNamedAttr("times", b.getI64IntegerAttr(note.times)),
         b.getNamedAttr("reason", b.getStringAttr(note.reason)),
         b.getNamedAttr("place", b.getStringAttr(note.location))});
  }));
}

std::vector<SavedNote> savedNotesOf(ArrayAttr attribute) {
  std::vector<SavedNote> notes;
  for (auto entry : attribute.getAsRange<DictionaryAttr>()) {
    auto text = [&](StringRef name) {
      auto found = entry.getAs<StringAttr>(name);
      return found ? found.str() : std::string();
    };
    auto number = [&](StringRef name) {
      auto found = entry.getAs<IntegerAttr>(name);
      return found ? found.getInt() : int64_t{-1};
    };
    SavedNote &note = notes.emplace_back();
    const size_t form = llvm::find(formNames, text("form")) - formNames.begin();
    note.form = static_cast<SavedNote::Form>(form < formNames.size() ? form : 0);
    note.function = text("function");
    note.what = text("what");
    note.type = text("type");
    note.bytes = number("bytes");
    note.times = number("times");
    note.reason = text("reason");
    note.location = text("place");
  }
  return notes;
}

} // namespace mlir::weft
