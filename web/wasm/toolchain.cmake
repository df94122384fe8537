# Debian's clang and wasi-libc: cmake -DCMAKE_TOOLCHAIN_FILE=web/wasm/toolchain.cmake
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang-14)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_CXX_COMPILER clang++-14)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasi)
set(CMAKE_C_FLAGS_INIT -msimd128)
set(CMAKE_CXX_FLAGS_INIT -msimd128)
set(CMAKE_C_COMPILER_WORKS ON) # objects only: the archiver CMake would try is never used
set(CMAKE_CXX_COMPILER_WORKS ON)
