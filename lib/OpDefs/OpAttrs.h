// The attributes of op calls by name: a struct of references per list of attributes that records
// give.
#pragma once

#include "OpDefs/Attr.h"

namespace weft {

/// The variable that a call reads or writes; null if it does neither.
inline const VariableRef *variable_in(const Attrs &attrs) {
  return attrs.empty() ? nullptr : std::get_if<VariableRef>(attrs.data());
}
inline VariableRef *variable_in(Attrs &attrs) {
  return attrs.empty() ? nullptr : std::get_if<VariableRef>(attrs.data());
}

#include "OpAttrs.inc"

} // namespace weft
