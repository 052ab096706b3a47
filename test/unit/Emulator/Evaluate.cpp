// Kernels around one instruction, and the list of forms that tests have used.
#include "Evaluate.h"

#include <cstdlib>
#include <fstream>
#include <set>

#include "Emulator/Program/Forms.h"

namespace weft::emulator {
namespace {

std::set<std::string> &tested() {
  static auto &names = *new std::set<std::string>;
  return names;
}

// Every form in the table has a test: looked at when all have run.
class EveryForm : public ::testing::Environment {
public:
  void TearDown() override {
    if (::testing::GTEST_FLAG(filter) != "*" || ::testing::UnitTest::GetInstance()->Failed())
      return;
    std::string missing;
    for (const auto &[name, form] : forms().all())
      if (name.find(' ') == std::string_view::npos && !tested().contains(std::string(name)))
        missing += "\n  " + std::string(name);
    EXPECT_EQ(missing, "") << "these forms of instructions have no test";
  }
};
const auto *const environment = ::testing::AddGlobalTestEnvironment(new EveryForm);

std::string type_of(int bits) { return bits == 1 ? "pred" : "b" + std::to_string(bits); }
/// In memory predicates are whole numbers.
int stored_bits(int bits) { return bits == 1 ? 32 : bits; }

std::vector<std::uint8_t> packed(const Column &column) {
  const auto bytes = static_cast<std::size_t>(stored_bits(column.bits)) / 8;
  std::vector<std::uint8_t> out;
  for (const std::uint64_t value : column.values)
    for (std::size_t i = 0; i < bytes; ++i)
      out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  return out;
}

std::string hexadecimal(const std::vector<std::uint8_t> &bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

/// A string of JSON.
std::string json_text(std::string_view text) {
  std::string all = "\"";
  for (const char c : text) {
    char code[8];
    std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned char>(c));
    if (c < ' ' || c == '"' || c == '\\') all += code;
    else all += c;
  }
  return all + '"';
}

/// Writes what was evaluated as a line of the file that WEFT_GPU_CORPUS names, of JSON: ./x gpu has
/// a GPU run the same kernels.
void record(const std::string &opcode, const std::string &ptx, std::size_t rows,
            const std::vector<Column> &operands, const std::vector<std::uint8_t> &result) {
  static const char *const path = std::getenv("WEFT_GPU_CORPUS");
  if (path == nullptr) return;
  // Of an approximation a card has bits of its own; and one of sm_90a, for which the text is, does
  // not know what came later.
  for (const char *const word : {".approx", ".f32x2"})
    if (opcode.find(word) != std::string::npos) return;
  static auto &file = *new std::ofstream(path);
  file << R"({"form": )" << json_text(opcode) << R"(, "rows": )" << rows << R"(, "operands": [)";
  for (std::size_t i = 0; i < operands.size(); ++i)
    file << (i == 0 ? "" : ", ") << '"' << hexadecimal(packed(operands[i])) << '"';
  file << R"(], "result": ")" << hexadecimal(result) << R"(", "ptx": )" << json_text(ptx) << "}\n"
       << std::flush;
}

} // namespace

void note_tested(const std::string &opcode) { tested().insert(opcode); }

std::vector<std::uint64_t> evaluate(const std::string &opcode, int result_bits,
                                    const std::vector<Column> &operands, std::string operand_text) {
  note_tested(opcode);
  static constexpr std::string_view kNames = "abce";
  const std::size_t rows = operands.empty() ? 32 : operands[0].values.size();
  TestDevice device;
  std::string body =
      ".reg .pred %done;\n.reg .b32 %t, %x, %y;\n.reg .b64 %i, %n, %at, %p;\n.reg ." +
      type_of(result_bits) +
      " %d;\n"
      "mov.u32 %x, %ctaid.x;\nmov.u32 %y, %tid.x;\nmad.wide.u32 %i, %x, 128, 0;\n"
      "cvt.u64.u32 %at, %y;\nadd.u64 %i, %i, %at;\nld.param.u64 %n, [p0];\n"
      "setp.ge.u64 %done, %i, %n;\n@%done ret;\n";
  std::string text = "%d";
  std::vector<std::uint64_t> parameters = {rows, 0};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const int bits = operands[i].bits;
    const std::string name = std::string("%") + kNames[i];
    text += ", " + name;
    body += ".reg ." + type_of(bits) + " " + name + ";\nld.param.u64 %p, [p" +
            std::to_string(i + 2) + "];\nmad.lo.u64 %at, %i, " +
            std::to_string(stored_bits(bits) / 8) + ", %p;\n";
    if (bits == 1) body += "ld.global.u32 %t, [%at];\nsetp.ne.u32 " + name + ", %t, 0;\n";
    else body += "ld.global." + type_of(bits) + " " + name + ", [%at];\n";
    parameters.push_back(device.put(packed(operands[i])));
  }
  if (operand_text.empty()) operand_text = text;
  body += opcode + " " + operand_text + ";\nld.param.u64 %p, [p1];\nmad.lo.u64 %at, %i, " +
          std::to_string(stored_bits(result_bits) / 8) + ", %p;\n";
  if (result_bits == 1) body += "selp.u32 %t, 1, 0, %d;\nst.global.u32 [%at], %t;\nret;\n";
  else body += "st.global." + type_of(result_bits) + " [%at], %d;\nret;\n";

  const Column none{result_bits, std::vector<std::uint64_t>(rows)};
  parameters[1] = device.put(packed(none));
  Shape shape;
  shape.block[0] = 128;
  shape.grid[0] = static_cast<std::uint32_t>((rows + 127) / 128);
  std::vector<std::uint64_t> results(rows);
  try {
    const std::string ptx = kernel_text(static_cast<int>(operands.size()) + 2, body);
    const auto launch = device.run(ptx, shape, parameters);
    EXPECT_EQ(reports_of(*launch), "") << opcode;
    if (launch->reports.empty())
      record(opcode, ptx, rows, operands, device.get<std::uint8_t>(parameters[1]));
  } catch (const ptx::SyntaxError &error) {
    ADD_FAILURE() << opcode << ": " << error.what();
    return results;
  }
  const auto bytes = device.get<std::uint8_t>(parameters[1]);
  const auto width = static_cast<std::size_t>(stored_bits(result_bits)) / 8;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t byte = 0; byte < width; ++byte)
      results[i] |= static_cast<std::uint64_t>(bytes[i * width + byte]) << (8 * byte);
  return results;
}

} // namespace weft::emulator
