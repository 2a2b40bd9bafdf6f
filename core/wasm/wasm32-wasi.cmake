# WebAssembly by zig's clang (PyPI's ziglang), with WASI's C library. BITREPLAY_PYTHON is the interpreter that has it.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_CXX_COMPILER "${BITREPLAY_PYTHON}" -m ziglang c++ -target wasm32-wasi)
set(CMAKE_CXX_COMPILER_FORCED TRUE)
set(CMAKE_CXX_COMPILER_ID Clang)
set(CMAKE_CXX_COMPILER_VERSION 18)
# Linked as C: the core uses nothing of the C++ library, which zig would compile first.
set(CMAKE_CXX_LINK_EXECUTABLE "${BITREPLAY_PYTHON} -m ziglang cc -target wasm32-wasi <LINK_FLAGS> <OBJECTS> -o <TARGET>")
