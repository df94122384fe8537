# The command on Windows: POSIX's calls by Windows' own (posix.c, which the tests use too), words in UTF-8 (start.c), Linux's 8 MiB
# of stack.
add_library(windows_posix STATIC windows/posix.c)
target_compile_options(windows_posix PUBLIC "SHELL:-include ${CMAKE_CURRENT_SOURCE_DIR}/windows/posix.h")
target_include_directories(windows_posix PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/windows/include)
target_link_libraries(windows_posix PUBLIC -Wl,-Bstatic winpthread)
target_link_options(windows_posix PUBLIC -Wl,--stack,8388608)
set(windows_posix windows_posix)
set(windows_start windows/start.c)
