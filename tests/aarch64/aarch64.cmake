# Tests on another machine's processor, under qemu-user: which cannot be there, with the reason.
foreach(reason
        "base/test_allocation_files=it needs libpng, cairo and EGL, which are not cross-compiled"
        "io/test_draco=Draco's helper is not cross-compiled"
        "io/test_draco_made=Draco's helper is not cross-compiled"
        "io/test_gltf_hostile=it measures the memory of a child process, which is qemu's too"
        "io/test_cal3d=Cal3D's library is not cross-compiled"
        "device/test_opencl_bits=no OpenCL there"
        "render/test_render=no pictures there"
        "render/test_golden=no pictures there")
  string(REGEX REPLACE "=.*" "" test "${reason}")
  string(REGEX REPLACE "[^=]*=" "" reason "${reason}")
  list(APPEND left_out ${test})
  add_test(NAME left_out/${test} COMMAND ${CMAKE_COMMAND} -E echo "skip ${test}: ${reason}")
endforeach()
