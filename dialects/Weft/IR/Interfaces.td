// The interface of ops that read or change the world.

#ifndef WEFT_IR_INTERFACES
#define WEFT_IR_INTERFACES

include "mlir/IR/OpBase.td"

def Weft_OrderedOpInterface : OpInterface<"OrderedOpInterface"> {
  let cppNamespace = "::mlir::weft";
  let description = [{
    An op with an effect. While it has neither of the optional `after` and `token` its place in the
    block is its place in time, and it says so in its memory effects. With both, the tokens alone
    order it, and it has no memory effects: passes may move it wherever its operands allow.
  }];
  let methods = [
    InterfaceMethod<"What it does, whether or not tokens order it.",
                    "::mlir::weft::OwnEffects", "getOwnEffects">,
    InterfaceMethod<"The token of what comes before it, or null.", "::mlir::Value", "getAfter">,
    InterfaceMethod<"The operand of that token.", "::mlir::MutableOperandRange",
                    "getAfterMutable">,
    InterfaceMethod<"The token of its own effect, or null.", "::mlir::Value", "getToken">,
  ];
  let verify = "return ::mlir::weft::verifyOrdered(::llvm::cast<OrderedOpInterface>($_op));";
}

#endif // WEFT_IR_INTERFACES
