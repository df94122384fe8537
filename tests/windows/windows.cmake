# Tests on Windows: programs of this folder, and which of the others cannot be there, with the reason. All run under wine.
set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_SOURCE_DIR}/windows/under_wine)
foreach(program files interrupt)
  add_executable(${program}_windows windows/${program}.c)
  set_target_properties(${program}_windows PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_include_directories(${program}_windows PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${program}_windows PRIVATE cutis_static)
endforeach()
target_link_options(interrupt_windows PRIVATE -municode)
foreach(reason
        "base/test_files=it forks and kills; files_windows makes the same claims here"
        "base/test_os_faults=it stands before POSIX's calls"
        "base/test_allocation_files=it counts jansson's blocks by standing before malloc"
        "io/test_draco=Draco's helper is not on Windows"
        "io/test_draco_made=Draco's helper is not on Windows"
        "io/test_gltf_hostile=it measures the memory of a child process"
        "io/test_cal3d=Cal3D's library is not on Windows"
        "device/test_opencl_bits=no OpenCL under wine"
        "deform/test_patches_teams=it changes stacks by POSIX's ucontext"
        "deform/test_patches_teams_half=it changes stacks by POSIX's ucontext"
        "fit/test_reduce_teams=it changes stacks by POSIX's ucontext"
        "io/test_meshopt=its cases come from node, which is no program of Windows' here"
        "render/test_render=no pictures on Windows"
        "render/test_golden=no pictures on Windows")
  string(REGEX REPLACE "=.*" "" test "${reason}")
  string(REGEX REPLACE "[^=]*=" "" reason "${reason}")
  list(APPEND left_out ${test})
  add_test(NAME left_out/${test} COMMAND ${CMAKE_COMMAND} -E echo "skip ${test}: ${reason}")
endforeach()
