#!/usr/bin/env bash
# Debian's aarch64 Python in a folder, for qemu-user: `arm_python.sh FOLDER` makes FOLDER/root. Nothing is installed.
set -euo pipefail

folder=$(mkdir -p "$1" && cd "$1" && pwd)
packages="python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libc6 libgcc-s1 libstdc++6 libexpat1 zlib1g
  libffi8 libbz2-1.0 liblzma5 libssl3 libuuid1"
mkdir -p "$folder"/apt/lists/partial "$folder"/apt/cache/archives/partial "$folder"/debs
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main" \
  > "$folder/apt/sources.list"
options=(-o "Dir::State=$folder/apt" -o "Dir::Cache=$folder/apt/cache" -o "Dir::Etc::sourcelist=$folder/apt/sources.list"
  -o Dir::Etc::sourceparts=- -o Dir::State::status=/dev/null -o APT::Architecture=arm64 -o APT::Architectures=arm64
  -o APT::Sandbox::User= -qq)
apt-get "${options[@]}" update
# shellcheck disable=SC2086
(cd "$folder/debs" && apt-get "${options[@]}" download $packages)
for package in "$folder"/debs/*.deb; do dpkg-deb -x "$package" "$folder/new"; done
rm -rf "$folder/root" && mv "$folder/new" "$folder/root"
