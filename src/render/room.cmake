if(CMAKE_SYSTEM_PROCESSOR MATCHES wasm OR NOT CUTIS_RENDER) # only what needs no foreign library; the page draws by itself
  set(ROOM_SOURCES ${PROJECT_SOURCE_DIR}/src/render/absent.c ${PROJECT_SOURCE_DIR}/src/render/colormap.c)
else()
  list(REMOVE_ITEM ROOM_SOURCES ${PROJECT_SOURCE_DIR}/src/render/absent.c)
endif()
