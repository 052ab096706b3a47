# What cmake --install copies, what find_package(Weft) finds there and in the build folder, and pkg-config.
include(CMakePackageConfigHelpers)

file(RELATIVE_PATH libraries_from_programs /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR})
set(llvm)
if(NOT WEFT_STATIC_LLVM)
  set(llvm ${LLVM_LIBRARY_DIR})
endif()
set_target_properties(weft PROPERTIES INSTALL_RPATH "$ORIGIN")
set_target_properties(weft-compiler PROPERTIES INSTALL_RPATH "$ORIGIN;${llvm}")
set_target_properties(weft-launch PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries_from_programs}")
set_target_properties(weft-tools PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries_from_programs};${llvm}")

install(TARGETS weft EXPORT WeftTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT dev)
# Beside libweft, which opens them.
install(TARGETS weft-mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_SKIP)
install(TARGETS weft-compiler
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT compiler NAMELINK_SKIP)
install(TARGETS weft-runtime EXPORT WeftTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(TARGETS weft-tools EXPORT WeftTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
install(TARGETS weft-launch RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/weft ${WEFT_GENERATED}/include/weft
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev FILES_MATCHING PATTERN *.h PATTERN *.inc PATTERN *.def)

install(FILES ${WEFT_GENERATED}/docs/ops.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libweft-dev COMPONENT dev)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Weft)
set(built ${PROJECT_BINARY_DIR}/lib/cmake/Weft)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/WeftConfig.cmake.in ${built}/WeftConfig.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${built}/WeftConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_file(${PROJECT_SOURCE_DIR}/cmake/WeftCompile.cmake ${built}/WeftCompile.cmake COPYONLY)
export(EXPORT WeftTargets NAMESPACE Weft:: FILE ${built}/WeftTargets.cmake)
install(EXPORT WeftTargets NAMESPACE Weft:: DESTINATION ${package} COMPONENT dev)
install(FILES ${built}/WeftConfig.cmake ${built}/WeftConfigVersion.cmake ${built}/WeftCompile.cmake
        DESTINATION ${package} COMPONENT dev)

file(RELATIVE_PATH prefix_from_pc /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
foreach(pc weft weft-runtime)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${pc}.pc.in ${PROJECT_BINARY_DIR}/installed/${pc}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/installed/${pc}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endforeach()

# All of it.
get_property(links GLOBAL PROPERTY WEFT_TOOLS)
add_custom_target(weft-installed)
add_dependencies(weft-installed weft weft-mpi weft-compiler weft-runtime weft-tools weft-launch ${links})

if(PROJECT_IS_TOP_LEVEL)
  include(Packages)
endif()
