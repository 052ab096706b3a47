// Training: what a run measures, how it shows where it is, the loop itself, and reports of it.
#pragma once

#include <weft/train/fit.h>
#include <weft/train/history.h>
#include <weft/train/progress.h>
#include <weft/train/report.h>
#include <weft/train/run.h>
