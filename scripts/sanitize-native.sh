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
tests="kernels sample"
sets="baseline"
case $(uname -m) in
x86_64) sets="baseline avx2 avx512" ;;
aarch64 | arm64) sets="neon" ;;
esac
cores=$(getconf _NPROCESSORS_ONLN)

# What the compiler is told for each object of a build, a line each.
objects() { # name
  for isa in $sets; do
    case $isa in
    avx2) machine="-mavx2 -mfma -mf16c" ;;
    avx512) machine="-mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma" ;;
    *) machine="" ;;
    esac
    echo "$kernels $machine -DTRINITY_ISA=$isa -c src/kernels/table.cpp -o $out/$1/table-$isa.o"
  done
  case $sets in
  *avx512*) echo "$kernels -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -mavx512bf16 -DTRINITY_ISA=avx512_bf16 -c src/kernels/brain.cpp -o $out/$1/brain.o" ;;
  esac
  for source in $sources; do
    echo "-c $source -o $out/$1/$(basename "$source" .cpp).o"
  done
  for test in $tests; do
    echo "-c test/${test}_test.cpp -o $out/$1-$test.o"
  done
}

build() { # name, sanitizer flags
  rm -rf "$out/$1"
  mkdir -p "$out/$1"
  objects "$1" | xargs -P "$cores" -L 1 $cxx $flags $2
  for test in $tests; do
    $cxx $flags $2 "$out/$1"/*.o "$out/$1-$test.o" -o "$out/$1-$test"
  done
}

build memory "-fsanitize=address,undefined -fno-sanitize-recover=undefined"
for isa in $sets; do
  TRINITY_NATIVE_ISA=$isa "$out/memory-kernels"
  TRINITY_NATIVE_ISA=$isa "$out/memory-sample"
done
"$out/memory-kernels" # with all that this machine has
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
