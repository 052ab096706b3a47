// Reads JPEG by libjpeg-turbo, whose errors jump and never meet an object with a destructor.
#include <algorithm>
#include <csetjmp>
#include <cstdio>

#include <jpeglib.h>

#include "Data/Images.h"
#include "Support/Fault.h"

namespace weft::data {

namespace {

/// A decoder, where it jumps to, and what it says. All of it is plain.
struct Job {
  jpeg_decompress_struct decoder;
  jpeg_error_mgr errors;
  jpeg_progress_mgr progress;
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};

/// A damaged file may ask for scan after scan of the whole image; that takes hours. Nor is a large
/// one of many parts.
constexpr int kMostScans = 500, kFewestScans = 32;
constexpr std::uint64_t kMostScanned = std::uint64_t{1} << 32; ///< pixels, in all scans

/// Pixels that a byte may stand for: each block takes a bit or more, and is 8 x 8 pixels, 32 x 32
/// of colours that are stored coarsely. (Arithmetic coding can do with less for an image of a
/// single colour, which nobody keeps.)
constexpr std::uint64_t kMostPerByte = 8 * 32 * 32;

[[noreturn]] void fail(Job *job) { std::longjmp(job->jump, 1); }

void note_error(j_common_ptr decoder) {
  Job *job = static_cast<Job *>(decoder->client_data);
  decoder->err->format_message(decoder, job->message);
  fail(job);
}
/// A warning is data that are damaged and replaced by guesses.
void note_message(j_common_ptr decoder, int level) {
  if (level < 0) note_error(decoder);
}
void ignore_message(j_common_ptr) {}

void count_scans(j_common_ptr decoder) {
  Job *job = static_cast<Job *>(decoder->client_data);
  const std::uint64_t pixels = std::uint64_t{job->decoder.image_width} * job->decoder.image_height;
  const int most = static_cast<int>(std::clamp<std::uint64_t>(
      kMostScanned / std::max<std::uint64_t>(pixels, 1), kFewestScans, kMostScans));
  if (job->decoder.input_scan_number <= most) return;
  std::snprintf(job->message, sizeof job->message, "it has more than %d scans", most);
  fail(job);
}

void prepare(Job *job) {
  job->decoder.err = jpeg_std_error(&job->errors);
  job->decoder.client_data = job;
  job->errors.error_exit = note_error;
  job->errors.emit_message = note_message;
  job->errors.output_message = ignore_message;
  job->progress.progress_monitor = count_scans;
}

bool read_header(Job *job, const unsigned char *bytes, unsigned long size) {
  if (setjmp(job->jump)) return false;
  jpeg_create_decompress(&job->decoder);
  job->decoder.client_data = job; // which that sets to null
  job->decoder.progress = &job->progress;
  job->decoder.mem->max_memory_to_use = 1L << 30;
  jpeg_mem_src(&job->decoder, bytes, size);
  jpeg_read_header(&job->decoder, TRUE);
  const J_COLOR_SPACE colours = job->decoder.jpeg_color_space;
  if (colours != JCS_GRAYSCALE && colours != JCS_RGB && colours != JCS_YCbCr) {
    std::snprintf(job->message, sizeof job->message, "%s",
                  colours == JCS_CMYK || colours == JCS_YCCK
                      ? "its colours are CMYK, which is not supported"
                      : "its colours are not known");
    return false;
  }
  job->decoder.out_color_space = colours == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
  job->decoder.dct_method = JDCT_ISLOW;
  jpeg_calc_output_dimensions(&job->decoder);
  return true;
}

bool read_rows(Job *job, unsigned char *to, std::size_t row_bytes) {
  if (setjmp(job->jump)) return false;
  jpeg_start_decompress(&job->decoder);
  while (job->decoder.output_scanline < job->decoder.output_height) {
    unsigned char *row = to + job->decoder.output_scanline * row_bytes;
    jpeg_read_scanlines(&job->decoder, &row, 1);
  }
  jpeg_finish_decompress(&job->decoder);
  return true;
}

/// Frees what the decoder has, whatever happens.
struct Decoder {
  Decoder() { prepare(&job); }
  ~Decoder() { jpeg_destroy_decompress(&job.decoder); }
  Job job{};
};

} // namespace

bool is_jpeg(std::string_view bytes) {
  return bytes.size() >= 3 && bytes.substr(0, 3) == "\xff\xd8\xff";
}

Pixels decode_jpeg(std::string_view bytes, const std::string &name) {
  if (!is_jpeg(bytes)) raise(ErrorKind::io, name + ": is not a JPEG file");
  Decoder decoder;
  Job &job = decoder.job;
  const auto check = [&](bool good) {
    if (!good) raise(ErrorKind::io, name + ": the JPEG file cannot be read: " + job.message);
  };
  check(read_header(&job, reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size()));
  Pixels pixels;
  pixels.height = job.decoder.output_height;
  pixels.width = job.decoder.output_width;
  pixels.channels = job.decoder.output_components;
  check_size(pixels, name, bytes.size() * kMostPerByte);
  make_room(pixels, name);
  check(read_rows(&job, pixels.samples.data(), pixels.samples.size() / pixels.height));
  return pixels;
}

} // namespace weft::data
