// What unit tests share: the exact words of errors.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include <weft/error.h>

/// The statement throws exactly `Type` with exactly these words.
#define EXPECT_THROWS(statement, Type, words)                                                      \
  do {                                                                                             \
    try {                                                                                          \
      statement;                                                                                   \
      ADD_FAILURE() << #statement " threw nothing";                                                \
    } catch (const Type &error) {                                                                  \
      EXPECT_EQ(std::string(error.what()), words);                                                 \
    } catch (const std::exception &error) {                                                        \
      ADD_FAILURE() << #statement " threw another type: " << error.what();                         \
    }                                                                                              \
  } while (false)
