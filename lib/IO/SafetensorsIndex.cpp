// The index of a model in several safetensors files: {"metadata": {...}, "weight_map": {...}}.
#include <algorithm>

#include "IO/JsonEvents.h"
#include "IO/SafetensorsFile.h"
#include "Support/Messages.h"

namespace weft {

namespace {

/// What a file system takes, in bytes.
constexpr std::size_t kLongestName = 255;

/// Hears an index; what it says beside the map is passed over.
class IndexEvents final : public JsonEvents {
public:
  bool null() override { return skips(); }
  bool boolean(bool) override { return skips(); }
  bool number_integer(number_integer_t) override { return skips(); }
  bool number_unsigned(number_unsigned_t) override { return skips(); }
  bool number_float(number_float_t, const string_t &) override { return skips(); }
  bool start_array(std::size_t) override { return skips() && deeper(); }
  bool end_array() override { return ends(); }
  bool start_object(std::size_t) override {
    return depth_ == 0 || depth_ == 1 || skips() ? deeper() : false;
  }
  bool end_object() override { return ends(); }
  bool key(string_t &name) override {
    if (depth_ == 1) {
      in_map_ = name == "weight_map";
      if (in_map_ && had_map) return fail("has weight_map twice");
      had_map = had_map || in_map_;
    }
    name_ = std::move(name);
    return true;
  }
  bool string(string_t &file) override {
    if (!in_map_ || depth_ != 2) return skips();
    // A name of a file beside the index, and of none elsewhere.
    if (file.empty() || file.size() > kLongestName || file == "." || file == ".." ||
        std::any_of(file.begin(), file.end(),
                    [](unsigned char c) { return c == '/' || c < ' ' || c == 0x7f; }))
      return fail("has '" + shown(file) + "' as the file of '" + shown(name_) +
                  "', which is no name of a file");
    if (files.size() == kMaxSafetensors) return fail("names too many tensors");
    if (!files.emplace(name_, std::move(file)).second)
      return fail("has '" + shown(name_) + "' twice");
    return true;
  }

  std::map<std::string, std::string> files; ///< by the names of tensors
  bool had_map = false;

protected:
  std::string place() const override { return "what belongs to '" + shown(name_) + "'"; }

private:
  bool skips() {
    if (depth_ > 0 && !in_map_) return true;
    return fail("is no index: it has something else than names of files in its weight_map");
  }
  bool deeper() { return ++depth_ <= 16 || fail("is nested too deeply"); }
  bool ends() {
    --depth_;
    return true;
  }

  int depth_ = 0;
  bool in_map_ = false;
  std::string name_;
};

} // namespace

std::map<std::string, std::string> read_safetensors_index(const InputFile &file) {
  if (file.size() > kMaxSafetensorsHeader)
    file.fail("is an index of " + std::to_string(file.size()) + " bytes, more than " +
              std::to_string(kMaxSafetensorsHeader));
  std::string text(file.size(), '\0');
  file.read_at(0, text.data(), text.size(), "text");
  IndexEvents events;
  if (const Check fault = events.read(text)) file.fail(fault->message);
  if (!events.had_map) file.fail("is no index of safetensors files: it has no weight_map");
  return std::move(events.files);
}

} // namespace weft
