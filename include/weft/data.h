// Data sets, their sources, and loops over them.
#pragma once

#include <weft/data/dataset.h>  // IWYU pragma: export
#include <weft/data/files.h>    // IWYU pragma: export
#include <weft/data/for_each.h> // IWYU pragma: export
#include <weft/data/images.h>   // IWYU pragma: export
#include <weft/data/pixels.h>   // IWYU pragma: export
