# mingw-w64 rounds fma twice; other C libraries are right.
if(NOT WIN32)
  list(FILTER ROOM_SOURCES EXCLUDE REGEX "fma_windows\\.c$")
endif()
