# Of the twins in os/ (NAME_posix.c, NAME_windows.c) the one for the machine that is compiled for.
if(WIN32)
  list(FILTER ROOM_SOURCES EXCLUDE REGEX "_posix\\.c$")
else()
  list(FILTER ROOM_SOURCES EXCLUDE REGEX "_windows\\.c$")
endif()
