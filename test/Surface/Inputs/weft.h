// What mistakes.test precompiles.
#include <weft/weft.h>
