#!/bin/sh
# headers.sh INCLUDE: every public header compiles alone in each language and with each lane width, without a warning; compilation
# stops with our message under switches that break the number rules; no header touches floating-point state.
set -u
include=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
count=0
cc=${CC:-cc}
cxx=${CXX:-c++}
warnings="-Wall -Wextra -Wpedantic -Werror -Wno-psabi -Wno-unused-function -fsyntax-only"

# compiles LABEL COMMAND...
compiles() {
  label=$1
  shift
  count=$((count + 1))
  "$@" > "$work/log" 2>&1 && return
  echo "headers: $label does not compile:"
  head -5 "$work/log"
  failures=$((failures + 1))
}

# refuses LABEL MESSAGE COMMAND...
refuses() {
  label=$1 message=$2
  shift 2
  count=$((count + 1))
  if "$@" > "$work/log" 2>&1; then
    echo "headers: $label compiles, and must not"
  elif grep -q "Samebit: $message" "$work/log"; then
    return
  else
    echo "headers: $label is refused without our message:"
    head -5 "$work/log"
  fi
  failures=$((failures + 1))
}

for path in "$include"/samebit/*.h; do
  header=samebit/$(basename "$path")
  printf '#include "%s"\ntypedef int not_empty;\n' "$header" > "$work/one.c"
  cp "$work/one.c" "$work/one.cpp"
  lanes_list=1
  # Lanes are an extension of the compiler, which kernel.h alone turns to: every header above it has to work with each width.
  if $cc -I"$include" -M "$work/one.c" | grep -q samebit/kernel.h; then lanes_list="1 4 8"; fi
  for lanes in $lanes_list; do
    for std in c11 c17; do compiles "$header, $std, $lanes lanes" $cc -std=$std -DSB_LANES=$lanes -I"$include" $warnings "$work/one.c"; done
    compiles "$header, C++17, $lanes lanes" $cxx -std=c++17 -DSB_LANES=$lanes -I"$include" $warnings "$work/one.cpp"
  done
  # Headers that hold no floats, nor include one that does, have nothing to refuse.
  if $cc -I"$include" -M "$work/one.c" | grep -q samebit/fp_guard.h; then
    refuses "$header, -ffast-math" "compile without -ffast-math" $cc -std=c17 -I"$include" -ffast-math -fsyntax-only "$work/one.c"
    refuses "$header, -Ofast" "compile without -ffast-math" $cc -std=c17 -I"$include" -Ofast -fsyntax-only "$work/one.c"
    refuses "$header, -ffinite-math-only" "compile without -ffinite-math-only" $cc -std=c17 -I"$include" -ffinite-math-only -fsyntax-only "$work/one.c"
  fi
  if grep -nE '^[ \t]*#[ \t]*pragma|_Pragma|_MM_SET_|_mm_setcsr|fesetround|fesetenv|feenable|asm[ \t]*[(v]' "$path"; then
    echo "headers: $header holds a pragma or changes floating-point state"
    failures=$((failures + 1))
  fi
done

# x87 arithmetic. -m32 needs no C library of that size to look at FLT_EVAL_METHOD: <float.h> and <stdint.h> come with the compiler.
echo '#include "samebit/samebit.h"' > "$work/all.c"
x87=
echo 'int main(void) { return 0; }' > "$work/try.c"
echo '#include <float.h>
#include <stdint.h>
#include <string.h>' > "$work/libc.c"
if $cc -m32 -mfpmath=387 -fsyntax-only "$work/libc.c" 2> /dev/null; then x87="$cc -m32 -mfpmath=387"
elif command -v i686-linux-gnu-gcc > /dev/null; then x87="i686-linux-gnu-gcc -mno-sse -mfpmath=387"
fi
if [ -n "$x87" ]; then
  refuses "x87 arithmetic ($x87)" "FLT_EVAL_METHOD must be 0" $x87 -std=c17 -I"$include" -fsyntax-only "$work/all.c"
else
  echo "headers: no compiler for x87 arithmetic here; that refusal is not tested"
fi

# What the compiler makes of a user's own code is the same before and after all headers: none leaves a setting behind.
code() { # compiler option...: machine code of a product and sum with what $work/before.h holds in front
  printf '#include "before.h"\nfloat user(float a, float b, float c) { return a * b + c; }\n' > "$work/user.c"
  "$@" -std=gnu17 -O2 -ffp-contract=fast -I"$include" -I"$work" -c "$work/user.c" -o "$work/user.o" 2> /dev/null && objdump -d "$work/user.o" | sed -n '/<user>:/,$p'
}
left=
case $(uname -m) in x86_64) fused=-mfma ;; *) fused= ;; esac
for compiler in $cc clang; do
  command -v "$compiler" > /dev/null || continue
  : > "$work/before.h"
  plain=$(code "$compiler" $fused)
  for path in "$include"/samebit/*.h; do echo "#include \"samebit/$(basename "$path")\""; done > "$work/before.h"
  count=$((count + 1))
  [ -n "$plain" ] && [ "$(code "$compiler" $fused)" = "$plain" ] || {
    echo "headers: $compiler makes other code of a user's function after our headers than before"
    failures=$((failures + 1))
  }
  echo '#pragma STDC FP_CONTRACT OFF
#pragma GCC optimize("fp-contract=off")' > "$work/before.h"
  [ "$(code "$compiler" $fused)" = "$plain" ] || left=seen
done
[ -n "$left" ] || { echo "headers: a pragma that a header leaves behind would not be seen"; failures=$((failures + 1)); }

[ $count -gt 60 ] || { echo "headers: only $count compilations ran"; exit 1; }
echo "headers: $count compilations, $failures failures"
[ $failures = 0 ]
