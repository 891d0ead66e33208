#!/bin/sh
# Runs the C++ tests of the native engine under the address and undefined-behavior sanitizers, once per instruction set
# that this machine has, and then under the thread sanitizer. Needs g++ or clang++ with their sanitizer libraries.
set -eu
cd "$(dirname "$0")/../native"
cxx=${CXX:-g++}
out=build/sanitize
mkdir -p "$out"
flags="-std=c++17 -O1 -g -fno-omit-frame-pointer -pthread -Wall -Wextra"
kernels="-ffp-contract=fast -fno-math-errno -fno-trapping-math"
sources="src/*.cpp src/sample/*.cpp"
sets="baseline"
case $(uname -m) in
x86_64) sets="baseline avx2 avx512" ;;
esac

build() { # name, sanitizer flags
  objects=""
  for isa in $sets; do
    case $isa in
    avx2) machine="-mavx2 -mfma -mf16c" ;;
    avx512) machine="-mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma" ;;
    *) machine="" ;;
    esac
    $cxx $flags $kernels $2 $machine -DTRINITY_ISA=$isa -c src/kernels/table.cpp -o "$out/$1-$isa.o"
    objects="$objects $out/$1-$isa.o"
  done
  for test in kernels sample; do
    $cxx $flags $2 $sources test/${test}_test.cpp $objects -o "$out/$1-$test"
  done
}

build memory "-fsanitize=address,undefined -fno-sanitize-recover=undefined"
for isa in $sets; do
  TRINITY_NATIVE_ISA=$isa "$out/memory-kernels"
  TRINITY_NATIVE_ISA=$isa "$out/memory-sample"
done
build threads "-fsanitize=thread"
"$out/threads-kernels"
"$out/threads-sample"
# Nothing of an instruction set may run before the machine was asked what it has: no constructors in the kernels.
for isa in $sets; do
  $cxx -std=c++17 -O3 $kernels -DTRINITY_ISA=$isa -S src/kernels/table.cpp -o "$out/$isa.s"
  if grep -q 'init_array' "$out/$isa.s"; then
    echo "kernels of $isa have code that runs when the library is loaded" >&2
    exit 1
  fi
done
echo "no findings"
