// The derivatives of all ops: `vjp` and `jvp` run the rule of an op on any emitter.
#pragma once

#include "OpDefs/Derivatives/Calls.h"
#include "OpDefs/Derivatives/CumulativeRules.h"
#include "OpDefs/Derivatives/ElementwiseRules.h"
#include "OpDefs/Derivatives/Emitter.h"
#include "OpDefs/Derivatives/MatmulRules.h"
#include "OpDefs/Derivatives/MovementRules.h"
#include "OpDefs/Derivatives/ReductionRules.h"

namespace weft::autodiff {

#include "Derivatives.inc"

} // namespace weft::autodiff
