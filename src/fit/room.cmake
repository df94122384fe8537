# Smooth weights with linear precision: small solves that -O2 leaves rolled up.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/fit/reduce_precision.c PROPERTIES COMPILE_OPTIONS ${fast_level})
# Handles: loops over the lanes of a voxel.
set_source_files_properties(
  ${PROJECT_SOURCE_DIR}/src/fit/handles_multigrid.c ${PROJECT_SOURCE_DIR}/src/fit/handles_field.c
  PROPERTIES COMPILE_OPTIONS ${fast_level})
