// Writes random programs, and keeps account of what their parts touch.
#include "RandomProgram.h"

#include <array>
#include <random>
#include <sstream>
#include <vector>

namespace weft::test {
namespace {

constexpr int kVariables = 3, kArguments = 2;
constexpr int kThings = kVariables + kArguments + 1, kSeen = kThings - 1;

/// For each variable, each handle that is an argument, and what a person sees: untouched, read,
/// written.
struct Touch {
  std::array<int, kThings> access{};
  bool anyRead = false; ///< of whatever variables the caller has

  void add(int thing, int how) { access[thing] = std::max(access[thing], how); }
  void add(const Touch &other) {
    for (int i = 0; i < kThings; ++i) add(i, other.access[i]);
    anyRead |= other.anyRead;
  }
};

struct Handle {
  std::string name;
  std::vector<int> things;
};

/// What is visible at a point of the program.
struct Scope {
  std::vector<std::string> values; ///< tensor<i32>
  std::vector<Handle> handles;
};

class Writer {
public:
  explicit Writer(std::uint64_t seed) : random_(seed) {}

  std::string program() {
    out_ << "module {\n";
    for (int v = 0; v < kVariables; ++v) out_ << "weft.variable @v" << v << " : tensor<i32>\n";
    const int functions = below(4);
    for (int f = 0; f < functions; ++f) function(f);
    out_ << "func.func @main(%arg0: tensor<i32>) -> (tensor<i32>, tensor<i32>) {\n";
    inMain_ = true;
    Scope scope = begin({"%arg0"});
    block(scope, 3 + below(8), 0);
    out_ << "return " << pick(scope.values) << ", " << scope.values.back()
         << " : tensor<i32>, tensor<i32>\n}\n}\n";
    return out_.str();
  }

  std::string line(int effects) {
    out_ << "module {\nweft.variable @v0 : tensor<i32>\nweft.variable @v1 : tensor<i32>\n"
         << "func.func @main(%c: tensor<i1>";
    for (int i = 0; i < effects; ++i) out_ << ", %x" << i << ": tensor<i32>";
    out_ << ") -> (tensor<i32>";
    std::vector<int> kinds;
    std::string results = "%x0", types = "tensor<i32>";
    for (int i = 0; i < effects; ++i) {
      kinds.push_back(below(6));
      if (kinds.back() > 1) continue;
      out_ << ", tensor<i32>";
      results += ", %r" + std::to_string(i);
      types += ", tensor<i32>";
    }
    out_ << ") {\n%h0 = weft.handle @v0 : " << kVar << "\n%h1 = weft.handle @v1 : " << kVar << '\n';
    for (int i = 0; i < effects; ++i) {
      const int v = below(2);
      if (kinds[i] < 2) out_ << "%r" << i << " = weft.read %h" << v << " : tensor<i32>\n";
      else if (kinds[i] == 2) out_ << "weft.assign %h" << v << ", %x" << i << " : tensor<i32>\n";
      else if (kinds[i] == 3) out_ << "weft.print \"{}\", %x" << i << " : tensor<i32>\n";
      else if (kinds[i] == 4) out_ << "weft.assert %c, \"" << i << "\" : tensor<i1>\n";
      else out_ << "weft.host_call @f" << i << "(%x" << i << ") : (tensor<i32>) -> ()\n";
    }
    out_ << "return " << results << " : " << types << "\n}\n}\n";
    return out_.str();
  }

private:
  static constexpr const char *kVar = "!weft.var<tensor<i32>>";

  int below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }
  template <class T>
  const T &pick(const std::vector<T> &from) {
    return from[static_cast<std::size_t>(below(static_cast<int>(from.size())))];
  }
  std::string fresh(const char *prefix) {
    return "%" + std::string(prefix) + std::to_string(++count_);
  }

  Scope begin(std::vector<std::string> values) {
    Scope scope{std::move(values), {}};
    for (int v = 0; v < kVariables; ++v) {
      std::string name = fresh("h");
      out_ << name << " = weft.handle @v" << v << " : " << kVar << '\n';
      scope.handles.push_back({name, {v}});
    }
    return scope;
  }

  /// What an op touches, as an attribute in braces; only in @main, where the variables are known.
  std::string attribute(const Touch &touch) const {
    if (!inMain_) return "";
    std::ostringstream text;
    text << "{touch = array<i64: ";
    for (int v = 0; v < kVariables; ++v)
      text << std::max(touch.access[v], touch.anyRead ? 1 : 0) << ", ";
    text << touch.access[kSeen] << ">}";
    return text.str();
  }

  Touch touchOf(const Handle &handle, int how) const {
    Touch touch;
    for (int thing : handle.things) touch.add(thing, how);
    return touch;
  }

  Touch block(Scope &scope, int statements, int depth) {
    Touch touch;
    for (int i = 0; i < statements; ++i) touch.add(statement(scope, depth));
    return touch;
  }

  Touch statement(Scope &scope, int depth) {
    const int kind = below(depth < 3 ? 18 : 11);
    const Handle handle = pick(scope.handles);
    Touch touch;
    if (kind < 3) {
      touch = touchOf(handle, 1);
      std::string value = fresh("r");
      out_ << value << " = weft.read " << handle.name << ' ' << attribute(touch)
           << " : tensor<i32>\n";
      scope.values.push_back(value);
    } else if (kind < 6) {
      touch = touchOf(handle, 2);
      out_ << (below(2) ? "weft.assign " : "weft.assign_add ") << handle.name << ", "
           << pick(scope.values) << ' ' << attribute(touch) << " : tensor<i32>\n";
    } else if (kind == 6) {
      touch.add(kSeen, 2);
      out_ << "weft.print \"" << ++count_ << " {}\", " << pick(scope.values) << " : tensor<i32> "
           << attribute(touch) << '\n';
    } else if (kind == 7) {
      touch.add(kSeen, 2);
      touch.anyRead = true;
      std::string ok = fresh("ok");
      out_ << ok << " = weft.less " << pick(scope.values) << ", " << pick(scope.values)
           << " : tensor<i32>\nweft.assert " << ok << ", \"" << ++count_ << "\" "
           << attribute(touch) << " : tensor<i1>\n";
    } else if (kind == 8) {
      touch.add(kSeen, 2);
      touch.anyRead = true;
      std::string given = fresh("g");
      out_ << given << " = weft.host_call @f" << ++count_ << "(" << pick(scope.values) << ") "
           << attribute(touch) << " : (tensor<i32>) -> tensor<i32>\n";
      scope.values.push_back(given);
    } else if (kind == 9) {
      std::string sum = fresh("s");
      out_ << sum << " = weft.add " << pick(scope.values) << ", " << pick(scope.values)
           << " : tensor<i32>\n";
      scope.values.push_back(sum);
    } else if (kind == 10) {
      choose(scope);
    } else if (kind < 13) {
      touch = branch(scope, depth);
    } else if (kind == 13) {
      touch = counted(scope, depth);
    } else if (kind == 14) {
      touch = loop(scope, depth);
    } else if (kind == 15) {
      touch = numbered(scope, depth);
    } else {
      touch = call(scope);
    }
    return touch;
  }

  std::string condition(Scope &scope) {
    std::string less = fresh("l"), c = fresh("c");
    out_ << less << " = weft.less " << pick(scope.values) << ", " << pick(scope.values)
         << " : tensor<i32>\n"
         << c << " = weft.item " << less << " : tensor<i1>\n";
    return c;
  }

  void choose(Scope &scope) {
    std::string c = condition(scope), chosen = fresh("h");
    const Handle a = pick(scope.handles), b = pick(scope.handles);
    out_ << chosen << " = arith.select " << c << ", " << a.name << ", " << b.name << " : " << kVar
         << '\n';
    Handle both{chosen, a.things};
    both.things.insert(both.things.end(), b.things.begin(), b.things.end());
    scope.handles.push_back(both);
  }

  Touch region(const Scope &outer, int depth) {
    Scope inner = outer;
    Touch touch = block(inner, below(4), depth + 1);
    out_ << "scf.yield " << pick(inner.values) << " : tensor<i32>\n";
    return touch;
  }

  Touch branch(Scope &scope, int depth) {
    std::string c = condition(scope), result = fresh("i");
    out_ << result << " = scf.if " << c << " -> tensor<i32> {\n";
    Touch touch = region(scope, depth);
    out_ << "} else {\n";
    touch.add(region(scope, depth));
    out_ << "} " << attribute(touch) << '\n';
    scope.values.push_back(result);
    return touch;
  }

  Touch numbered(Scope &scope, int depth) {
    std::string wide = fresh("w"), item = fresh("n"), number = fresh("n"), result = fresh("k");
    out_ << wide << " = weft.cast " << pick(scope.values) << " to i64 : tensor<i32>\n"
         << item << " = weft.item " << wide << " : tensor<i64>\n"
         << number << " = arith.index_cast " << item << " : i64 to index\n";
    // What the cases touch is known after they are written.
    std::ostringstream before;
    before.swap(out_);
    Touch touch;
    for (int i = 0; i < 2; ++i) {
      out_ << "case " << i << " {\n";
      touch.add(region(scope, depth));
      out_ << "}\n";
    }
    out_ << "default {\n";
    touch.add(region(scope, depth));
    out_ << "}\n";
    before.swap(out_);
    out_ << result << " = scf.index_switch " << number << ' ' << attribute(touch)
         << " -> tensor<i32>\n"
         << before.str();
    scope.values.push_back(result);
    return touch;
  }

  Touch counted(Scope &scope, int depth) {
    std::string zero = fresh("z"), one = fresh("z"), count = fresh("z"), result = fresh("f"),
                carried = fresh("a");
    out_ << zero << " = arith.constant 0 : index\n"
         << one << " = arith.constant 1 : index\n"
         << count << " = arith.constant " << below(4) << " : index\n"
         << result << " = scf.for %iteration" << ++count_ << " = " << zero << " to " << count
         << " step " << one << " iter_args(" << carried << " = " << pick(scope.values)
         << ") -> tensor<i32> {\n";
    Scope inner = scope;
    inner.values.push_back(carried);
    Touch touch = region(inner, depth);
    out_ << "} " << attribute(touch) << '\n';
    scope.values.push_back(result);
    return touch;
  }

  /// At most three iterations, fewer if a condition says so, which has effects of its own.
  Touch loop(Scope &scope, int depth) {
    std::string zero = fresh("z"), one = fresh("z"), three = fresh("z"), result = fresh("w"),
                iteration = fresh("t"), carried = fresh("a"), small = fresh("b"), both = fresh("b");
    out_ << zero << " = arith.constant 0 : i64\n"
         << one << " = arith.constant 1 : i64\n"
         << three << " = arith.constant 3 : i64\n"
         << result << ":2 = scf.while (" << iteration << " = " << zero << ", " << carried << " = "
         << pick(scope.values) << ") : (i64, tensor<i32>) -> (i64, tensor<i32>) {\n";
    Scope inner = scope;
    inner.values.push_back(carried);
    Touch touch = block(inner, below(3), depth + 1);
    std::string c = condition(inner);
    out_ << small << " = arith.cmpi slt, " << iteration << ", " << three << " : i64\n"
         << both << " = arith.andi " << c << ", " << small << " : i1\nscf.condition(" << both
         << ") " << iteration << ", " << pick(inner.values) << " : i64, tensor<i32>\n} do {\n";
    std::string bodyIteration = fresh("t"), bodyValue = fresh("a"), next = fresh("t");
    out_ << "^bb0(" << bodyIteration << ": i64, " << bodyValue << ": tensor<i32>):\n";
    Scope body = scope;
    body.values.push_back(bodyValue);
    touch.add(block(body, below(4), depth + 1));
    out_ << next << " = arith.addi " << bodyIteration << ", " << one << " : i64\nscf.yield " << next
         << ", " << pick(body.values) << " : i64, tensor<i32>\n}";
    if (inMain_) out_ << " attributes " << attribute(touch);
    out_ << '\n';
    scope.values.push_back(result + "#1");
    return touch;
  }

  Touch call(Scope &scope) {
    if (functions_.empty()) return {};
    const int f = below(static_cast<int>(functions_.size()));
    const Touch &inside = functions_[f];
    const Handle handles[kArguments] = {pick(scope.handles), pick(scope.handles)};
    Touch touch;
    touch.anyRead = inside.anyRead;
    touch.add(kSeen, inside.access[kSeen]);
    for (int v = 0; v < kVariables; ++v) touch.add(v, inside.access[v]);
    for (int a = 0; a < kArguments; ++a)
      if (int how = inside.access[kVariables + a]) touch.add(touchOf(handles[a], how));
    std::string depth = fresh("z"), result = fresh("y");
    out_ << depth << " = arith.constant 2 : i64\n"
         << result << " = func.call @f" << f << '(' << handles[0].name << ", " << handles[1].name
         << ", " << pick(scope.values) << ", " << depth << ") " << attribute(touch) << " : ("
         << kVar << ", " << kVar << ", tensor<i32>, i64) -> tensor<i32>\n";
    scope.values.push_back(result);
    return touch;
  }

  /// A private function of two handles, a value and a depth; some call themselves with the handles
  /// the other way round.
  void function(int number) {
    out_ << "func.func private @f" << number << "(%p0: " << kVar << ", %p1: " << kVar
         << ", %px: tensor<i32>, %pn: i64) -> tensor<i32> {\n";
    Scope scope = begin({"%px"});
    for (int a = 0; a < kArguments; ++a)
      scope.handles.push_back({"%p" + std::to_string(a), {kVariables + a}});
    Touch touch = block(scope, 1 + below(4), 1);
    std::string result = pick(scope.values);
    if (below(3) == 0) {
      std::string zero = fresh("z"), one = fresh("z"), more = fresh("b"), less = fresh("z"),
                  inner = fresh("y"), both = fresh("y");
      out_ << zero << " = arith.constant 0 : i64\n"
           << one << " = arith.constant 1 : i64\n"
           << more << " = arith.cmpi sgt, %pn, " << zero << " : i64\n"
           << both << " = scf.if " << more << " -> tensor<i32> {\n"
           << less << " = arith.subi %pn, " << one << " : i64\n"
           << inner << " = func.call @f" << number << "(%p1, %p0, " << result << ", " << less
           << ") : (" << kVar << ", " << kVar << ", tensor<i32>, i64) -> tensor<i32>\n"
           << "scf.yield " << inner << " : tensor<i32>\n} else {\nscf.yield " << result
           << " : tensor<i32>\n}\n";
      result = both;
      touch.add(kVariables, touch.access[kVariables + 1]);
      touch.add(kVariables + 1, touch.access[kVariables]);
    }
    out_ << "return " << result << " : tensor<i32>\n}\n";
    functions_.push_back(touch);
  }

  std::mt19937_64 random_;
  std::ostringstream out_;
  std::vector<Touch> functions_;
  int count_ = 0;
  bool inMain_ = false;
};

} // namespace

std::string randomProgram(std::uint64_t seed) { return Writer(seed).program(); }
std::string randomLine(std::uint64_t seed, int effects) { return Writer(seed).line(effects); }

} // namespace weft::test
