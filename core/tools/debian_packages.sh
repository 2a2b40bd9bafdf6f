#!/usr/bin/env bash
# Packages of Debian for an architecture, unpacked: `debian_packages.sh FOLDER ARCHITECTURE PACKAGE...` makes FOLDER/root.
# Nothing is installed.
set -euo pipefail

folder=$(mkdir -p "$1" && cd "$1" && pwd)
architecture=$2
shift 2
mkdir -p "$folder"/apt/lists/partial "$folder"/apt/cache/archives/partial "$folder"/debs
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main" \
  > "$folder/apt/sources.list"
options=(-o "Dir::State=$folder/apt" -o "Dir::Cache=$folder/apt/cache" -o "Dir::Etc::sourcelist=$folder/apt/sources.list"
  -o Dir::Etc::sourceparts=- -o Dir::State::status=/dev/null -o "APT::Architecture=$architecture"
  -o "APT::Architectures=$architecture" -o APT::Sandbox::User= -qq)
apt-get "${options[@]}" update
(cd "$folder/debs" && apt-get "${options[@]}" download "$@")
for package in "$folder"/debs/*.deb; do dpkg-deb -x "$package" "$folder/new"; done
rm -rf "$folder/root" && mv "$folder/new" "$folder/root"
