# Smooth weights with linear precision: small solves that -O2 leaves rolled up.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/fit/reduce/precision.c
  PROPERTIES COMPILE_OPTIONS ${fast_level})
