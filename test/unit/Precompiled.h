// What most unit tests include, compiled once.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/weft.h>
