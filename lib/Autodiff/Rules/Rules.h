// The derivatives of all ops: `vjp` and `jvp` run the rule of an op on any emitter.
#pragma once

#include "Autodiff/Rules/Calls.h"
#include "Autodiff/Rules/CollectiveRules.h"
#include "Autodiff/Rules/CumulativeRules.h"
#include "Autodiff/Rules/ElementwiseRules.h"
#include "Autodiff/Rules/FourierRules.h"
#include "Autodiff/Rules/LinalgRules.h"
#include "Autodiff/Rules/MatmulRules.h"
#include "Autodiff/Rules/MatrixFunctionRules.h"
#include "Autodiff/Rules/MovementRules.h"
#include "Autodiff/Rules/RandomRules.h"
#include "Autodiff/Rules/ReductionRules.h"
#include "Autodiff/Rules/SpecialRules.h"
#include "Autodiff/Rules/SpectralRules.h"
#include "Autodiff/Rules/WindowRules.h"
#include "OpDefs/Emitter.h"

namespace weft::autodiff {

#include "Derivatives.inc"

} // namespace weft::autodiff
