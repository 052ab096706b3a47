// The language of the fuzzer: small programs with control flow, effects and variables, which can be
// printed, interpreted and reduced.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::fuzz {

/// What a value is. Floating values are f64. All vectors of one program have the same size, n, and
/// so have both sides of its matrices; ragged ones have any size, which may change from iteration
/// to iteration.
enum class Type : std::uint8_t {
  scalar,  ///< f64()
  vector,  ///< f64(n,)
  matrix,  ///< f64(n, n)
  ragged,  ///< f64(?,)
  rows,    ///< f64(?, n)
  array,   ///< a TensorArray of vectors, never empty
  integer, ///< i64()
  boolean, ///< bool()
};
constexpr int kTypes = 8;
bool is_floating(Type type);

enum class Kind : std::uint8_t {
  map,     ///< result = OP(x), element by element
  combine, ///< result = OP(x, y), element by element, where y may be broadcast
  reduce,  ///< result = OP(x), of fewer axes
  reshape, ///< result = OP(x), of as many elements, or of x moved about
  product, ///< result = a product of matrices and vectors
  index,   ///< result = OP(x, integers..): gather, replace a slice, resize, repeat
  whole,   ///< an integer: OP(integers and floating scalars)
  compare, ///< a boolean: OP(x, y)
  array,   ///< OP on a TensorArray
  random,  ///< numbers like x from the generator
  read,    ///< the value of variable OP
  assign,  ///< of variable OP
  add_to,  ///< assign_add of variable OP
  check,   ///< an assertion that holds
  print,   ///< of an integer
  branch,  ///< cond: a boolean; two blocks
  choose,  ///< switch_case: an integer; blocks
  count,   ///< for_loop: [an integer], state; the block takes the number and the state
  loop,    ///< while_loop: state; blocks for the condition and the body
  scan,    ///< over the first axis of x: x, carries; the block gives carries and one more
  call,    ///< of function OP: arguments
  slope,   ///< the gradient of the block, which gives a scalar, by its parameter
};

struct Block;

/// A step of a program. Values are numbered through a whole program; each has one definition.
struct Statement {
  Kind kind{};
  int op = 0;        ///< which of the kind
  double number = 0; ///< a constant of it
  std::vector<int> operands = {}, results = {};
  std::vector<Block> blocks;
};

struct Block {
  std::vector<int> parameters;
  std::vector<Statement> statements;
  std::vector<int> yields;
};

/// The values that are there from the start: arguments, and one of each type made of them, so that
/// any use of a value can be replaced by one of these. Type::boolean has none but is_long.
enum Start : int {
  start_x,       ///< argument: a vector, differentiated
  start_w,       ///< argument: a matrix, differentiated
  start_s,       ///< argument: a scalar, differentiated
  start_n,       ///< argument: an integer, 2
  start_k,       ///< argument: an integer, 3
  start_ragged,  ///< x
  start_rows,    ///< w
  start_array,   ///< x alone
  start_boolean, ///< k > n
  start_count,
};
/// The value from the start of that type.
int start_of(Type type);

/// Variables: two that are trainable and differentiated, and two that are not.
enum Variables : int { variable_p, variable_q, variable_v, variable_c, variable_count };
constexpr int kTrainable = 2;
Type type_of_variable(int variable);
const char *name_of_variable(int variable);

struct Program {
  std::uint64_t seed = 0;      ///< that it was generated from
  std::int64_t n = 3;          ///< size of vectors
  bool open = false;           ///< whether traces do not know n
  bool compiled_calls = false; ///< whether calls on values are of compiled functions
  std::vector<Type> types;     ///< of each value
  Block main; ///< its parameters are the values from the start; yields floating ones
  std::vector<Block> functions;
  bool second_order = false; ///< whether second derivatives are compared
  bool forward = true;       ///< whether the compiled forward mode is compared

  int make(Type type) {
    types.push_back(type);
    return static_cast<int>(types.size()) - 1;
  }
};

/// How many statements there are, those of blocks and functions included.
std::size_t size_of(const Program &program);
/// The program as text, a line for each statement.
std::string to_string(const Program &program);

} // namespace weft::fuzz
