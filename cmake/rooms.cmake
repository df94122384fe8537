# cutis_room(NAME [USES room...] [PACKAGES target...])
#   An object library of src/NAME (and one folder below). It sees include/, its own folder and the folders of the rooms
#   it USES as <room/file.h>. src/NAME/room.cmake, where there is one, may append to ROOM_SOURCES and set flags.
# cutis_library(NAME ROOMS room... LINKS target...)
#   The shared library NAME and the static NAME_static from the same objects.
include(CMakePackageConfigHelpers)

function(cutis_room name)
  cmake_parse_arguments(ROOM "" "" "USES;PACKAGES" ${ARGN})
  file(GLOB ROOM_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.c
       ${PROJECT_SOURCE_DIR}/src/${name}/*/*.c)
  if(EXISTS ${PROJECT_SOURCE_DIR}/src/${name}/room.cmake)
    include(${PROJECT_SOURCE_DIR}/src/${name}/room.cmake)
  endif()
  if(NOT ROOM_SOURCES) # a room that has no code yet
    file(WRITE ${PROJECT_BINARY_DIR}/empty_${name}.c "typedef int cutis_empty_room;\n")
    set(ROOM_SOURCES ${PROJECT_BINARY_DIR}/empty_${name}.c)
  endif()
  # Only the rooms named are on the include path: src/ROOM/x.h is reached as "ROOM/x.h" through a folder of links.
  set(view ${PROJECT_BINARY_DIR}/rooms/${name})
  file(MAKE_DIRECTORY ${view})
  foreach(room ${name} ${ROOM_USES})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${room} ${view}/${room} SYMBOLIC)
  endforeach()
  add_library(room_${name} OBJECT ${ROOM_SOURCES})
  target_include_directories(room_${name} PRIVATE ${PROJECT_SOURCE_DIR}/include ${view})
  target_link_libraries(room_${name} PRIVATE ${ROOM_PACKAGES})
endfunction()

function(cutis_library name)
  cmake_parse_arguments(LIBRARY "" "" "ROOMS;LINKS" ${ARGN})
  set(objects)
  foreach(room ${LIBRARY_ROOMS})
    list(APPEND objects $<TARGET_OBJECTS:room_${room}>)
  endforeach()
  add_library(${name} SHARED ${objects})
  set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  add_library(${name}_static STATIC ${objects})
  set_target_properties(${name}_static PROPERTIES OUTPUT_NAME ${name})
  set(links_static ${LIBRARY_LINKS})
  list(TRANSFORM links_static REPLACE "^(cutis.*)$" "\\1_static")
  target_link_libraries(${name} PRIVATE ${LIBRARY_LINKS})
  if(NOT CUTIS_SANITIZE) # what a library does not find must show here, not at its user's
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
  target_link_libraries(${name}_static PUBLIC ${links_static})
  foreach(target ${name} ${name}_static)
    target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    add_library(cutis::${target} ALIAS ${target})
  endforeach()
endfunction()

# cutis_install(library...): libraries, headers, CMake package and pkg-config files.
function(cutis_install)
  list(TRANSFORM ARGN APPEND _static OUTPUT_VARIABLE archives)
  install(TARGETS ${ARGN} EXPORT cutis_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(TARGETS ${archives} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY include/cutis DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT cutis_targets NAMESPACE cutis:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cutis)
  configure_package_config_file(cmake/cutisConfig.cmake.in ${PROJECT_BINARY_DIR}/cutisConfig.cmake
                                INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cutis)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/cutisConfigVersion.cmake
                                   COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/cutisConfig.cmake ${PROJECT_BINARY_DIR}/cutisConfigVersion.cmake
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cutis)
  foreach(name ${ARGN})
    configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endforeach()
endfunction()
