# Smooth weights with linear precision, weights on a form: small solves that -O2 leaves rolled up.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/fit/reduce/precision.c ${PROJECT_SOURCE_DIR}/src/fit/reduce/moments_solve.c
  PROPERTIES COMPILE_OPTIONS ${fast_level})
