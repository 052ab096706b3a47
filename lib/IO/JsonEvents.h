// JSON that is read as a stream: what a reader sees of it, and what it refuses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "Support/Fault.h"
#include "Support/Messages.h"

namespace weft {

/// A reader hears of the parts of a text one after the other, and keeps what it wants: memory is
/// bounded by that. Each member returns whether the text is as it should be; those that a reader
/// does not override say that it is not.
class JsonEvents : public nlohmann::json_sax<nlohmann::json> {
public:
  bool null() override { return refuse("null"); }
  bool boolean(bool) override { return refuse("a boolean"); }
  bool number_integer(number_integer_t) override { return refuse("a negative number"); }
  bool number_unsigned(number_unsigned_t) override { return refuse("a number"); }
  bool number_float(number_float_t, const string_t &text) override {
    return refuse("the number " + shown(text));
  }
  bool string(string_t &) override { return refuse("a text"); }
  bool binary(binary_t &) override { return refuse("binary data"); }
  bool start_object(std::size_t) override { return refuse("an object"); }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return refuse("a list"); }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string &,
                   const nlohmann::detail::exception &) override {
    return fail("is no valid JSON at byte " + std::to_string(position));
  }

  /// Reads the text, which must be one value; what is wrong with it, if anything is.
  Check read(std::string_view text) {
    // The parser takes a NUL for the end.
    if (const std::size_t at = text.find('\0'); at != std::string_view::npos)
      fail("is no valid JSON at byte " + std::to_string(at + 1));
    else if (!nlohmann::json::sax_parse(text.begin(), text.end(), this) && message_.empty())
      fail("is no valid JSON");
    if (message_.empty()) return std::nullopt;
    return Fault{ErrorKind::io, message_};
  }

protected:
  /// Keeps the first thing that is wrong; false.
  bool fail(std::string message) {
    if (message_.empty()) message_ = std::move(message);
    return false;
  }
  /// Where the reader is, for `refuse`: "the shape of 'w'".
  virtual std::string place() const = 0;

private:
  bool refuse(const std::string &what) { return fail("has " + what + " as " + place()); }

  std::string message_;
};

/// The text as JSON has it, in quotes. Throws ValueError, which calls it `what`, if it is not
/// UTF-8.
inline std::string json_text(const std::string &text, const std::string &what) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception &) {
    throw ValueError(what + " is not UTF-8");
  }
}

} // namespace weft
