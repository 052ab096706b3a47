// Distributions, and keys that are values: `weft::random` in C++, `weft.random` in Python.

#ifndef WEFT_IR_RANDOM_COMPOSITES
#define WEFT_IR_RANDOM_COMPOSITES

include "Weft/IR/CompositeBase.td"

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

def Weft_Key : Weft_TensorOf<"a key", ["u64"], "key">;
/// Without one the numbers are those of the process's generator.
def Weft_KeyIfAny : Weft_Optional<Weft_Key>;
def key_has_another_shape : Raises<ShapeError, "key has another shape than (2,)">;
defvar wordsOfKey = "of shape (2,), that of the process's generator if not given";

def Weft_SplitCount : Weft_Parameter<"size", "Size", "2", "how many">;
/// What is as likely as a number says, in any scale.
def Weft_Probabilities : Weft_TensorOf<"floating", ["floating"], "predicate">;

class Weft_RandomFn<string name> : Weft_CompositeFn<name> {
  let module = "random";
  let cppBody = "random_" # name;
}

def Weft_RandomSplitFn : Weft_RandomFn<"split"> {
  let summary = "As many keys as are asked for, which are independent of each other and of the key that they are split from.";
  let description = "A key is used once: for one draw, or to be split or folded into others.";
  let parameters = (params Weft_Key:$key, Weft_SplitCount:$num);
  let operandShapes = ["of shape (2,)"];
  let resultShape = "of shape (num, 2)";
  let resultDType = "u64";
  let raises = [key_has_another_shape, Raises<ShapeError, "num is negative">];
  let moves = 1;
  let samples = [Sample<["u64 [7, 0]"], ["2"]>, Sample<["u64 [1, 123456789012345]"], ["5"]>, Sample<["u64 [1, 2]"], ["0"]>];
  let numpy = "random_split(key, num)";
  let example = "split(random::key(10), 2)  ->  [[8854535561470480682, 4322968231707298167], [8497552080618920212, 3078078878786835495]]";
}

def Weft_RandomFoldInFn : Weft_RandomFn<"fold_in"> {
  let summary = "The key that follows from a key and a number, another one for each number.";
  let description = "So a step of a loop has a key of its own: `fold_in(key, step)`.";
  let parameters = (params Weft_Key:$key, Weft_Integer:$data);
  let operandShapes = ["of shape (2,)", "a scalar"];
  let resultShape = "of shape (2,)";
  let resultDType = "u64";
  let raises = [key_has_another_shape, Raises<ShapeError, "data is no scalar">];
  let moves = 1;
  let samples = [Sample<["u64 [7, 0]", "i64 scalar"]>, Sample<["u64 [1, 123456789012345]", "i32 scalar"]>, Sample<["u64 [0, 5]", "u64 scalar"]>];
  let numpy = "random_fold_in(key, data)";
  let example = "fold_in(random::key(0), 3)  ->  [6689657738448020618, 6938831346818456251]";
}

//===----------------------------------------------------------------------===//
// Distributions by the inverse of their distribution function
//===----------------------------------------------------------------------===//

def Weft_DrawnShape : Weft_Parameter<"shape", "std::optional<Sizes>", "std::nullopt",
                                     "the shape of the result; that which the parameters broadcast to if not given">;
/// Of distributions of vectors.
def Weft_DrawnBatch : Weft_Parameter<"shape", "std::optional<Sizes>", "std::nullopt",
                                     "the shape of the result without its last axis; that of the parameters' batches if not given">;
def too_large_for_shape : Raises<ShapeError, "a parameter does not broadcast to the shape">;

class Weft_DistributionFn<string name, dag of, Weft_Parameter shape = Weft_DrawnShape> : Weft_RandomFn<name> {
  let parameters = !con(of, (params star, shape:$shape, Weft_KeyIfAny:$key));
  let promotion = "floating";
  let resultShape = "of the shape given";
  let resultDType = "the parameters' dtype";
  let raises = [key_has_another_shape, too_large_for_shape, shapes_do_not_broadcast];
  let tolerance = "ulps(16) + near(1)";
  let numpy = "random_" # name # "(" # !interleave(!foreach(i, !range(!size(of)), !getdagname(of, i)), ", ") # ", shape, key)";
}
class Weft_OneParameterFn<string name, string parameter> : Weft_DistributionFn<name, !dag(params, [Weft_Float], [parameter])> {
  let operandShapes = ["of any shape", wordsOfKey];
  let samples = [Sample<["[1, 2, 5]", "u64 [7, 0]"], ["null"]>, Sample<["[3]", "u64 [1, 2]"], ["[4, 5]"]>, Sample<["[[1], [2]]", "u64 [7, 1]"], ["[2, 3]"]>,
                 Sample<["0x3", "u64 [1, 2]"], ["null"]>];
}
def scale_not_positive : Raises<AssertionError, "scale is not positive">;
class Weft_LocationScaleFn<string name> : Weft_DistributionFn<name, (params Weft_Float:$loc, Weft_Float:$scale)> {
  let operandShapes = ["of any shape", "positive, of a shape that broadcasts with loc's", wordsOfKey];
  let raises = [key_has_another_shape, too_large_for_shape, shapes_do_not_broadcast, scale_not_positive];
  let samples = [Sample<["[1, 2, 5]", "[1, 2, 3]", "u64 [7, 0]"], ["null"]>, Sample<["[0]", "[2]", "u64 [1, 2]"], ["[4, 5]"]>,
                 Sample<["[[-1], [2]]", "[1, 2, 3]", "u64 [7, 1]"], ["null"]>, Sample<["0x3", "0x3", "u64 [1, 2]"], ["null"]>];
}

def Weft_RandomExponentialFn : Weft_OneParameterFn<"exponential", "scale"> {
  let summary = "Exponentially distributed numbers of that mean.";
  let raises = [key_has_another_shape, too_large_for_shape, scale_not_positive];
  let example = "exponential([2.0, 2.0], random::key(1))  ->  [0.23248523, 0.22256775]";
}
def Weft_RandomRayleighFn : Weft_OneParameterFn<"rayleigh", "scale"> {
  let summary = "The lengths of vectors of two normally distributed numbers with the standard deviation `scale`.";
  let raises = [key_has_another_shape, too_large_for_shape, scale_not_positive];
  let example = "rayleigh([1.0, 1.0], random::key(1))  ->  [0.4821672, 0.47177088]";
}
def Weft_RandomParetoFn : Weft_OneParameterFn<"pareto", "a"> {
  let summary = "Numbers from 1 on, above x with probability x^-a: Pareto's distribution.";
  let raises = [key_has_another_shape, too_large_for_shape, Raises<AssertionError, "a is not positive">];
  let example = "pareto([3.0, 3.0], random::key(1))  ->  [1.039508, 1.0377913]";
}
def Weft_RandomWeibullFn : Weft_OneParameterFn<"weibull", "a"> {
  let summary = "Numbers above x with probability exp(-x^a): Weibull's distribution.";
  let raises = [key_has_another_shape, too_large_for_shape, Raises<AssertionError, "a is not positive">];
  let example = "weibull([1.5, 1.5], random::key(1))  ->  [0.23818272, 0.23135996]";
}
def Weft_RandomLaplaceFn : Weft_LocationScaleFn<"laplace"> {
  let summary = "Numbers to either side of loc that are exponentially distributed.";
  let example = "laplace([0.0, 0.0], [1.0, 1.0], random::key(1))  ->  [1.5164869, 1.5576497]";
}
def Weft_RandomLogisticFn : Weft_LocationScaleFn<"logistic"> {
  let summary = "Numbers below x with probability 1 / (1 + exp(-(x - loc) / scale)).";
  let example = "logistic([0.0, 0.0], [1.0, 1.0], random::key(1))  ->  [2.0933914, 2.139513]";
}
def Weft_RandomGumbelFn : Weft_LocationScaleFn<"gumbel"> {
  let summary = "Numbers below x with probability exp(-exp(-(x - loc) / scale)).";
  let example = "gumbel([0.0, 0.0], [1.0, 1.0], random::key(1))  ->  [2.1520758, 2.1956708]";
}
def Weft_RandomCauchyFn : Weft_LocationScaleFn<"cauchy"> {
  let summary = "Numbers of Cauchy's distribution, which has no mean.";
  let tolerance = "ulps(64) + near(1)";
  let example = "cauchy([0.0, 0.0], [1.0, 1.0], random::key(1))  ->  [2.78472, 2.9113483]";
}
def Weft_RandomLognormalFn : Weft_LocationScaleFn<"lognormal"> {
  let summary = "Numbers whose logarithms are normally distributed, with mean `loc` and standard deviation `scale`.";
  let tolerance = "near(64)";
  let example = "lognormal([0.0, 0.0], [1.0, 1.0], random::key(1))  ->  [3.4140792, 3.4967484]";
}
def Weft_RandomGeometricFn : Weft_OneParameterFn<"geometric", "p"> {
  let summary = "How many trials it takes until one succeeds, each with probability p.";
  let operandShapes = ["above 0, to 1", wordsOfKey];
  let resultDType = "i64";
  let raises = [key_has_another_shape, too_large_for_shape, Raises<AssertionError, "p is not above 0, to 1">];
  let samples = [Sample<["[1, 1]", "u64 [7, 0]"], ["null"]>, Sample<["0x3", "u64 [1, 2]"], ["null"]>];
  let tolerance = "0";
  let example = "geometric([0.2, 0.2], random::key(1))  ->  [1, 1]";
}

//===----------------------------------------------------------------------===//
// Distributions by rejection, and what is made of them
//===----------------------------------------------------------------------===//

class Weft_GammaFn<string name, string parameter> : Weft_OneParameterFn<name, parameter> {
  let operandShapes = ["positive", wordsOfKey];
  let description = "The derivative by the parameter is at a fixed share of the distribution.";
  let raises = [key_has_another_shape, too_large_for_shape, Raises<AssertionError, parameter # " is not positive">];
  let domain = "nowhere";
  let tolerance = "near(64)";
}
def Weft_RandomGammaFn : Weft_GammaFn<"gamma", "a"> {
  let summary = "Numbers of gamma distributions of that shape parameter and scale 1.";
  let example = "gamma([0.5, 3.0], random::key(1))  ->  [0.28780776, 3.4622064]";
}
def Weft_RandomLoggammaFn : Weft_GammaFn<"loggamma", "a"> {
  let summary = "Logarithms of numbers of gamma distributions, which do not underflow where a is small.";
  let example = "loggamma([0.5, 3.0], random::key(1))  ->  [-1.2454625, 1.241906]";
}
def Weft_RandomChisquareFn : Weft_GammaFn<"chisquare", "df"> {
  let summary = "Sums of the squares of df normally distributed numbers.";
  let example = "chisquare([1.0, 5.0], random::key(1))  ->  [0.5756155, 5.7813907]";
}
def Weft_RandomStudentTFn : Weft_GammaFn<"student_t", "df"> {
  let summary = "Numbers of Student's distribution of df degrees of freedom.";
  let example = "student_t([3.0, 3.0], random::key(1))  ->  [-1.3442239, -0.60189533]";
}
def Weft_RandomBetaFn : Weft_DistributionFn<"beta", (params Weft_Float:$a, Weft_Float:$b)> {
  let summary = "Numbers of beta distributions.";
  let description = "The derivatives by the parameters are those of the two gamma distributions that it is made of.";
  let operandShapes = ["positive", "positive, of a shape that broadcasts with a's", wordsOfKey];
  let raises = [key_has_another_shape, too_large_for_shape, shapes_do_not_broadcast, Raises<AssertionError, "a or b is not positive">];
  let domain = "nowhere";
  let tolerance = "near(64)";
  let samples = [Sample<["[1, 2, 5]", "[1, 2, 3]", "u64 [7, 0]"], ["null"]>, Sample<["[3]", "[2]", "u64 [1, 2]"], ["[4, 5]"]>,
                 Sample<["[[1], [2]]", "[1, 2, 3]", "u64 [7, 1]"], ["null"]>, Sample<["0x3", "0x3", "u64 [1, 2]"], ["null"]>];
  let example = "beta([2.0, 2.0], [3.0, 3.0], random::key(1))  ->  [0.86390793, 0.58489454]";
}
def Weft_RandomDirichletFn : Weft_DistributionFn<"dirichlet", (params Weft_Float:$alpha), Weft_DrawnBatch> {
  let summary = "Vectors of positive numbers with the sum 1, of Dirichlet's distributions.";
  let description = "The derivatives by the parameters are those of the gamma distributions that it is made of.";
  let operandShapes = ["positive, vectors along the last axis", wordsOfKey];
  let resultShape = "of the shape given, and the last axis of alpha";
  let raises = [key_has_another_shape, Raises<ShapeError, "alpha is a scalar, or does not broadcast to the shape">,
                Raises<AssertionError, "alpha is not positive">];
  let domain = "nowhere";
  let tolerance = "near(64)";
  let samples = [Sample<["[1, 2, 5]", "u64 [7, 0]"], ["null"]>, Sample<["[[1, 3], [2, 9]]", "u64 [1, 2]"], ["null"]>, Sample<["[1, 2, 3]", "u64 [1, 2]"], ["[4]"]>];
  let example = "dirichlet([1.0, 2.0, 3.0], random::key(1))  ->  [0.35999784, 0.36870852, 0.27129364]";
}
def Weft_RandomPoissonFn : Weft_OneParameterFn<"poisson", "lam"> {
  let summary = "Counts of events that happen lam times on average: Poisson's distribution.";
  let operandShapes = ["from 0 to 2^60", wordsOfKey];
  let resultDType = "i64";
  let raises = [key_has_another_shape, too_large_for_shape, Raises<AssertionError, "lam is negative, or above 2^60">];
  let tolerance = "0";
  let example = "poisson([0.5, 4.0, 100.0], random::key(1))  ->  [1, 5, 92]";
}
def Weft_RandomBinomialFn : Weft_DistributionFn<"binomial", (params Weft_Float:$n, Weft_Float:$p)> {
  let summary = "How many of n trials succeed, each with probability p.";
  let operandShapes = ["whole numbers, from 0 to 2^53", "from 0 to 1, of a shape that broadcasts with n's", wordsOfKey];
  let resultDType = "i64";
  let raises = [key_has_another_shape, too_large_for_shape, shapes_do_not_broadcast,
                Raises<AssertionError, "n is no whole number from 0 to 2^53, or p is not from 0 to 1">];
  let domain = "nowhere";
  let tolerance = "0";
  let samples = [Sample<["[10, 5, 7]", "[1, 0, 1]", "u64 [7, 0]"], ["null"]>, Sample<["[3]", "[[0], [1]]", "u64 [1, 2]"], ["[2, 4]"]>, Sample<["0x3", "0x3", "u64 [1, 2]"], ["null"]>];
  let example = "binomial([10.0, 100.0], [0.5, 0.5], random::key(1))  ->  [7, 53]";
}
def Weft_RandomMultinomialFn : Weft_DistributionFn<"multinomial", (params Weft_Float:$n, Weft_Float:$pvals), Weft_DrawnBatch> {
  let summary = "How often each of several things comes in n trials, one of them each time.";
  let description = "By as many binomial distributions as there are things, each of what the others leave.";
  let operandShapes = ["whole numbers, from 0 to 2^53", "probabilities along the last axis, whose sum is 1", wordsOfKey];
  let resultShape = "of the shape given, and the last axis of pvals";
  let resultDType = "i64";
  let raises = [key_has_another_shape, Raises<ShapeError, "pvals is a scalar or its last axis is not known, or a parameter does not broadcast to the shape">,
                Raises<AssertionError, "n is no whole number from 0 to 2^53, or there is a negative probability, or their sum is not 1">];
  let openSizes = 0;
  let domain = "nowhere";
  let tolerance = "0";
  let samples = [Sample<["[10, 5]", "[[1, 0, 0], [0, 0, 1]]", "u64 [7, 0]"], ["null"]>, Sample<["[5]", "[0, 1]", "u64 [7, 0]"], ["[1]"]>, Sample<["[9]", "[0, 1, 0]", "u64 [7, 0]"], ["[2, 3]"]>];
  let example = "multinomial([10.0], [0.2, 0.3, 0.5], random::key(1))  ->  [[4, 0, 6]]";
}
def Weft_RandomMultivariateNormalFn : Weft_DistributionFn<"multivariate_normal", (params Weft_Float:$mean, Weft_Float:$cov), Weft_DrawnBatch> {
  let summary = "Vectors of normally distributed numbers with those means and covariances.";
  let description = "By `cholesky` of the covariances.";
  let operandShapes = ["vectors along the last axis", "symmetric positive definite matrices, the last two axes", wordsOfKey];
  let resultShape = "of the shape given, and the last axis of mean";
  let raises = [key_has_another_shape, Raises<ShapeError, "the shapes are not those of vectors and matrices of one size, or do not broadcast to the shape">,
                Raises<LinAlgError, "a matrix is not positive definite">];
  let openSizes = 0;
  let tolerance = "near(64)";
  let domain = "nowhere";
  let samples = [Sample<["[1, 2]", "[[2, 1], [1, 3]]", "u64 [7, 0]"], ["null"]>, Sample<["[1, 2]", "[[2, 1], [1, 3]]", "u64 [7, 0]"], ["[3]"]>];
  let example = "multivariate_normal([1.0, 2.0], [[2.0, 0.5], [0.5, 1.0]], random::key(1))  ->  [2.7365236, 3.605114]";
}

//===----------------------------------------------------------------------===//
// Orders and choices
//===----------------------------------------------------------------------===//

def Weft_RandomShuffleFn : Weft_RandomFn<"shuffle"> {
  let summary = "x with its slices along the first axis in a random order.";
  let parameters = (params Weft_Any:$x, star, Weft_KeyIfAny:$key);
  let operandShapes = ["of rank 1 or more", wordsOfKey];
  let resultShape = "of x's shape";
  let resultDType = "x's dtype";
  let raises = [key_has_another_shape, Raises<ShapeError, "x is a scalar">];
  let moves = 1;
  let numpy = "x[draw_permutation(state_of(key), x.shape[0], np.int64)]";
  let samples = [Sample<["7", "u64 [7, 0]"]>, Sample<["5x3", "u64 [1, 2]"]>, Sample<["transposed 7x5", "u64 [1, 2]"]>, Sample<["0x2", "u64 [1, 2]"]>];
  let example = "shuffle([1, 2, 3, 4], random::key(7))  ->  [3, 1, 2, 4]";
}

def Weft_ChosenShape : Weft_Parameter<"shape", "std::optional<Sizes>", "std::nullopt", "how many, in what shape; one slice if not given">;
def Weft_RandomChoiceFn : Weft_RandomFn<"choice"> {
  let summary = "Random slices of x along its first axis.";
  let description = [{
    With replacement, or each at most once; all are equally likely, or likely as `p` says. Without replacement `p` is of those that are left.
    An integer, which no trace computed, stands for the numbers from 0 up to it.
  }];
  let parameters = (params Weft_Any:$a, Weft_ChosenShape:$shape, star, Weft_FlagThatHolds<"whether one may come again">:$replace,
                           Weft_Optional<Weft_Probabilities>:$p, Weft_KeyIfAny:$key);
  let operandShapes = ["of rank 1 or more, or how many numbers there are", "a vector with a number for each slice of a, in any scale", wordsOfKey];
  let resultShape = "of the shape given, and the axes of a but its first";
  let resultDType = "a's dtype";
  let raises = [key_has_another_shape, Raises<ShapeError, "a is a scalar that is no integer, or p has another size than it">,
                Raises<ValueError, "a has no slice, or not as many as are chosen without replacement">, Raises<AssertionError, "a number of p is negative or not finite, none is positive, or fewer are than slices are chosen without replacement">];
  let openSizes = 0;
  let domain = "nowhere";
  let moves = 1;
  let numpy = "random_choice(a, p, key, shape, replace)";
  let samples = [Sample<["7", "[1, 2, 3, 0, 5, 1, 9]", "u64 [7, 0]"], ["[2, 3]", "true"]>, Sample<["5x3", "[1, 0, 0, 2, 1]", "u64 [1, 2]"], ["[3]", "false"]>];
  let example = "choice([30, 30])  ->  30";
}

#endif // WEFT_IR_RANDOM_COMPOSITES
