// weft-fuzz-files, the command behind `./x fuzz files`: changed files of every format, read.
#include "Command.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <CLI/CLI.hpp>

int main(int argc, char **argv) {
  setenv("WEFT_CACHE", "off", 1);
  weft::fuzz::FileOptions options;
  options.jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  CLI::App app("Changes valid files of every format that Weft reads, and reads them: each gives "
               "values, or an "
               "error that names the file.",
               "weft-fuzz-files");
  app.add_option("--count", options.count, "How many files")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{100000000}))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Seed of the first file; those after it count on")
      ->type_name("S")
      ->capture_default_str();
  app.add_option("--jobs", options.jobs, "Processes at a time")
      ->type_name("N")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  CLI::Option *only =
      app.add_option("--only", options.only, "Only files of this format")->type_name("FORMAT");
  app.add_option("--file", options.file, "Read this file, of the format --only, as it is")
      ->type_name("PATH")
      ->needs(only)
      ->check(CLI::ExistingFile);
  app.add_option("--out", options.out,
                 "Folder for files that fail, and the command that shows each")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_option("--time-limit", options.limits.seconds, "Seconds that one file may take")
      ->type_name("S")
      ->check(CLI::Range(1.0, 3600.0))
      ->capture_default_str();
  app.footer(
      "./x fuzz files --plain takes libweft's readers as they are, not those compiled for the "
      "sanitizers.");
  CLI11_PARSE(app, argc, argv);
  try {
    return weft::fuzz::run_files(options);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
