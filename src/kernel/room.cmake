# Kernel texts are embedded as strings at build time, so that OpenCL and NVRTC find them on the user's machine.
file(GLOB kernel_texts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/kernel/*.h)
list(FILTER kernel_texts EXCLUDE REGEX "/(kernel_c|embedded)\\.h$")
if(CMAKE_SYSTEM_PROCESSOR MATCHES wasm) # where no driver can be opened
  set(kernel_texts)
endif()
string(REPLACE ";" "," kernel_text_list "${kernel_texts}")
set(embedded ${PROJECT_BINARY_DIR}/kernel_embedded.c)
add_custom_command(
  OUTPUT ${embedded}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${embedded} -DFILES=${kernel_text_list}
          -P ${PROJECT_SOURCE_DIR}/src/kernel/embed.cmake
  DEPENDS ${kernel_texts} ${PROJECT_SOURCE_DIR}/src/kernel/embed.cmake
  VERBATIM)
list(APPEND ROOM_SOURCES ${embedded})
