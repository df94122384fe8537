# Smooth weights with linear precision, weights on a form, weights of baking: small solves that -O2 leaves rolled up.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/fit/reduce/precision.c ${PROJECT_SOURCE_DIR}/src/fit/reduce/moments_solve.c
  ${PROJECT_SOURCE_DIR}/src/fit/bake/weights.c
  PROPERTIES COMPILE_OPTIONS ${fast_level})
# Baking's products and solves: once for each width of vectors (bake/wide.h), all with the same bits.
set(bake_widths "plain")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT CUTIS_SANITIZE STREQUAL memory)
  list(APPEND bake_widths "avx2 -mavx2" "avx512 -mavx512f -mavx512vl")
endif()
foreach(width ${bake_widths})
  string(REPLACE " " ";" words ${width})
  list(POP_FRONT words suffix)
  if(words)
    list(APPEND words ${wide_sanitize})
  endif()
  set(wrapper ${PROJECT_BINARY_DIR}/bake_${suffix}.c)
  file(CONFIGURE OUTPUT ${wrapper} CONTENT
"// Made by src/fit/room.cmake: baking's loops for ${suffix}.
#define NAME(x) x##_${suffix}
#include \"fit/bake/wide_text.h\"
")
  set_source_files_properties(${wrapper} PROPERTIES COMPILE_OPTIONS "${words};${fast_level};-fno-math-errno")
  list(APPEND ROOM_SOURCES ${wrapper})
endforeach()
