#!/usr/bin/env bash
# The aarch64 wheel in dist/, installed beside an aarch64 Python in build/arm, and the engine's tests on it under
# qemu-user. `make test-wheel-arm` calls it. Needs apt-get, pip's index, qemu-aarch64.
set -euo pipefail
cd "$(dirname "$0")/../.."

python=.venv/bin/python
arm=build/arm
test -x $arm/root/usr/bin/python3.11 || core/tools/arm_python.sh $arm
rm -rf $arm/site
$python -m pip install --quiet --target $arm/site --only-binary=:all: --implementation cp --python-version 3.11 \
  --platform manylinux2014_aarch64 --platform manylinux_2_17_aarch64 --platform manylinux_2_28_aarch64 \
  dist/bitreplay-*-manylinux*_aarch64.whl pytest hypothesis

# Every operation on both instruction sets, and programs against the reference; `make test-arm` has the long runs. Tests
# that start another Python are left out: without the kernel's help (binfmt) it cannot be emulated.
PYTHONPATH="$PWD/$arm/site:$PWD" PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1 BITREPLAY_EXAMPLES=5 \
  qemu-aarch64 -L $arm/root $arm/root/usr/bin/python3.11 -m pytest -p no:cacheprovider -q --durations=5 \
  tests/engine/paths/test_random_shapes.py tests/engine/native/test_native.py \
  -k "not thousand_steps and not two_processes and not unknown_path" "$@"
