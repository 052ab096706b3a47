// Sequential: its call, its copies, and what visits it.
#include <weft/nn/sequential.h>

#include <algorithm>

#include "Support/CallSite.h"

namespace weft::nn {

Sequential::Sequential(const Sequential &other) {
  entries_.reserve(other.entries_.size());
  for (const Named &entry : other.entries_) entries_.push_back({entry.name, entry.layer->copy()});
}

Sequential &Sequential::operator=(const Sequential &other) {
  if (this != &other) *this = Sequential(other);
  return *this;
}

void Sequential::check_name(const std::string &name, const std::source_location &where) const {
  const CompositeCall site("Sequential", where);
  const bool taken = std::any_of(entries_.begin(), entries_.end(),
                                 [&](const Named &entry) { return entry.name == name; });
  if (taken) throw ValueError("Sequential: there is a layer '" + name + "' already");
  if (name.empty() || name.find('.') != std::string::npos)
    throw ValueError("Sequential: the name '" + name +
                     "' of a layer must not be empty or have a dot, for it is part of a path");
}

Tensor Sequential::operator()(const Operand &x, const CallOptions &options) const {
  const CallSite site(x.where());
  Tensor value = x.materialize();
  for (const Named &entry : entries_) value = entry.layer->call(value, options);
  return value;
}

void Sequential::weft_visit(StructureVisitor &visitor) {
  visitor.enter(Node::sequence, entries_.size());
  for (Named &entry : entries_) {
    visitor.push(entry.name);
    entry.layer->visit(visitor);
    visitor.pop();
  }
}

void Sequential::weft_visit(StructureVisitor &visitor) const {
  visitor.enter(Node::sequence, entries_.size());
  for (const Named &entry : entries_) {
    visitor.push(entry.name);
    std::as_const(*entry.layer).visit(visitor);
    visitor.pop();
  }
}

} // namespace weft::nn
