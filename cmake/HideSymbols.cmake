# Gives every symbol that the objects of ARCHIVE define hidden visibility (run at build time; TOOLS has LLVM's).
execute_process(COMMAND ${TOOLS}/llvm-nm --defined-only --extern-only --format=just-symbols ${ARCHIVE}
                OUTPUT_FILE ${ARCHIVE}.symbols COMMAND_ERROR_IS_FATAL ANY)
file(STRINGS ${ARCHIVE}.symbols lines REGEX "^[^: ]+$")
list(REMOVE_DUPLICATES lines)
# What is of the standard library is the same everywhere, and has to stay so for exceptions.
list(FILTER lines EXCLUDE REGEX "^_ZN?K?S|^_ZT[VISC]N?S|^_ZG[VR]N?S")
list(JOIN lines "\n" text)
file(WRITE ${ARCHIVE}.symbols "${text}\n")
execute_process(COMMAND ${TOOLS}/llvm-objcopy --set-symbols-visibility=${ARCHIVE}.symbols=hidden ${ARCHIVE}
                COMMAND_ERROR_IS_FATAL ANY)
