#!/bin/sh
# The core as one folder of sources with one header: compiled, linked with a test in C, and run.
#     sources.sh PYTHON CXX CC FOLDER MODEL
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$4"
"$1" "$here/../../tools/export_sources.py" "$4"
cd "$4"
"$2" -std=c++20 -O1 -c ./*.cc
mkdir header
echo '#include "bitreplay.h"' > header/bitreplay_learner.h # the only header has all of it
"$3" -std=c99 -O1 -I . -I header -c "$here/life.c"
"$2" ./*.o -o life
./life "$5"
