# Gives every symbol of ours that the objects of ARCHIVE define hidden visibility (run at build time; TOOLS has LLVM's).
execute_process(COMMAND ${TOOLS}/llvm-nm --defined-only --extern-only --format=just-symbols ${ARCHIVE}
                OUTPUT_FILE ${ARCHIVE}.symbols COMMAND_ERROR_IS_FATAL ANY)
# The standard library's are the same everywhere, and exceptions need them to be.
file(STRINGS ${ARCHIVE}.symbols lines REGEX "4weft|^weft_")
list(REMOVE_DUPLICATES lines)
list(JOIN lines "\n" text)
file(WRITE ${ARCHIVE}.symbols "${text}\n")
execute_process(COMMAND ${TOOLS}/llvm-objcopy --set-symbols-visibility=${ARCHIVE}.symbols=hidden ${ARCHIVE}
                COMMAND_ERROR_IS_FATAL ANY)
