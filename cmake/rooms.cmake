# cutis_room(NAME [USES room...] [PACKAGES target...])
#   An object library of src/NAME (and one folder below). It sees include/, its own folder and the folders of the rooms
#   it USES as <room/file.h>. src/NAME/room.cmake, where there is one, may append to ROOM_SOURCES and set flags.
# cutis_library(NAME DESCRIPTION text ROOMS room... HEADERS header... [USES library...] [LINKS target...]
#               [MODULES PREFIX module...] [PACKAGES package...])
#   The shared library NAME and the static NAME_static from the same objects, for cutis_install as well. The shared one exports
#   what HEADERS declare (exports.cmake). MODULES are pkg-config's (target PkgConfig::PREFIX); a package of PACKAGES has a target
#   package::package and is -lpackage to a linker. BUILD_SHARED_LIBS=OFF: the static one alone, under both names; ON: the static
#   one is built only for what here needs it, and not installed; not set: both.
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
  cmake_parse_arguments(LIBRARY "" "DESCRIPTION" "ROOMS;HEADERS;USES;LINKS;MODULES;PACKAGES" ${ARGN})
  set(objects)
  set(private)
  set(foreign)
  foreach(room ${LIBRARY_ROOMS})
    list(APPEND objects $<TARGET_OBJECTS:room_${room}>)
    file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.h ${PROJECT_SOURCE_DIR}/src/${room}/*/*.h)
    list(APPEND private ${found})
  endforeach()
  set(links m ${LIBRARY_LINKS})
  set(module_names ${LIBRARY_MODULES})
  if(LIBRARY_MODULES)
    list(POP_FRONT module_names prefix)
    list(APPEND foreign PkgConfig::${prefix})
  endif()
  foreach(package ${LIBRARY_PACKAGES})
    list(APPEND foreign ${package}::${package})
  endforeach()
  if(CUTIS_BUNDLED) # from their sources (cmake/foreign.cmake), so that they are part of ours: nothing for its user to find
    foreach(library ${foreign})
      list(APPEND objects $<TARGET_OBJECTS:${library}>)
    endforeach()
    set(module_names)
    set(LIBRARY_PACKAGES)
  else()
    list(APPEND links ${foreign})
  endif()
  set(kinds _static)
  add_library(${name}_static STATIC ${objects})
  set_target_properties(${name}_static PROPERTIES OUTPUT_NAME ${name})
  if(CUTIS_SHARED)
    list(APPEND kinds "")
    list(TRANSFORM LIBRARY_HEADERS REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/include/cutis/\\1.h")
    set(map ${PROJECT_BINARY_DIR}/${name}.map)
    if(WIN32)
      set(map ${PROJECT_BINARY_DIR}/${name}.def)
    endif()
    add_custom_command(OUTPUT ${map} DEPENDS ${LIBRARY_HEADERS} ${private} ${PROJECT_SOURCE_DIR}/cmake/exports.cmake VERBATIM
      COMMAND ${CMAKE_COMMAND} "-DHEADERS=${LIBRARY_HEADERS}" "-DPRIVATE=${private}" -DVERSION=${PROJECT_VERSION}
              -DNODE=${CUTIS_SOVERSION} -DOUT=${map} -P ${PROJECT_SOURCE_DIR}/cmake/exports.cmake)
    add_library(${name} SHARED ${objects} ${map})
    set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${CUTIS_SOVERSION} LINK_DEPENDS ${map})
    if(WIN32) # cutis-0.1.dll: what the soname says elsewhere. Programs link libcutis.dll.a.
      set_target_properties(${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name}-${CUTIS_SOVERSION} IMPORT_PREFIX "lib"
                            RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} ARCHIVE_OUTPUT_NAME ${name})
    elseif(NOT APPLE) # GNU's, gold, lld; Apple's linker exports what is declared CUTIS_API, by visibility alone
      target_link_options(${name} PRIVATE -Wl,--version-script=${map})
      if(NOT CUTIS_SANITIZE) # what a library does not find must show here, not at its user's
        target_link_options(${name} PRIVATE -Wl,-z,defs)
      endif()
    endif()
  else()
    add_library(${name} ALIAS ${name}_static)
    add_library(cutis::${name} ALIAS ${name}_static)
  endif()
  if(NOT CUTIS_STATIC)
    set_target_properties(${name}_static PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  foreach(kind IN LISTS kinds)
    target_link_libraries(${name}${kind} PRIVATE ${links})
    foreach(library ${LIBRARY_USES})
      target_link_libraries(${name}${kind} PUBLIC ${library}${kind})
    endforeach()
    target_include_directories(${name}${kind} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    add_library(cutis::${name}${kind} ALIAS ${name}${kind})
  endforeach()
  if(CUTIS_INSTALL)
    cutis_install_library(${name})
  endif()
endfunction()

# What cutis_library installs, by its variables: the libraries with their CMake targets, and a pkg-config file, which finds its
# prefix by itself. Where the static library is the only one, what it needs is not private.
function(cutis_install_library name)
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/cutis)
  if(CUTIS_SHARED)
    install(TARGETS ${name} EXPORT ${name}_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    if(WIN32) # from which other compilers make an import library
      install(FILES ${map} DESTINATION ${CMAKE_INSTALL_LIBDIR})
    endif()
    install(EXPORT ${name}_shared NAMESPACE cutis:: DESTINATION ${package})
  endif()
  if(CUTIS_STATIC)
    install(TARGETS ${name}_static EXPORT ${name}_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(EXPORT ${name}_static NAMESPACE cutis:: DESTINATION ${package})
  endif()
  set_property(GLOBAL APPEND_STRING PROPERTY cutis_found
               "cutis_find(${name} \"${prefix}\" \"${module_names}\" \"${LIBRARY_PACKAGES}\")\n")
  file(RELATIVE_PATH up ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  string(REGEX REPLACE "/$" "" up "${up}")
  file(RELATIVE_PATH libdir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
  file(RELATIVE_PATH includedir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
  set(libs_private ${LIBRARY_PACKAGES} m ${CMAKE_DL_LIBS})
  list(TRANSFORM libs_private PREPEND " -l")
  list(JOIN libs_private "" libs_private)
  list(JOIN LIBRARY_USES " " requires)
  list(JOIN module_names " " requires_private)
  if(NOT WIN32)
    string(APPEND libs_private " -pthread")
  endif()
  if(NOT CUTIS_SHARED)
    set(libs "${libs_private}")
    string(APPEND requires " ${requires_private}")
    unset(libs_private)
    unset(requires_private)
  endif()
  configure_file(cmake/library.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# After the last library: headers and CMake package.
function(cutis_install)
  get_property(found GLOBAL PROPERTY cutis_found)
  set(absent) # headers of libraries that are not there
  if(NOT CUTIS_RENDER)
    set(absent PATTERN render.h EXCLUDE)
  endif()
  install(DIRECTORY include/cutis DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${absent})
  configure_package_config_file(cmake/cutisConfig.cmake.in ${PROJECT_BINARY_DIR}/cutisConfig.cmake
                                INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cutis)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/cutisConfigVersion.cmake
                                   COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/cutisConfig.cmake ${PROJECT_BINARY_DIR}/cutisConfigVersion.cmake
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cutis)
endfunction()
