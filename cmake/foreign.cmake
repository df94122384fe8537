# jansson, meshoptimizer and qhull from their sources (tools/foreign_sources), where the machine we compile for has no packages.
# They go by the names that pkg-config's and CMake's packages have elsewhere. Invariant: no float is contracted or reordered, so
# that results are those of the packaged libraries.
set(CUTIS_FOREIGN "" CACHE PATH "sources of jansson, meshoptimizer and qhull; empty: where tools/foreign_sources puts them")
set(foreign ${CUTIS_FOREIGN})
if(NOT foreign AND DEFINED ENV{CUTIS_FOREIGN})
  set(foreign $ENV{CUTIS_FOREIGN})
elseif(NOT foreign AND DEFINED ENV{XDG_CACHE_HOME})
  set(foreign $ENV{XDG_CACHE_HOME}/cutis/foreign)
elseif(NOT foreign)
  set(foreign $ENV{HOME}/.cache/cutis/foreign)
endif()
foreach(library jansson meshoptimizer qhull)
  if(NOT EXISTS ${foreign}/${library})
    message(FATAL_ERROR "${foreign}/${library} is not there: run tools/foreign_sources")
  endif()
endforeach()
enable_language(CXX) # meshoptimizer, without the C++ library
set(kind STATIC)
if(CMAKE_SYSTEM_PROCESSOR MATCHES wasm OR CUTIS_BUNDLED) # linked once, or part of our own libraries: nothing for an archive to do
  set(kind OBJECT)
endif()

# foreign_library(NAME ALIAS SOURCES file... INCLUDES folder... [DEFINES definition...])
function(foreign_library name alias)
  cmake_parse_arguments(LIBRARY "" "" "SOURCES;INCLUDES;DEFINES" ${ARGN})
  add_library(foreign_${name} ${kind} ${LIBRARY_SOURCES})
  add_library(${alias} ALIAS foreign_${name})
  file(GLOB licence ${foreign}/${name}/LICENSE* ${foreign}/${name}/COPYING*)
  configure_file(${licence} ${PROJECT_BINARY_DIR}/foreign/licences/${name} COPYONLY) # for whoever ships it
  target_include_directories(foreign_${name} SYSTEM PUBLIC ${LIBRARY_INCLUDES})
  target_compile_definitions(foreign_${name} PRIVATE ${LIBRARY_DEFINES})
  target_compile_options(foreign_${name} PRIVATE -w $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions> $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
endfunction()

set(json_inline inline)
foreach(feature long_long localeconv atomic_builtins sync_builtins)
  set(json_have_${feature} 1)
endforeach()
configure_file(${foreign}/jansson/src/jansson_config.h.in ${PROJECT_BINARY_DIR}/foreign/jansson_config.h @ONLY)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/foreign/jansson_private_config.h
     CONTENT "#define HAVE_STDINT_H 1\n#define HAVE_ATOMIC_BUILTINS 1\n#define INITIAL_HASHTABLE_ORDER 3\n")
file(GLOB sources ${foreign}/jansson/src/*.c)
foreign_library(jansson PkgConfig::JANSSON SOURCES ${sources} INCLUDES ${foreign}/jansson/src ${PROJECT_BINARY_DIR}/foreign
                DEFINES HAVE_CONFIG_H=1)

# The encoders that cutis-io calls; decoders are its own.
foreign_library(meshoptimizer meshoptimizer::meshoptimizer INCLUDES ${foreign}/meshoptimizer/src
                SOURCES ${foreign}/meshoptimizer/src/indexcodec.cpp ${foreign}/meshoptimizer/src/vertexcodec.cpp)

file(GLOB sources ${foreign}/qhull/src/libqhull_r/*.c)
list(FILTER sources EXCLUDE REGEX rbox) # makes points for qhull's own tests
foreign_library(qhull PkgConfig::QHULL SOURCES ${sources} INCLUDES ${foreign}/qhull/src)
