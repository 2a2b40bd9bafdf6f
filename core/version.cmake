# The version, from its one source: `__version__` of the Python package.
#
#   BITREPLAY_VERSION          as Python spells it, which br_version() returns: 0.3.0.dev0
#   BITREPLAY_VERSION_NUMBER   its numbers alone, for CMake's package: 0.3.0
set(version_file "${CMAKE_CURRENT_LIST_DIR}/../src/bitreplay/__init__.py")
file(STRINGS "${version_file}" version_line REGEX "^__version__ = ")
string(REGEX REPLACE ".*\"(.*)\".*" "\\1" BITREPLAY_VERSION "${version_line}")
string(REGEX MATCH "^[0-9]+\\.[0-9]+\\.[0-9]+" BITREPLAY_VERSION_NUMBER "${BITREPLAY_VERSION}")
if(NOT BITREPLAY_VERSION_NUMBER)
  message(FATAL_ERROR "${version_file} has no version such as 1.2.3.")
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${version_file}")
