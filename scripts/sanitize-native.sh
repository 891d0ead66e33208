#!/bin/sh
# Runs the C++ test of the native engine under the address and undefined-behaviour sanitizers, once per instruction set
# that this machine has, and then under the thread sanitizer. Needs g++ or clang++ with their sanitizer libraries.
set -eu
cd "$(dirname "$0")/../native"
cxx=${CXX:-g++}
out=build/sanitize
mkdir -p "$out"
flags="-std=c++17 -O1 -g -fno-omit-frame-pointer -pthread -Wall -Wextra"
kernels="-ffp-contract=fast -fno-math-errno -fno-trapping-math"
sources="src/dispatch.cpp src/pool.cpp src/gemm.cpp test/kernels_test.cpp"
sets="baseline"
case $(uname -m) in
x86_64) sets="baseline avx2 avx512" ;;
esac

build() { # name, sanitizer flags
  objects=""
  for isa in $sets; do
    case $isa in
    avx2) machine="-mavx2 -mfma" ;;
    avx512) machine="-mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma" ;;
    *) machine="" ;;
    esac
    $cxx $flags $kernels $2 $machine -DTRINITY_ISA=$isa -c src/kernels/table.cpp -o "$out/$1-$isa.o"
    objects="$objects $out/$1-$isa.o"
  done
  $cxx $flags $2 $sources $objects -o "$out/$1"
}

build memory "-fsanitize=address,undefined -fno-sanitize-recover=undefined"
for isa in $sets; do
  TRINITY_NATIVE_ISA=$isa "$out/memory"
done
build threads "-fsanitize=thread"
"$out/threads"
# Nothing of an instruction set may run before the machine was asked what it has: no constructors in the kernels.
for isa in $sets; do
  $cxx -std=c++17 -O3 $kernels -DTRINITY_ISA=$isa -S src/kernels/table.cpp -o "$out/$isa.s"
  if grep -q 'init_array' "$out/$isa.s"; then
    echo "kernels of $isa have code that runs when the library is loaded" >&2
    exit 1
  fi
done
echo "no findings"
