# The per-frame host work: small fixed loops over matrix entries, which -O2 leaves rolled up (and so in memory).
set_source_files_properties(
  ${PROJECT_SOURCE_DIR}/src/deform/centre.c ${PROJECT_SOURCE_DIR}/src/deform/frame.c
  ${PROJECT_SOURCE_DIR}/src/deform/palette.c ${PROJECT_SOURCE_DIR}/src/deform/split.c
  ${PROJECT_SOURCE_DIR}/src/deform/cor.c
  PROPERTIES COMPILE_OPTIONS ${fast_level})
