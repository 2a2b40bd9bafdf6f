"""An ESP-IDF component: CMakeLists.txt, Kconfig, idf_component.yml, src/, and an example project."""

from __future__ import annotations

from bitreplay.export.packages.package import TITLE, Package, examples, version

_CMAKE = """\
idf_component_register(
  SRCS
{sources}
  INCLUDE_DIRS src)
target_compile_options(${{COMPONENT_LIB}} PRIVATE -O2
  $<$<COMPILE_LANGUAGE:CXX>:-std=gnu++17 -fno-exceptions -fno-rtti -fno-threadsafe-statics>)
"""
_KCONFIG = """\
menu "bitreplay"

    config BITREPLAY_IN_PSRAM
        bool "Learner in PSRAM"
        depends on SPIRAM
        default {psram}
        help
            The learner takes {learner} bytes in one piece. In PSRAM it is slower.

    config BITREPLAY_AREAS
        int "Areas of flash for states"
        range 3 32
        default 4
        help
            More areas wear less. Each has room for a state.

endmenu
"""


def files(package: Package) -> dict[str, str]:
    if not package.target.startswith("esp32"):
        raise ValueError(f"An ESP-IDF component is for an ESP32, got the target {package.target}.")
    learner = package.about["bytes"]["learner"]
    manifest = {
        "version": f'"{version()}"',
        "description": f'"{TITLE}"',
        "url": '"https://pypi.org/project/bitreplay/"',
        "license": '"Apache-2.0"',
        "targets": f"\n  - {package.target}",
        "dependencies": '\n  idf: ">=5.0"',
    }
    return {
        "CMakeLists.txt": _CMAKE.format(sources="\n".join(f"    {name}" for name in package.compiled)),
        "Kconfig": _KCONFIG.format(learner=learner, psram="y" if learner > package.board.ram else "n"),
        "idf_component.yml": "".join(f"{key}: {value}\n" for key, value in manifest.items()),
    } | examples("esp-idf", "examples/teach")
