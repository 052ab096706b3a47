// Reads and writes PNG by libpng, whose errors jump and never meet an object with a destructor.
#include <csetjmp>
#include <cstring>

#include <png.h>

#include "Data/Images.h"
#include "Support/Fault.h"

namespace weft::data {

namespace {

/// What DEFLATE can make of a byte, at most: 258 bytes of 2 bits. A file that is shorter than its
/// pixels need is refused before they take memory.
constexpr std::uint64_t kMostPerByte = 1032;

/// What libpng is handed and what it says. All of it is plain: a jump leaves it as it is.
struct Job {
  png_structp png = nullptr;
  png_infop info = nullptr;
  const unsigned char *next = nullptr; ///< of a file in memory
  std::size_t left = 0;
  char message[160] = {};
};

void note_error(png_structp png, png_const_charp text) {
  Job *job = static_cast<Job *>(png_get_error_ptr(png));
  std::strncpy(job->message, text, sizeof job->message - 1);
  longjmp(png_jmpbuf(png), 1);
}
void ignore_warning(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep to, std::size_t size) {
  Job *job = static_cast<Job *>(png_get_io_ptr(png));
  if (size > job->left) png_error(png, "it is truncated");
  std::memcpy(to, job->next, size);
  job->next += size;
  job->left -= size;
}

/// Reads up to the samples.
bool read_header(Job *job) {
  if (setjmp(png_jmpbuf(job->png))) return false;
  png_set_user_limits(job->png, 1u << 24, 1u << 24);
  png_set_chunk_cache_max(job->png, 100);
  png_set_chunk_malloc_max(job->png, 1 << 20);
  png_set_read_fn(job->png, job, read_bytes);
  png_read_info(job->png, job->info);
  return true;
}

/// Has the samples come as 8 or 16 bits of whole channels, and makes room for a row.
bool begin_rows(Job *job) {
  if (setjmp(png_jmpbuf(job->png))) return false;
  png_set_expand(job->png); // palettes, bits below 8, and transparent colours
  const unsigned one = 1;
  if (*reinterpret_cast<const unsigned char *>(&one) == 1) png_set_swap(job->png);
  png_set_interlace_handling(job->png);
  png_read_update_info(job->png, job->info);
  return true;
}

bool read_rows(Job *job, png_bytepp rows) {
  if (setjmp(png_jmpbuf(job->png))) return false;
  png_read_image(job->png, rows);
  png_read_end(job->png, nullptr);
  return true;
}

/// Frees what libpng has, whatever happens.
struct Reader {
  Reader() {
    job.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &job, note_error, ignore_warning);
    if (job.png != nullptr) job.info = png_create_info_struct(job.png);
    if (job.info == nullptr) raise(ErrorKind::out_of_memory, "PNG: no memory for a reader");
  }
  ~Reader() { png_destroy_read_struct(&job.png, &job.info, nullptr); }
  Job job;
};

/// Where the bytes of a file that is written go. An exception must not pass through libpng.
struct Output {
  std::string bytes;
  bool failed = false;
};
void write_bytes(png_structp png, png_bytep from, std::size_t size) {
  Output *output = static_cast<Output *>(png_get_io_ptr(png));
  try {
    output->bytes.append(reinterpret_cast<const char *>(from), size);
  } catch (...) { // no memory: said behind the jump
    output->failed = true;
  }
  if (output->failed) png_error(png, "no memory for the file");
}
void flush_nothing(png_structp) {}

bool write_image(Job *job, Output *output, png_uint_32 width, png_uint_32 height, int colours,
                 png_bytepp rows) {
  if (setjmp(png_jmpbuf(job->png))) return false;
  png_set_write_fn(job->png, output, write_bytes, flush_nothing);
  png_set_IHDR(job->png, job->info, width, height, 8, colours, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(job->png, job->info);
  png_write_image(job->png, rows);
  png_write_end(job->png, job->info);
  return true;
}

struct Writer {
  Writer() {
    job.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &job, note_error, ignore_warning);
    if (job.png != nullptr) job.info = png_create_info_struct(job.png);
    if (job.info == nullptr) raise(ErrorKind::out_of_memory, "PNG: no memory for a writer");
  }
  ~Writer() { png_destroy_write_struct(&job.png, &job.info); }
  Job job;
};

} // namespace

bool is_png(std::string_view bytes) {
  return bytes.size() >= 8 && bytes.substr(0, 8) == "\x89PNG\r\n\x1a\n";
}

Pixels decode_png(std::string_view bytes, const std::string &name) {
  if (!is_png(bytes)) raise(ErrorKind::io, name + ": is not a PNG file");
  Reader reader;
  Job &job = reader.job;
  job.next = reinterpret_cast<const unsigned char *>(bytes.data());
  job.left = bytes.size();
  const auto check = [&](bool good) {
    if (!good) raise(ErrorKind::io, name + ": the PNG file is damaged: " + job.message);
  };
  check(read_header(&job));
  Pixels pixels;
  pixels.height = png_get_image_height(job.png, job.info);
  pixels.width = png_get_image_width(job.png, job.info);
  const auto pixel_bits =
      std::uint64_t{png_get_bit_depth(job.png, job.info)} * png_get_channels(job.png, job.info);
  check_size(pixels, name, bytes.size() * 8 * kMostPerByte / pixel_bits);
  check(begin_rows(&job));
  pixels.channels = png_get_channels(job.png, job.info);
  pixels.bits = png_get_bit_depth(job.png, job.info);
  make_room(pixels, name);
  const std::size_t row_bytes = pixels.samples.size() / pixels.height;
  if (png_get_rowbytes(job.png, job.info) != row_bytes)
    raise(ErrorKind::io, name + ": the PNG file has rows of another length than its header says");
  std::vector<png_bytep> rows;
  for (std::size_t i = 0; i < pixels.height; ++i)
    rows.push_back(pixels.samples.data() + i * row_bytes);
  check(read_rows(&job, rows.data()));
  return pixels;
}

std::string encode_pixels(const Pixels &pixels) {
  Writer writer;
  Output output;
  const std::size_t row_bytes = pixels.width * static_cast<std::size_t>(pixels.channels);
  std::vector<png_bytep> rows;
  for (std::size_t i = 0; i < pixels.height; ++i)
    rows.push_back(const_cast<png_bytep>(pixels.samples.data()) + i * row_bytes);
  const int colours = pixels.channels == 1   ? PNG_COLOR_TYPE_GRAY
                      : pixels.channels == 3 ? PNG_COLOR_TYPE_RGB
                                             : PNG_COLOR_TYPE_RGBA;
  const bool good = write_image(&writer.job, &output, static_cast<png_uint_32>(pixels.width),
                                static_cast<png_uint_32>(pixels.height), colours, rows.data());
  if (!good)
    raise(output.failed ? ErrorKind::out_of_memory : ErrorKind::value,
          std::string("encode_png: ") + writer.job.message);
  return std::move(output.bytes);
}

} // namespace weft::data
