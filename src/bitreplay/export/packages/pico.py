"""A library for the Raspberry Pi Pico's SDK: a CMake target `bitreplay`, and an example project."""

from __future__ import annotations

from bitreplay.export.packages.package import Package, examples

_CMAKE = """\
# The target bitreplay: add_subdirectory(this folder), then target_link_libraries(yours bitreplay).
add_library(bitreplay STATIC
{sources})
target_include_directories(bitreplay PUBLIC ${{CMAKE_CURRENT_LIST_DIR}}/src)
target_compile_features(bitreplay PRIVATE cxx_std_17)
target_compile_options(bitreplay PRIVATE -O2 -ffunction-sections -fdata-sections
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti -fno-threadsafe-statics>)
"""


def files(package: Package) -> dict[str, str]:
    if not package.target.startswith("rp"):
        raise ValueError(f"A library for the Pico's SDK is for rp2040 or rp2350, got the target {package.target}.")
    text = _CMAKE.format(sources="\n".join(f"  ${{CMAKE_CURRENT_LIST_DIR}}/{name}" for name in package.compiled))
    return {"CMakeLists.txt": text} | examples("pico", "examples/teach")
