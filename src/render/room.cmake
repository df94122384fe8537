if(CMAKE_SYSTEM_PROCESSOR MATCHES wasm) # the page draws by itself: only what needs no foreign library
  set(ROOM_SOURCES ${PROJECT_SOURCE_DIR}/src/render/absent.c ${PROJECT_SOURCE_DIR}/src/render/colormap.c)
else()
  list(REMOVE_ITEM ROOM_SOURCES ${PROJECT_SOURCE_DIR}/src/render/absent.c)
endif()
