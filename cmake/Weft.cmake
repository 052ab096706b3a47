# Helpers, one per kind of thing that Weft is built of.

# weft_add_component(NAME SOURCE.. [DEPENDS TARGET..]): a directory of lib/, as the object library
# weft_NAME that becomes part of libweft. It sees no LLVM. All of them share one precompiled header.
function(weft_add_component name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "DEPENDS")
  add_library(weft_${name} OBJECT ${ARG_UNPARSED_ARGUMENTS})
  weft_is_of_libweft(weft_${name} ${ARG_DEPENDS})
  target_precompile_headers(weft_${name} REUSE_FROM weft-library-headers)
  set_property(GLOBAL APPEND PROPERTY WEFT_COMPONENTS weft_${name})
endfunction()

# weft_is_of_libweft(TARGET DEPENDED..): include paths and definitions for code of libweft, and what is built before it.
function(weft_is_of_libweft target)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include
                             ${WEFT_GENERATED}/include
                             PRIVATE ${PROJECT_SOURCE_DIR}/lib ${WEFT_GENERATED}/lib)
  # Its own op calls have no location in the user's source (include/weft/source.h).
  target_compile_definitions(${target} PRIVATE WEFT_LIBRARY)
  add_dependencies(${target} weft-generated ${ARGN})
endfunction()

# weft_generate(FLAG OUTPUT): runs weft-tblgen with FLAG over the op records; OUTPUT is relative to
# the folder of generated files. What comes out as before keeps its time, so that nothing is built for it.
function(weft_generate flag output)
  set(file ${WEFT_GENERATED}/${output})
  get_filename_component(folder ${file} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  file(GLOB records ${PROJECT_SOURCE_DIR}/dialects/Weft/IR/*.td)
  add_custom_command(
    OUTPUT ${file}
    COMMAND weft-tblgen ${flag} -I ${PROJECT_SOURCE_DIR}/dialects -I ${MLIR_INCLUDE_DIRS}
            ${PROJECT_SOURCE_DIR}/dialects/Weft/IR/Ops.td -o ${file} --write-if-changed
    DEPENDS weft-tblgen ${records}
    COMMENT "Generating ${output}")
  set_property(GLOBAL APPEND PROPERTY WEFT_GENERATED_FILES ${file})
endfunction()

# weft_add_dialect_library(NAME SOURCE.. [DEPENDS TARGET..]): code that uses MLIR, as the object
# library WeftNAME that becomes part of libweft-compiler. All of them share one precompiled header.
function(weft_add_dialect_library name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "DEPENDS")
  add_library(Weft${name} OBJECT ${ARG_UNPARSED_ARGUMENTS})
  weft_uses_mlir(Weft${name})
  add_dependencies(Weft${name} weft-generated weft-dialect-generated ${ARG_DEPENDS})
  if(NOT TARGET WeftPCH)
    message(FATAL_ERROR "dialects/CMakeLists.txt defines WeftPCH first")
  endif()
  target_precompile_headers(Weft${name} REUSE_FROM WeftPCH)
  set_property(GLOBAL APPEND PROPERTY WEFT_COMPILER_COMPONENTS Weft${name})
endfunction()

# A program that uses the precompiled header of the MLIR code, which is compiled as libraries are.
function(weft_reuses_headers target)
  target_compile_options(${target} PRIVATE -fPIC)
  target_precompile_headers(${target} REUSE_FROM WeftPCH)
endfunction()

# Include paths and definitions for code that uses MLIR.
function(weft_uses_mlir target)
  target_include_directories(${target} SYSTEM PRIVATE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/dialects
                             ${WEFT_GENERATED}/dialects ${PROJECT_SOURCE_DIR}/lib
                             ${PROJECT_SOURCE_DIR}/include ${WEFT_GENERATED}/include
                             ${WEFT_GENERATED}/lib)
  target_compile_definitions(${target} PRIVATE ${WEFT_LLVM_DEFINITIONS})
endfunction()

# The same for code that stands above the dialect: that of compiler, its tests and the tools.
function(weft_uses_compiler target)
  weft_uses_mlir(${target})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/compiler)
endfunction()

# weft_add_level(KIND SOURCE LEVEL OPTION..): inner loops of libweft, compiled for an x86-64 level, with WEFT_LEVEL set to it, and
# by further options of the compiler. Optimised in every preset: without it the tests of these loops take minutes. prefetchw is no
# part of the levels, but every x86-64 CPU executes it or takes it for a no-op.
function(weft_add_level kind source level)
  string(TOLOWER weft-${kind}-v${level} component)
  add_library(${component} OBJECT ${source})
  target_include_directories(${component} PRIVATE ${PROJECT_SOURCE_DIR}/lib ${PROJECT_SOURCE_DIR}/include)
  target_compile_definitions(${component} PRIVATE WEFT_LEVEL=${level})
  target_compile_features(${component} PRIVATE cxx_std_20)
  target_compile_options(${component} PRIVATE -march=x86-64-v${level} -mprfchw -O3 -ffp-contract=off ${ARGN})
  set_target_properties(${component} PROPERTIES POSITION_INDEPENDENT_CODE ON
                        CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  set_property(GLOBAL APPEND PROPERTY WEFT_COMPONENTS ${component})
endfunction()

# weft_add_levels(KIND SOURCE): the same, once per x86-64 level.
function(weft_add_levels kind source)
  foreach(level 2 3 4)
    weft_add_level(${kind} ${source} ${level})
  endforeach()
endfunction()

# weft_link_mlir(TARGET COMPONENT..): MLIR and these components of LLVM in a library or program: by their
# archives with WEFT_STATIC_LLVM, else by the shared libraries.
function(weft_link_mlir target)
  if(NOT WEFT_STATIC_LLVM)
    target_link_libraries(${target} PRIVATE MLIR LLVM)
    return()
  endif()
  file(GLOB mlir ${LLVM_LIBRARY_DIR}/libMLIR*.a)
  list(FILTER mlir EXCLUDE REGEX "/libMLIR(CAPI|Test)|Test(Passes)?\\.a$")
  llvm_map_components_to_libnames(llvm ${ARGN})
  # LLVM's own targets name libraries of development packages that nothing of it needs here.
  find_library(WEFT_ZLIB NAMES z libz.so.1 REQUIRED)
  find_library(WEFT_ZSTD NAMES zstd libzstd.so.1 REQUIRED)
  mark_as_advanced(WEFT_ZLIB WEFT_ZSTD)
  set_property(TARGET LLVMSupport PROPERTY INTERFACE_LINK_LIBRARIES LLVMDemangle ${WEFT_ZLIB} ${WEFT_ZSTD}
               rt m ${CMAKE_DL_LIBS})
  string(REPLACE ";" "," group "${mlir}")
  target_link_libraries(${target} PRIVATE $<LINK_GROUP:RESCAN,${group}> ${llvm})
  target_link_options(${target} PRIVATE LINKER:--gc-sections,--as-needed)
endfunction()

# weft_rewrite(TARGET): writes the linked file once more, in large pieces. Linux keeps it in its page cache in the pieces it
# was written in, and a start takes a fifth less time where they are large: fewer pages are mapped one by one.
function(weft_rewrite target)
  add_custom_command(
    TARGET ${target} POST_BUILD
    COMMAND cp $<TARGET_FILE:${target}> $<TARGET_FILE:${target}>.copy
    COMMAND mv $<TARGET_FILE:${target}>.copy $<TARGET_FILE:${target}>
    VERBATIM)
endfunction()

# weft_add_tool(NAME SOURCE..): a tool, which is a part of the program bin/weft and a link to it.
function(weft_add_tool name)
  target_sources(weft-tools PRIVATE ${ARGN})
  set(link ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name})
  add_custom_command(
    OUTPUT ${link}
    COMMAND ${CMAKE_COMMAND} -E create_symlink weft ${link}
    DEPENDS weft-tools
    VERBATIM)
  add_custom_target(${name} ALL DEPENDS ${link})
  set_property(GLOBAL APPEND PROPERTY WEFT_TOOLS ${name})
  if(WEFT_INSTALL)
    install(FILES ${link} DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  endif()
endfunction()

# weft_add_passes(FOLDER): declares the passes of dialects/Weft/FOLDER/Passes.td, for inclusion as
# "Weft/FOLDER/Passes.h.inc".
function(weft_add_passes folder)
  set(file ${WEFT_GENERATED}/dialects/Weft/${folder}/Passes.h.inc)
  file(MAKE_DIRECTORY ${WEFT_GENERATED}/dialects/Weft/${folder})
  add_custom_command(
    OUTPUT ${file}
    COMMAND ${LLVM_TOOLS_BINARY_DIR}/mlir-tblgen -gen-pass-decls -name=Weft${folder}
            -I ${PROJECT_SOURCE_DIR}/dialects -I ${MLIR_INCLUDE_DIRS}
            ${CMAKE_CURRENT_SOURCE_DIR}/Passes.td -o ${file} --write-if-changed
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/Passes.td
    COMMENT "Generating the declarations of the passes in ${folder}")
  add_custom_target(weft-passes-${folder} DEPENDS ${file})
  add_dependencies(weft-dialect-generated weft-passes-${folder})
endfunction()
