# The CPU's schedule is one text, compiled once per instruction set: a wrapper each, with its flags.
set(variants "scalar 1")
if(CUTIS_SANITIZE STREQUAL memory) # it follows every lane of a vector: the same text with one is enough
  add_compile_definitions(CUTIS_SCALAR_ONLY)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|i.86")
  list(APPEND variants "scalar_fma 1 -mfma" "sse2 4 -msse2" "sse2_fma 4 -mfma" "avx2 8 -mavx2 -mfma"
       "avx512 16 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512")
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  list(APPEND variants "neon 4")
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "wasm")
  list(APPEND variants "wasm 4 -msimd128" "wasm_fast 4 -msimd128 -DKERNEL_FAST")
endif()
foreach(variant ${variants})
  string(REPLACE " " ";" words ${variant})
  list(POP_FRONT words isa lanes)
  if(lanes GREATER 1)
    list(APPEND words ${wide_sanitize} ${call_sanitize})
  endif()
  set(wrapper ${PROJECT_BINARY_DIR}/cpu_skin_${isa}.c)
  file(CONFIGURE OUTPUT ${wrapper} CONTENT
"// Made by src/device/room.cmake: the CPU schedule for ${isa}.
#define KERNEL_LANES ${lanes}
#define NAME(x) x##_${isa}
#include \"device/cpu/skin_schedule.h\"
")
  if(CMAKE_C_COMPILER_ID STREQUAL GNU AND lanes GREATER 1)
    list(APPEND words -fschedule-insns -fsched-pressure) # loads ahead of their use: 5 % on linear blending
  endif()
  if(CMAKE_C_FLAGS MATCHES fanalyzer) # gcc 12's knows no vectors, and takes minutes to say nothing of these
    list(APPEND words -fno-analyzer)
  endif()
  set_source_files_properties(${wrapper} PROPERTIES COMPILE_OPTIONS "${words}")
  list(APPEND ROOM_SOURCES ${wrapper})
  # The work on bones: the same, in doubles. Fixed loops over matrix entries, which -O2 leaves rolled up.
  math(EXPR doubles "(${lanes} + 1) / 2")
  set(wrapper ${PROJECT_BINARY_DIR}/cpu_bones_${isa}.c)
  file(CONFIGURE OUTPUT ${wrapper} CONTENT
"// Made by src/device/room.cmake: work on bones for ${isa}.
#define KERNEL_DOUBLE
#define KERNEL_LANES ${doubles}
#define NAME(x) x##_${isa}
#include \"device/cpu/bones_schedule.h\"
")
  set_source_files_properties(${wrapper} PROPERTIES COMPILE_OPTIONS "${words};${fast_level}")
  list(APPEND ROOM_SOURCES ${wrapper})
endforeach()
# Programs whose kernels are worth wide vectors: once for each width, as device/compute.h lists them.
set(widths "plain")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|i.86" AND NOT CUTIS_SANITIZE STREQUAL memory)
  list(APPEND widths "avx2 -mavx2" "avx512 -mavx512f -mprefer-vector-width=512")
endif()
foreach(program cage reduce moments handles patches crowd_pack)
  set(${program}_level ${fast_level})
endforeach()
list(APPEND moments_level -fno-math-errno) # roots of eight lanes are one instruction if nobody asks what went wrong
if(CMAKE_C_COMPILER_ID STREQUAL GNU AND NOT CUTIS_LEVEL)
  # Short loops over lanes are vectors as they stand; -O3 unrolls them first and finds few in what is left: 1.5 x the time.
  set(handles_level -O2 -ftree-loop-vectorize -fvect-cost-model=dynamic -fno-tree-slp-vectorize -funroll-loops)
  set(patches_level -O2 -ftree-loop-vectorize -fvect-cost-model=dynamic -fno-tree-slp-vectorize)
endif()
list(APPEND patches_level -fno-math-errno)
list(APPEND crowd_pack_level -fno-trapping-math) # sums that a choice may not need are made for all lanes
foreach(program cage reduce moments handles patches crowd_pack)
  foreach(width ${widths})
    string(REPLACE " " ";" words ${width})
    list(POP_FRONT words suffix)
    if(words)
      list(APPEND words ${wide_sanitize})
    endif()
    if(program STREQUAL crowd_pack AND words) # roots of lengths multiply and add; without the instruction lane by lane
      list(APPEND words -mfma)
    endif()
    if(program STREQUAL reduce) # its loops over poses are short; vertices side by side fill a vector as they are
      list(REMOVE_ITEM words -mprefer-vector-width=512)
    endif()
    set(wrapper ${PROJECT_BINARY_DIR}/compute_${program}_${suffix}.c)
    file(CONFIGURE OUTPUT ${wrapper} CONTENT
"// Made by src/device/room.cmake: the program ${program} for ${suffix}.
#define NAME(x) cutis_compute_##x##_${suffix}
#include \"device/compute/${program}_wide.h\"
")
    set_source_files_properties(${wrapper} PROPERTIES COMPILE_OPTIONS "${words};${${program}_level}")
    list(APPEND ROOM_SOURCES ${wrapper})
  endforeach()
endforeach()
# One long scalar loop per item: unrolled and with its calls' constants known it is a fifth faster.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/device/compute/patches.c PROPERTIES COMPILE_OPTIONS ${fast_level})
