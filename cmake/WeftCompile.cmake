# weft_compile: programs of .mlir files in C and C++ targets, compiled ahead of time.

# weft_compile(TARGET SOURCE FILE.mlir.. [OPTIONS OPTION..])
#
# Compiles each file by weft-compile to an object and a C header of the same name, FILE.h, and adds both to TARGET,
# which links Weft::runtime then. A TARGET that does not exist is made: a static library, for others to link.
# OPTIONS go to weft-compile: code is made for this machine's processor unless they say, for example, --chip=x86-64-v3.
function(weft_compile target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCE;OPTIONS")
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_SOURCE)
    message(FATAL_ERROR "weft_compile(${target}): it is called as weft_compile(TARGET SOURCE FILE.mlir.. [OPTIONS OPTION..])")
  endif()
  if(NOT TARGET ${target})
    add_library(${target} STATIC)
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/weft-compiled/${target})
  foreach(source ${ARG_SOURCE})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    cmake_path(GET source STEM LAST_ONLY name)
    set(made ${folder}/${name}.o ${folder}/${name}.h)
    add_custom_command(
      OUTPUT ${made}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
      COMMAND Weft::tools compile ${source} -o ${folder}/${name}.o --emit-header=${folder}/${name}.h ${ARG_OPTIONS}
      DEPENDS ${source} Weft::tools
      COMMENT "Compiling ${name}.mlir ahead of time"
      VERBATIM)
    set_source_files_properties(${folder}/${name}.o PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    target_sources(${target} PRIVATE ${made})
  endforeach()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set(scope PRIVATE)
  else()
    set(scope PUBLIC)
  endif()
  target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${folder}>)
  target_link_libraries(${target} ${scope} Weft::runtime)
endfunction()
