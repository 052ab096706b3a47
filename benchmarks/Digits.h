// An IDX file of 60,000 images like those of MNIST, which the rows on data read.
#pragma once

#include <string>

namespace weft::bench {

inline constexpr long kDigits = 60'000, kDigitsBatch = 32;

/// Two files in a folder of the system's temporary files, which goes with this object.
class DigitFiles {
public:
  /// Throws std::runtime_error if they cannot be written.
  DigitFiles();
  ~DigitFiles();
  DigitFiles(const DigitFiles &) = delete;
  DigitFiles &operator=(const DigitFiles &) = delete;

  std::string images() const { return folder_ + "/images.idx3-ubyte"; }
  std::string labels() const { return folder_ + "/labels.idx1-ubyte"; }

private:
  std::string folder_;
};

} // namespace weft::bench
