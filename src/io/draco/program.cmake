# The program cutis-draco: only where Debian's libdraco-dev and a C++ compiler are there. It is found at run time, below libexec; without
# it a compressed file is refused with one line that names the package.
include(CheckLanguage)
check_language(CXX)
find_path(DRACO_INCLUDE draco/compression/decode.h)
# The archive first: a process that lives for milliseconds must not spend two of them on relocations.
find_library(DRACO_LIBRARY NAMES libdraco.a draco)
mark_as_advanced(DRACO_INCLUDE DRACO_LIBRARY)
if(CUTIS_FUZZ OR NOT (CMAKE_CXX_COMPILER AND DRACO_INCLUDE AND DRACO_LIBRARY))
  message(STATUS "cutis-draco is not built: no libdraco-dev, or no g++; KHR_draco_mesh_compression is not read")
  return()
endif()
enable_language(CXX)
add_executable(cutis-draco ${PROJECT_SOURCE_DIR}/src/io/draco/cutis_draco.cpp)
set_target_properties(cutis-draco PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/libexec/cutis CXX_STANDARD 17)
target_include_directories(cutis-draco SYSTEM PRIVATE ${DRACO_INCLUDE})
# A sanitizer's shadow would not fit into the limits it runs under; -O2 whatever the rest is built with.
target_compile_options(cutis-draco PRIVATE -O2 -fno-sanitize=all)
target_link_options(cutis-draco PRIVATE -fno-sanitize=all -static-libstdc++ -static-libgcc)
target_link_libraries(cutis-draco PRIVATE ${DRACO_LIBRARY})
# One that a group may change is not run; under umask 002 the linker leaves it so.
add_custom_command(TARGET cutis-draco POST_BUILD COMMAND chmod go-w $<TARGET_FILE:cutis-draco>)
if(CUTIS_INSTALL)
  install(TARGETS cutis-draco RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/cutis)
endif()
