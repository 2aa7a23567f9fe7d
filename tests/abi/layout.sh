#!/bin/sh
# layout.sh PROGRAM FILE: the layout that PROGRAM prints must be that of FILE, which holds the layout of the ABI version that it names.
set -eu
"$1" > "${TMPDIR:-/tmp}/samebit_layout.$$"
trap 'rm -f "${TMPDIR:-/tmp}/samebit_layout.$$"' EXIT
diff "$2" "${TMPDIR:-/tmp}/samebit_layout.$$" && exit 0
echo "The layout of the ABI changed. A released version never changes: raise SB_ABI_MINOR (and SB_ABI_MIN_MINOR where older plugins cannot be
served), then write the new layout with: $1 > $2"
exit 1
