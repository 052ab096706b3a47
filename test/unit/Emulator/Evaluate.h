// One instruction on many operands: what the machine makes of them, beside what the manual says.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "TestDevice.h"

namespace weft::emulator {

/// Values of an operand, as bits of so many: 1 of a predicate, 16, 32 or 64.
struct Column {
  int bits;
  std::vector<std::uint64_t> values;
};

/// Executes `opcode` once for each row of the operands. The registers are %d, %a, %b, %c and %e;
/// `operand_text` is "%d, %a, %b" and so on if nothing is said.
std::vector<std::uint64_t> evaluate(const std::string &opcode, int result_bits,
                                    const std::vector<Column> &operands,
                                    std::string operand_text = "");

/// Notes that a form is tested, for those that `evaluate` does not see. When all tests have run,
/// it is an error that one has none.
void note_tested(const std::string &opcode);

template <class T>
constexpr int kBitsOf = std::is_same_v<T, bool> ? 1 : 8 * static_cast<int>(sizeof(T));

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T>
T value_of(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// The values of a type at which something changes, and a few others.
template <class T>
std::vector<T> edges() {
  if constexpr (std::is_same_v<T, bool>) return {false, true};
  else if constexpr (std::is_same_v<T, float>) {
    std::vector<T> values;
    for (const std::uint32_t bits :
         {0x00000000U, 0x80000000U, 0x3f800000U, 0xbf800000U, 0x3fc00000U, 0xc0200000U, 0x00000001U,
          0x80000001U, 0x00800000U, 0x007fffffU, 0x7f7fffffU, 0xff7fffffU, 0x7f800000U, 0xff800000U,
          0x7fc00001U, 0xffc12345U, 0x7f800001U, 0x3eaaaaabU, 0x40490fdbU, 0x4b000001U, 0x4f000000U,
          0xcf000000U, 0x5f000000U, 0x33ffffffU, 0x3f000000U, 0x3fffffffU})
      values.push_back(value_of<T>(bits));
    return values;
  } else if constexpr (std::is_same_v<T, double>) {
    std::vector<T> values;
    for (const std::uint64_t bits :
         {0x0000000000000000ULL, 0x8000000000000000ULL, 0x3ff0000000000000ULL,
          0xbff0000000000000ULL, 0x3ff8000000000000ULL, 0xc004000000000000ULL,
          0x0000000000000001ULL, 0x8000000000000001ULL, 0x0010000000000000ULL,
          0x000fffffffffffffULL, 0x7fefffffffffffffULL, 0xffefffffffffffffULL,
          0x7ff0000000000000ULL, 0xfff0000000000000ULL, 0x7ff8000000000001ULL,
          0xfff8123456789abcULL, 0x3fd5555555555555ULL, 0x400921fb54442d18ULL,
          0x4330000000000001ULL, 0x41dfffffffc00000ULL, 0xc1e0000000000000ULL,
          0x43e0000000000000ULL, 0x3fe0000000000000ULL, 0x47efffffe0000000ULL,
          0x380fffffffffffffULL})
      values.push_back(value_of<T>(bits));
    return values;
  } else {
    using U = std::make_unsigned_t<T>;
    constexpr U kHigh = static_cast<U>(U{1} << (kBitsOf<T> - 1));
    std::vector<T> values;
    for (const U bits : {U{0}, U{1}, U{2}, U{3}, U{7}, U{31}, U{32}, U{33}, U{63}, U{64},
                         static_cast<U>(255), static_cast<U>(~U{0}), static_cast<U>(~U{0} - 1),
                         kHigh, static_cast<U>(kHigh - 1), static_cast<U>(kHigh + 1),
                         static_cast<U>(0x5555555555555555), static_cast<U>(0x123456789abcdef1)})
      values.push_back(static_cast<T>(bits));
    return values;
  }
}

template <class... A>
std::vector<std::tuple<A...>> combinations() {
  std::vector<std::tuple<A...>> rows;
  const auto descend = [&](const auto &self, auto given) -> void {
    constexpr std::size_t kGiven = std::tuple_size_v<decltype(given)>;
    if constexpr (kGiven == sizeof...(A)) rows.push_back(given);
    else
      for (const auto x : edges<std::tuple_element_t<kGiven, std::tuple<A...>>>())
        self(self, std::tuple_cat(given, std::tuple(x)));
  };
  descend(descend, std::tuple<>());
  return rows;
}

template <class Signature>
struct FormTest;
template <class R, class... A>
struct FormTest<R(A...)> {
  template <class Reference>
  static void expect(const std::string &opcode, const Reference &reference,
                     const std::string &operand_text, const std::vector<std::tuple<A...>> &rows) {
    std::vector<Column> columns(sizeof...(A));
    fill(columns, rows, std::index_sequence_for<A...>());
    const std::vector<std::uint64_t> found = evaluate(opcode, kBitsOf<R>, columns, operand_text);
    int shown = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::uint64_t expected = bits_of<R>(std::apply(reference, rows[i]));
      if (found[i] == expected || ++shown > 5) continue;
      std::string operands;
      for (const Column &column : columns) operands += " " + hexadecimal(column.values[i]);
      ADD_FAILURE() << opcode << " of" << operands << " is " << hexadecimal(found[i]) << ", not "
                    << hexadecimal(expected);
    }
  }

private:
  static std::string hexadecimal(std::uint64_t bits) {
    char text[24];
    std::snprintf(text, sizeof text, "%#llx", static_cast<unsigned long long>(bits));
    return text;
  }
  template <std::size_t... I>
  static void fill(std::vector<Column> &columns, const std::vector<std::tuple<A...>> &rows,
                   std::index_sequence<I...>) {
    (..., (columns[I].bits = kBitsOf<A>));
    for (const auto &row : rows) (..., columns[I].values.push_back(bits_of<A>(std::get<I>(row))));
  }
};

/// Compares what a form makes of all combinations of edge values with what a function of the
/// numbers says: expect_form<int(int, int)>("add.s32", ..).
template <class Signature, class Reference>
void expect_form(const std::string &opcode, const Reference &reference,
                 const std::string &operand_text = "") {
  [&]<class R, class... A>(std::type_identity<R(A...)>) {
    FormTest<R(A...)>::expect(opcode, reference, operand_text, combinations<A...>());
  }(std::type_identity<Signature>());
}

} // namespace weft::emulator
