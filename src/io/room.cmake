# Decoders of meshopt: fixed loops over the 16 values of a group, which -O2 leaves rolled up.
set_source_files_properties(
  ${PROJECT_SOURCE_DIR}/src/io/gltf/meshopt.c ${PROJECT_SOURCE_DIR}/src/io/gltf/meshopt_index.c
  PROPERTIES COMPILE_OPTIONS ${fast_level})
