#!/usr/bin/env bash
# Debian's aarch64 Python in a folder, for qemu-user: `arm_python.sh FOLDER` makes FOLDER/root. Nothing is installed.
set -euo pipefail

"$(dirname "$0")/debian_packages.sh" "$1" arm64 python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libc6 \
  libgcc-s1 libstdc++6 libexpat1 zlib1g libffi8 libbz2-1.0 liblzma5 libssl3 libuuid1
