// What unit tests share: the exact words of errors, and whether there is time for all of a long
// test.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include <weft/error.h>

/// Whether tests that take a sample of their cases take all of them, as `./x check long` does.
inline bool long_tests() { return std::getenv("WEFT_LONG_TESTS") != nullptr; }

/// What an exception says: a Weft error without the location, which tests of locations look at.
inline std::string words_of(const weft::Error &error) { return std::string(error.message()); }
inline std::string words_of(const std::exception &error) { return error.what(); }

/// The statement throws exactly `Type` with exactly these words.
#define EXPECT_THROWS(statement, Type, words)                                                      \
  do {                                                                                             \
    try {                                                                                          \
      statement;                                                                                   \
      ADD_FAILURE() << #statement " threw nothing";                                                \
    } catch (const Type &error) {                                                                  \
      EXPECT_EQ(words_of(error), words);                                                           \
    } catch (const std::exception &error) {                                                        \
      ADD_FAILURE() << #statement " threw another type: " << error.what();                         \
    }                                                                                              \
  } while (false)
