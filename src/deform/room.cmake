# The per-frame host work: small fixed loops over matrix entries, which -O2 leaves rolled up (and so in memory).
set_source_files_properties(
  ${PROJECT_SOURCE_DIR}/src/deform/centre.c ${PROJECT_SOURCE_DIR}/src/deform/frame.c
  ${PROJECT_SOURCE_DIR}/src/deform/palette.c ${PROJECT_SOURCE_DIR}/src/deform/cor.c
  PROPERTIES COMPILE_OPTIONS ${fast_level})
# Vertices in the caller's arrays: the kernel text, one at a time.
foreach(variant "plain" "fma -mfma")
  string(REPLACE " " ";" words ${variant})
  list(POP_FRONT words suffix)
  if(words AND (NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" OR CUTIS_SANITIZE STREQUAL memory))
    continue()
  endif()
  set(wrapper ${PROJECT_BINARY_DIR}/vertices_${suffix}.c)
  file(CONFIGURE OUTPUT ${wrapper} CONTENT
"// Made by src/deform/room.cmake: skinning of the caller's vertices, ${suffix}.
#define NAME(x) x##_${suffix}
#include \"deform/vertices_text.h\"
")
  set_source_files_properties(${wrapper} PROPERTIES COMPILE_OPTIONS "${words};${fast_level}")
  list(APPEND ROOM_SOURCES ${wrapper})
endforeach()
