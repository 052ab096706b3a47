// Collectives: what all ranks of a group of processes do together.

#ifndef WEFT_IR_COLLECTIVE_OPS
#define WEFT_IR_COLLECTIVE_OPS

include "Weft/IR/StateOps.td"

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Weft_CollectiveNumber<string words> : ConfinedAttr<I64Attr, []> {
  string attrKind = "number";
  string cppType = "std::int64_t";
  string optionDefault = "";
  string what = words;
}
/// Ranks agree on the numbers of their groups; a program finds its group by it each time it runs. 0 is the world.
def Weft_GroupNumber : Weft_CollectiveNumber<"the number of the group">;
/// Sizes of results depend on it. Who has which rank is known only when the program runs.
def Weft_RankCount : Weft_CollectiveNumber<"how many ranks the group has">;
def Weft_RootRank : Weft_CollectiveNumber<"the rank whose tensor it is">;
def Weft_ReplicaCount : Weft_CollectiveNumber<"how many replicas the ranks share; 0 if each rank is one">;
def Weft_ReplicaAxis : Weft_IntsAttr<"axes", "the axis along which this rank's replicas stand, if there are any">;
def Weft_RankPairs : Weft_IntsAttr<"spatial", "pairs of ranks, from and to, one behind the other">;
def Weft_CutAxes : Weft_IntsAttr<"axes", "the axes that are cut">;
def Weft_CutOver : Weft_IntsAttr<"spatial", "the axes of the mesh that each of them is cut over, bit i for axis i">;
def Weft_MeshSizes : Weft_IntsAttr<"spatial", "the sizes of the mesh's axes">;
/// The group along a set of axes, bit i for axis i, has a number behind it; that along all of them is the op's group.
def Weft_FirstGroup : Weft_CollectiveNumber<"the number of the group along the mesh's first axis">;
def Weft_AsMean : Weft_Flag<"the sum is divided by how many there are">;
def Weft_AsTheSame : Weft_Flag<"the result is one value, which all ranks have, and so is its cotangent">;

//===----------------------------------------------------------------------===//
// The records
//===----------------------------------------------------------------------===//

/// An op of all ranks of a group. It is an effect, in one order with prints, asserts and host calls, and so with all
/// other collectives: ranks that run one program do the same ones in the same order. It may stop the call.
///
/// Its cotangents are those of the sum, over the ranks, of what each rank differentiates: the reverse of each op is
/// the transpose of what it does to the tensors of all ranks together, which holds whatever they differ in. What
/// `vary` and `slice_own` are given, and what ops that say `same` give, is one value of all of them instead, which that sum has once.
class Weft_CollectiveOp<string mnemonic, string called, list<Trait> traits = []>
    : Weft_EffectOp<mnemonic, traits # [Weft_IsCollective, Weft_GoneAfterLinalg]> {
  /// The function of weft::distributed that users call. What does it is the function of the op's name in
  /// lib/Distributed/Execute.cpp.
  string function = called;
  /// Whether all ranks get the same of it.
  bit givesTheSame = 0;
  let kind = "collective";
  let eagerFunction = "collective";
  let pythonName = "";
  let io = 1;
  let stops = 1;
  let onComplex = each_part;
}

/// One with a tensor of each rank, and a tensor for each.
class Weft_TensorCollectiveOp<string mnemonic, string called, list<Trait> traits = []>
    : Weft_CollectiveOp<mnemonic, called, traits> {
  let results = (outs Weft_Any:$y, Optional<Weft_TokenType>:$token);
  let assemblyFormat = [{
    $x (custom<After>($after, type($after), type($token))^)? attr-dict `:` functional-type($x, $y)
  }];
  let resultDType = "x's dtype";
  let batching = "first";
  let jvp = (linear);
}

defvar no_group = Raises<ValueError, "there is no group of that number, or it has another number of ranks">;

class Weft_AllReduceOp<string mnemonic, TypeConstraint operand, dag attributes>
    : Weft_TensorCollectiveOp<mnemonic, "all_reduce"> {
  let givesTheSame = 1;
  let arguments = !con((ins operand:$x, Optional<Weft_TokenType>:$after, Weft_ReplicaAxis:$axes,
                            Weft_ReplicaCount:$replicas, Weft_GroupNumber:$group), attributes);
  let operandShapes = ["of the same shape on all ranks, but for the axis of the replicas"];
  let resultShape = "of x's shape, without the axis of the replicas";
  let raises = [Raises<ShapeError, "x has not this rank's share of the replicas">, axis_out_of_range, no_group];
  let shapeFunction = "all_reduce";
  let numpy = "x.reshape(x.shape[len(axes):])";
}

def Weft_AllReduceSumOp : Weft_AllReduceOp<"all_reduce_sum", Weft_Numeric, (ins Weft_AsMean:$mean, Weft_AsTheSame:$same)> {
  let summary = "The sum over the ranks of a group, or over replicas that they share, the same bits on all of them.";
  let description = [{
    Sums are added by one balanced tree. Its reverse is the sum of the cotangents over the ranks, for
    each rank's x, and for each of its replicas; of a sum that is the `same` on all ranks the cotangent,
    which is the same too.
  }];
  let raises = [Raises<DTypeError, "a mean is asked for, and x is of whole numbers">,
                Raises<ValueError, "a mean is to be the same">,
                Raises<ShapeError, "x has not this rank's share of the replicas">, axis_out_of_range, no_group];
  let vjp = [(all_reduce_back $dy)];
  let samples = [
    Sample<["2x3"], ["[]", "0", "0", "false", "false"]>, Sample<["scalar"], ["[]", "0", "0", "false", "false"]>,
    Sample<["0x2"], ["[]", "0", "0", "false", "false"]>, Sample<["transposed 7x5"], ["[]", "0", "0", "false", "false"]>,
    Sample<["1x4"], ["[0]", "1", "0", "false", "false"]>, Sample<["2x3"], ["[]", "0", "0", "false", "true"]>
  ];
}

class Weft_AllReduceExtremumOp<string mnemonic> : Weft_AllReduceOp<mnemonic, Weft_Ordered, (ins)> {
  let attrStruct = "AllReduceExtremumAttrs";
  let description = [{
    Its reverse gives the sum of the cotangents over the ranks to the elements that are the extremum,
    which share it.
  }];
  let vjp = [(all_reduce_extremum_back $x, $y, $dy)];
  let jvp = (all_reduce_extremum_forward $x, $y, $dx);
  let samples = [
    Sample<["2x3"], ["[]", "0", "0"]>, Sample<["scalar"], ["[]", "0", "0"]>, Sample<["0x2"], ["[]", "0", "0"]>,
    Sample<["1x4"], ["[0]", "1", "0"]>
  ];
}
def Weft_AllReduceMaxOp : Weft_AllReduceExtremumOp<"all_reduce_max"> {
  let summary = "The largest of each element over the ranks of a group, or over replicas that they share.";
}
def Weft_AllReduceMinOp : Weft_AllReduceExtremumOp<"all_reduce_min"> {
  let summary = "The smallest of each element over the ranks of a group, or over replicas that they share.";
}

class Weft_ReduceScatterOp<string mnemonic, TypeConstraint operand, dag attributes>
    : Weft_TensorCollectiveOp<mnemonic, "reduce_scatter"> {
  let arguments = !con((ins operand:$x, Optional<Weft_TokenType>:$after, Weft_Axis:$axis, Weft_RankCount:$ranks,
                            Weft_GroupNumber:$group), attributes);
  let operandShapes = ["of the same shape on all ranks"];
  let resultShape = "of x's shape, where the axis has one part of as many as there are ranks";
  let raises = [Raises<ShapeError, "the size of the axis is no multiple of the ranks">, axis_out_of_range, no_group];
  let shapeFunction = "reduce_scatter";
  let numpy = "x";
}

def Weft_ReduceScatterSumOp : Weft_ReduceScatterOp<"reduce_scatter_sum", Weft_Numeric, (ins Weft_AsMean:$mean)> {
  let summary = "This rank's part, along an axis, of the sum over the ranks of a group.";
  let description = "Its reverse is the all_gather of the cotangents.";
  let raises = [Raises<DTypeError, "a mean is asked for, and x is of whole numbers">,
                Raises<ShapeError, "the size of the axis is no multiple of the ranks">, axis_out_of_range, no_group];
  let vjp = [(reduce_scatter_back $dy)];
  let samples = [Sample<["2x3"], ["*", "1", "0", "false"]>, Sample<["0x2"], ["1", "1", "0", "false"]>];
}

class Weft_ReduceScatterExtremumOp<string mnemonic> : Weft_ReduceScatterOp<mnemonic, Weft_Ordered, (ins)> {
  let attrStruct = "ReduceScatterExtremumAttrs";
  let description = "Its reverse gives each cotangent to the elements that are the extremum, which share it.";
  let vjp = [(reduce_scatter_extremum_back $x, $y, $dy)];
  let jvp = (reduce_scatter_extremum_forward $x, $y, $dx);
  let samples = [Sample<["2x3"], ["*", "1", "0"]>, Sample<["0x2"], ["1", "1", "0"]>];
}
def Weft_ReduceScatterMaxOp : Weft_ReduceScatterExtremumOp<"reduce_scatter_max"> {
  let summary = "This rank's part, along an axis, of the largest of each element over the ranks of a group.";
}
def Weft_ReduceScatterMinOp : Weft_ReduceScatterExtremumOp<"reduce_scatter_min"> {
  let summary = "This rank's part, along an axis, of the smallest of each element over the ranks of a group.";
}

def Weft_AllGatherOp : Weft_TensorCollectiveOp<"all_gather", "all_gather"> {
  let givesTheSame = 1;
  let summary = "The tensors of all ranks of a group, one behind the other along an axis.";
  let description = [{
    Its reverse is the reduce_scatter of the cotangents, by their sum; of what is the `same` on all ranks
    this rank's part of the cotangent.
  }];
  let arguments = (ins Weft_Any:$x, Optional<Weft_TokenType>:$after, Weft_Axis:$axis, Weft_RankCount:$ranks,
                       Weft_GroupNumber:$group, Weft_AsTheSame:$same);
  let operandShapes = ["of the same shape on all ranks"];
  let resultShape = "of x's shape, where the axis is as many times as long as there are ranks";
  let raises = [axis_out_of_range, no_group];
  let shapeFunction = "all_gather";
  let vjp = [(all_gather_back $dy)];
  let samples = [
    Sample<["2x3"], ["*", "1", "0", "false"]>, Sample<["0x2"], ["1", "1", "0", "false"]>,
    Sample<["2x3"], ["1", "1", "0", "true"]>
  ];
  let numpy = "x";
}

def Weft_VaryOp : Weft_TensorCollectiveOp<"vary", "vary", [Weft_IsAnnotation]> {
  let summary = "x, which is the same on all ranks of a group, as a tensor of each rank's own.";
  let description = "Nothing is sent. Its reverse is the sum of the cotangents over the ranks, which is the same on all of them.";
  let arguments = (ins Weft_Any:$x, Optional<Weft_TokenType>:$after, Weft_GroupNumber:$group);
  let operandShapes = ["of the same shape, dtype and elements on all ranks"];
  let resultShape = "of x's shape";
  let raises = [no_group];
  let shapeFunction = "same";
  let vjp = [(vary_back $dy)];
  let samples = [Sample<["2x3"], ["0"]>, Sample<["scalar"], ["0"]>, Sample<["0x2"], ["0"]>];
  let numpy = "x";
}

def Weft_SliceOwnOp : Weft_TensorCollectiveOp<"slice_own", "split"> {
  let summary = "This rank's part, along an axis, of x, which is the same on all ranks of a group.";
  let description = "Nothing is sent. Its reverse is the all_gather of the cotangents, which is the same on all ranks.";
  let arguments = (ins Weft_Any:$x, Optional<Weft_TokenType>:$after, Weft_Axis:$axis, Weft_RankCount:$ranks,
                       Weft_GroupNumber:$group);
  let operandShapes = ["of the same shape, dtype and elements on all ranks"];
  let resultShape = "of x's shape, where the axis has one part of as many as there are ranks";
  let raises = [Raises<ShapeError, "the size of the axis is no multiple of the ranks">, axis_out_of_range, no_group];
  let shapeFunction = "slice_own";
  let vjp = [(slice_own_back $dy)];
  let samples = [Sample<["2x3"], ["*", "1", "0"]>, Sample<["0x2"], ["1", "1", "0"]>];
  let numpy = "x";
}

def Weft_ShardOp : Weft_TensorCollectiveOp<"shard", "shard", [Weft_IsAnnotation]> {
  let summary = "x, which is the same on all ranks of a mesh, as one that is cut over axes of the mesh.";
  let description = [{
    Nothing is sent, and the value is x: each rank need not have more than its part of it. `-weft-partition` cuts a program
    by what its shard ops say, and has collectives where ranks need the parts of others. Its reverse cuts the cotangent
    in the same way.
  }];
  let arguments = (ins Weft_Any:$x, Optional<Weft_TokenType>:$after, Weft_CutAxes:$cut, Weft_CutOver:$over,
                       Weft_MeshSizes:$mesh, Weft_FirstGroup:$first, Weft_GroupNumber:$group);
  let operandShapes = ["of the same shape, dtype and elements on all ranks"];
  let resultShape = "of x's shape";
  let raises = [Raises<ShapeError, "the size of an axis is no multiple of the ranks it is cut over">,
                Raises<ValueError, "an axis is cut twice, or cuts two">, axis_out_of_range, no_group];
  let shapeFunction = "shard";
  let vjp = [(shard_back $dy)];
  let samples = [Sample<["2x3"], ["[1]", "[1]", "[1]", "0", "0"]>, Sample<["scalar"], ["[]", "[]", "[1]", "0", "0"]>,
                 Sample<["0x2"], ["[0, 1]", "[2, 1]", "[1, 1]", "0", "0"]>];
  let numpy = "x";
}

def Weft_AllToAllOp : Weft_TensorCollectiveOp<"all_to_all", "all_to_all"> {
  let summary = "Part r of each rank's tensor, where r is this rank, one behind the other.";
  let description = "x is cut along `split_axis`, and parts are joined along `concat_axis`. Its reverse is the opposite all_to_all.";
  let arguments = (ins Weft_Any:$x, Optional<Weft_TokenType>:$after, Weft_Axis:$split_axis, Weft_Axis:$concat_axis,
                       Weft_RankCount:$ranks, Weft_GroupNumber:$group);
  let operandShapes = ["of the same shape on all ranks"];
  let resultShape = "of x's shape, with one axis shorter and one longer by the number of ranks";
  let raises = [Raises<ShapeError, "the size of the split axis is no multiple of the ranks">, axis_out_of_range,
                no_group];
  let shapeFunction = "all_to_all";
  let vjp = [(all_to_all_back $dy)];
  let samples = [Sample<["2x3"], ["*", "*", "1", "0"]>, Sample<["0x2"], ["1", "0", "1", "0"]>];
  let numpy = "x";
}

def Weft_BroadcastRankOp : Weft_TensorCollectiveOp<"broadcast_rank", "broadcast"> {
  let givesTheSame = 1;
  let summary = "The tensor of one rank of a group, on all of them.";
  let description = "Its reverse is the sum of the cotangents over the ranks, at the root, and zeros elsewhere.";
  let arguments = (ins Weft_Any:$x, Optional<Weft_TokenType>:$after, Weft_RootRank:$root, Weft_GroupNumber:$group);
  let operandShapes = ["of the same shape on all ranks"];
  let resultShape = "of x's shape";
  let raises = [Raises<IndexError, "the root is no rank">, no_group];
  let shapeFunction = "as_the_other_ranks";
  let vjp = [(broadcast_rank_back $dy)];
  let samples = [Sample<["2x3"], ["0", "0"]>, Sample<["scalar"], ["0", "0"]>, Sample<["0x2"], ["0", "0"]>];
  let numpy = "x";
}

def Weft_PermuteRanksOp : Weft_TensorCollectiveOp<"permute_ranks", "permute"> {
  let summary = "The tensor of another rank of a group: for a pair (from, to) rank `to` gets that of rank `from`.";
  let description = "Zeros where there is no pair. Its reverse is that of the pairs turned round.";
  let arguments = (ins Weft_Any:$x, Optional<Weft_TokenType>:$after, Weft_RankPairs:$pairs, Weft_GroupNumber:$group);
  let operandShapes = ["of the same shape on all ranks"];
  let resultShape = "of x's shape";
  let raises = [Raises<IndexError, "a pair has what is no rank">, Raises<ValueError, "a rank sends or gets twice">,
                no_group];
  let shapeFunction = "permute_ranks";
  let vjp = [(permute_ranks_back $dy)];
  let samples = [Sample<["2x3"], ["[0, 0]", "0"]>, Sample<["0x2"], ["[0, 0]", "0"]>];
  let numpy = "x";
}

def Weft_RankBarrierOp : Weft_CollectiveOp<"rank_barrier", "barrier"> {
  let summary = "Nothing, when all ranks of a group have come to it.";
  let arguments = (ins Optional<Weft_TokenType>:$after, Weft_GroupNumber:$group);
  let results = (outs Optional<Weft_TokenType>:$token);
  let operandShapes = [];
  let raises = [no_group];
  let assemblyFormat = "(custom<After>($after, type($after), type($token))^)? attr-dict";
  let inactive = "it has no result";
}

#endif // WEFT_IR_COLLECTIVE_OPS
