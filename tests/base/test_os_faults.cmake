# Every call of the OS layer can be made to fail: these stand before libc's.
set(wrapped "")
foreach(call open read write pwrite fsync close rename fstat stat lstat faccessat realpath opendir readdir unlink)
  list(APPEND wrapped -Wl,--wrap=${call})
endforeach()
target_link_options(test_os_faults_base PRIVATE ${wrapped})
