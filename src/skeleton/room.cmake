# Sums over all faces and vertices of a part: fixed loops over three coordinates, which -O2 leaves rolled up.
set_source_files_properties(
  ${PROJECT_SOURCE_DIR}/src/skeleton/axes.c ${PROJECT_SOURCE_DIR}/src/skeleton/half_spaces.c
  ${PROJECT_SOURCE_DIR}/src/skeleton/parts.c ${PROJECT_SOURCE_DIR}/src/skeleton/weld.c
  ${PROJECT_SOURCE_DIR}/src/skeleton/heal.c
  PROPERTIES COMPILE_OPTIONS ${fast_level})
