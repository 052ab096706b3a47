// What unit tests share: the exact words of errors.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include <weft/error.h>

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
