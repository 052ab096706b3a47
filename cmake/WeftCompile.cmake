# weft_compile: programs of .mlir files in C and C++ targets, compiled ahead of time.

# weft_compile(TARGET SOURCE FILE.mlir.. [OPTIONS OPTION..])
#
# Compiles each file by weft-compile to an object and a C header of the same name, FILE.h, and adds both to TARGET,
# which links Weft::runtime then. A TARGET that does not exist is created: a static library, for others to link.
# OPTIONS go to weft-compile: code is compiled for this machine's processor unless they say, for example, --chip=x86-64-v3.
# Files that --freeze=NAME=FILE.npy names are relative to the current source folder, as FILE.mlir is, and the code is compiled again when one changes.
function(weft_compile target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCE;OPTIONS")
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_SOURCE)
    message(FATAL_ERROR "weft_compile(${target}): it is called as weft_compile(TARGET SOURCE FILE.mlir.. [OPTIONS OPTION..])")
  endif()
  if(NOT TARGET ${target})
    add_library(${target} STATIC)
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
  endif()
  _weft_frozen_files(options frozen ${ARG_OPTIONS})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/weft-compiled/${target})
  foreach(source ${ARG_SOURCE})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    cmake_path(GET source STEM LAST_ONLY name)
    set(outputs ${folder}/${name}.o ${folder}/${name}.h)
    add_custom_command(
      OUTPUT ${outputs}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
      COMMAND Weft::tools compile ${source} -o ${folder}/${name}.o --emit-header=${folder}/${name}.h ${options}
      DEPENDS ${source} ${frozen} Weft::tools
      COMMENT "Compiling ${name}.mlir ahead of time"
      VERBATIM)
    set_source_files_properties(${folder}/${name}.o PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    target_sources(${target} PRIVATE ${outputs})
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

# _weft_frozen_files(OPTIONS FILES OPTION..): the options, with absolute paths in --freeze, and these paths.
function(_weft_frozen_files options_result files_result)
  set(options)
  set(files)
  foreach(option IN LISTS ARGN)
    # What a generator expression will be is not known yet.
    if(option MATCHES "^--?freeze=" AND NOT option MATCHES "\\$<")
      string(REGEX REPLACE "^--?freeze=" "" frozen "${option}")
      string(REPLACE "," ";" frozen "${frozen}")
      list(TRANSFORM frozen REPLACE "^([^=]+)=([^/].*)$" "\\1=${CMAKE_CURRENT_SOURCE_DIR}/\\2")
      foreach(value IN LISTS frozen)
        if(value MATCHES "^[^=]+=(.+)$")
          list(APPEND files "${CMAKE_MATCH_1}")
        endif()
      endforeach()
      list(JOIN frozen "," frozen)
      set(option "--freeze=${frozen}")
    endif()
    list(APPEND options "${option}")
  endforeach()
  set(${options_result} ${options} PARENT_SCOPE)
  set(${files_result} ${files} PARENT_SCOPE)
endfunction()
