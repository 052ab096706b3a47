// Generates the calls that the tests make of each op, from the samples of the records.
#include "Backends.h"
#include "DTypes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/Error.h"

using namespace llvm;

namespace weft::tblgen {

namespace {

using Words = std::vector<std::string>;

/// A call with one value for each attribute.
struct SampleCall {
  Words operands, attributes;
};

/// What the sizes of an operand's dimensions are, as far as the words say; -1 where they do not.
std::vector<std::int64_t> sizesOf(StringRef words) {
  bool transposed = false, halved = false;
  for (bool more = true; more;) {
    more = false;
    for (StringRef prefix : {"finite ", "regular ", "definite "})
      more |= words.consume_front(prefix);
    for (const DTypeRow &row : dtypeRows()) more |= words.consume_front((row.name + " ").str());
    if (words.consume_front("transposed ")) more = transposed = true;
    if (words.consume_front("backwards ") || words.consume_front("strided ")) more = halved = true;
  }
  if (words == "scalar") return {};
  if (words == "special") return {-1};
  std::vector<std::int64_t> sizes;
  for (StringRef size : split(words, 'x')) {
    std::int64_t value = -1;
    if (size.getAsInteger(10, value)) return {-1};
    sizes.push_back(value);
  }
  if (transposed) std::reverse(sizes.begin(), sizes.end());
  if (halved) sizes[0] = (sizes[0] + 1) / 2;
  return sizes;
}

/// Expands "*" into the values that attributes take in turn.
class Expansion {
public:
  explicit Expansion(const Callable &op) : op_(op) {}

  std::vector<SampleCall> run() {
    for (const Record *sample : op_.def->getValueAsListOfDefs("samples")) {
      SampleCall call;
      for (StringRef words : sample->getValueAsListOfStrings("operands"))
        call.operands.push_back(words.str());
      const auto given = sample->getValueAsListOfStrings("attributes");
      const bool variadic = op_.isVariadic();
      if (variadic ? call.operands.size() < op_.operands.size()
                   : call.operands.size() != op_.operands.size())
        fail("a sample has " + Twine(call.operands.size()) + " operands, the op " +
             Twine(op_.operands.size()));
      if (!given.empty() && given.size() != op_.attributes.size())
        fail("a sample has " + Twine(given.size()) + " attributes, the op " +
             Twine(op_.attributes.size()));
      given_ = given.empty() ? std::vector<StringRef>(op_.attributes.size(), "*") : given;
      expand(call);
    }
    return std::move(calls_);
  }

private:
  [[noreturn]] void fail(const Twine &what) const {
    PrintFatalError(op_.def, "'" + Twine(op_.mnemonic) + "': " + what);
  }

  void expand(const SampleCall &call) {
    const std::size_t at = call.attributes.size();
    if (at == given_.size()) {
      calls_.push_back(call);
      return;
    }
    for (const std::string &value :
         given_[at] == "*" ? values(op_.attributes[at], call) : Words{given_[at].str()}) {
      SampleCall next = call;
      next.attributes.push_back(value);
      expand(next);
    }
  }

  /// The sizes of the first operand; of the shape that an attribute gives where there is none.
  std::vector<std::int64_t> sizes(const SampleCall &call) const {
    if (!call.operands.empty()) return sizesOf(call.operands[0]);
    for (auto [attribute, value] : zip(op_.attributes, call.attributes))
      if (attribute.kind == "shape")
        return std::vector<std::int64_t>(value == "[]" ? 0 : 1 + StringRef(value).count(','), -1);
    fail("the axes of a sample are those of no operand");
  }

  /// The axis that the call goes along.
  std::size_t axis(const SampleCall &call) const {
    std::size_t axis = 0;
    for (auto [attribute, value] : zip(op_.attributes, call.attributes))
      if (attribute.kind == "axis") StringRef(value).getAsInteger(10, axis);
    return axis;
  }

  Words values(const Attribute &attribute, const SampleCall &call) const {
    if (attribute.kind == "flag") return {"false", "true"};
    if (attribute.kind == "dtype") {
      Words dtypes;
      for (const DTypeRow &row : dtypeRows()) dtypes.push_back(row.name.str());
      return dtypes;
    }
    if (attribute.hasDefault() && (attribute.kind == "integer" || attribute.kind == "real"))
      return {attribute.optionDefault};
    const std::vector<std::int64_t> sizes = this->sizes(call);
    Words values;
    if (attribute.kind == "axis") {
      for (std::size_t i = 0; i < sizes.size(); ++i) values.push_back(std::to_string(i));
    } else if (attribute.kind == "axes") {
      for (unsigned mask = 0; mask < 1u << sizes.size(); ++mask) {
        std::string text;
        for (std::size_t i = 0; i < sizes.size(); ++i)
          if (mask >> i & 1) text += (text.empty() ? "" : ", ") + std::to_string(i);
        values.push_back("[" + text + "]");
      }
    } else if (attribute.kind == "count") {
      const std::int64_t size = sizes[axis(call)];
      values = {"-1", std::to_string(size < 0 ? 2 : std::min<std::int64_t>(size, 2))};
      if (size > 4) values.push_back(std::to_string(size / 2));
    } else {
      fail("'" + Twine(attribute.name) + "' of a sample needs a value");
    }
    return values;
  }

  const Callable &op_;
  std::vector<StringRef> given_;
  std::vector<SampleCall> calls_;
};

} // namespace

void emitSampleTable(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "Sample calls of every op: operands and attributes in the words of the records.");
  for (const OpRecord &op : readOps(records)) {
    if (!op.hasSamples()) continue;
    os << "// " << origin(op) << "\n";
    for (const SampleCall &call : Expansion(op).run())
      os << "{OpCode::" << op.cppName << ", \"" << join(call.operands, "; ") << "\", \""
         << join(call.attributes, "; ") << "\"},\n";
  }
}

void emitDomains(const RecordKeeper &records, raw_ostream &os) {
  emitHeader(os, "Where ops are differentiated by differences, if not anywhere.");
  for (const OpRecord &op : readOps(records))
    if (StringRef domain = op.def->getValueAsString("domain"); domain != "any")
      os << "{OpCode::" << op.cppName << ", \"" << domain << "\"},\n";
}

static void writeSamples(const Callable &op, json::OStream &out) {
  const auto strings = [&](const Words &words) {
    out.array([&] {
      for (const std::string &word : words) out.value(word == "std::nullopt" ? "null" : word);
    });
  };
  out.object([&] {
    out.attribute("name", op.mnemonic);
    out.attribute("numpy", op.def->getValueAsString("numpy"));
    out.attribute("tolerance", op.def->getValueAsString("tolerance"));
    out.attribute("signedZeros", op.def->getValueAsBit("signedZeros"));
    out.attribute("gives", op.gives);
    out.attribute("pair", op.pythonPair);
    out.attribute("domain", op.def->getValueAsString("domain"));
    out.attributeArray("operands", [&] {
      for (const Operand &operand : op.operands)
        out.object([&] {
          out.attribute("name", operand.name);
          out.attribute("role", operand.role);
          out.attribute("variadic", operand.variadic);
          out.attribute("rest", operand.rest);
          out.attribute("dtypes", operand.dtypeList());
        });
    });
    out.attributeArray("attributes", [&] {
      for (const Attribute &attribute : op.attributes)
        out.object([&] {
          out.attribute("name", attribute.name);
          out.attribute("kind", attribute.kind);
          out.attribute("python", attribute.pythonName);
        });
    });
    out.attributeArray("samples", [&] {
      for (const SampleCall &call : Expansion(op).run())
        out.array([&] {
          strings(call.operands);
          strings(call.attributes);
        });
    });
  });
}

void emitSampleJson(const RecordKeeper &records, raw_ostream &os) {
  json::OStream out(os);
  out.array([&] {
    for (const OpRecord &op : readOps(records))
      if (op.hasSamples()) writeSamples(op, out);
  });
  os << "\n";
}

void emitCompositeJson(const RecordKeeper &records, raw_ostream &os) {
  json::OStream out(os);
  out.array([&] {
    for (const CompositeRecord &composite : readComposites(records))
      if (composite.inPython) writeSamples(composite, out);
  });
  os << "\n";
}

} // namespace weft::tblgen
