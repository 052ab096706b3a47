// The tools, each as the main function that it would be as a program of its own.
#pragma once

namespace mlir::weft {

int cacheMain(int argc, char **argv);
int compileMain(int argc, char **argv);
int languageServerMain(int argc, char **argv);
int optMain(int argc, char **argv);
int reduceMain(int argc, char **argv);
int runMain(int argc, char **argv);

} // namespace mlir::weft
