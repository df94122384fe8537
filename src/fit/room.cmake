# Reduction: small loops over rows and sets that -O2 leaves rolled up and unvectorised.
set_source_files_properties(
  ${PROJECT_SOURCE_DIR}/src/fit/reduce_vertex.c ${PROJECT_SOURCE_DIR}/src/fit/reduce_sweep.c
  ${PROJECT_SOURCE_DIR}/src/fit/reduce_solve.c ${PROJECT_SOURCE_DIR}/src/fit/reduce_start.c
  ${PROJECT_SOURCE_DIR}/src/fit/reduce_lanes.c ${PROJECT_SOURCE_DIR}/src/fit/reduce_prior.c
  ${PROJECT_SOURCE_DIR}/src/fit/reduce_exchange.c ${PROJECT_SOURCE_DIR}/src/fit/reduce_normals.c
  ${PROJECT_SOURCE_DIR}/src/fit/reduce_turns.c ${PROJECT_SOURCE_DIR}/src/fit/reduce_sets.c
  PROPERTIES COMPILE_OPTIONS ${fast_level})
