// What mistakes.test and examples.test precompile.
#include <weft/weft.h>
