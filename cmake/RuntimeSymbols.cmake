# Writes OUTPUT, a C file with a table of the functions that code in archives calls: those of the library that OBJECTS
# (separated by |) define, and of the C library (run at build time; TOOLS has LLVM's).
string(REPLACE "|" ";" objects "${OBJECTS}")
execute_process(COMMAND ${TOOLS}/llvm-nm --defined-only --extern-only --format=just-symbols ${objects}
                OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "weft_rt_[A-Za-z0-9_]+" names "${names}")
# What LLVM calls by itself.
list(APPEND names bcmp memcpy memmove memset ceil ceilf floor floorf fma fmaf fmod fmodf nearbyint nearbyintf rint rintf roundeven
     roundevenf trunc truncf)
list(REMOVE_DUPLICATES names)
list(SORT names)
set(text "/* The functions that code in archives calls, by name. */\n")
foreach(name IN LISTS names)
  string(APPEND text "extern void ${name}(void);\n")
endforeach()
string(APPEND text "const struct { const char *name; void (*address)(void); } weft_runtime_symbols[] = {\n")
foreach(name IN LISTS names)
  string(APPEND text "    {\"${name}\", ${name}},\n")
endforeach()
string(APPEND text "    {0, 0}};\n")
file(WRITE ${OUTPUT} "${text}")
