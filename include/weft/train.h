// Training: what a run measures, and how it shows where it is.
#pragma once

#include <weft/train/history.h>
#include <weft/train/progress.h>
