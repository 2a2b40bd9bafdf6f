# Cross-compile with zig (PyPI: ziglang): -DZIG=<path of zig> -DZIG_TARGET=<such as aarch64-linux-gnu.2.17>.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ZIG ZIG_TARGET)
if(ZIG_TARGET MATCHES "macos")
  set(CMAKE_SYSTEM_NAME Darwin)
  set(CMAKE_INSTALL_NAME_TOOL true) # Apple's; it is asked for, and not needed
else()
  set(CMAKE_SYSTEM_NAME Linux)
endif()
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR "${ZIG_TARGET}")
set(CMAKE_C_COMPILER "${ZIG}" cc -target ${ZIG_TARGET})
set(CMAKE_CXX_COMPILER "${ZIG}" c++ -target ${ZIG_TARGET})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_OSX_SYSROOT "")
set(CMAKE_OSX_DEPLOYMENT_TARGET "" CACHE STRING "" FORCE)
# The core needs no C++ library at run time, and zig would compile its own for each target.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-nostdlib++ -s")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-nostdlib++ -s")
