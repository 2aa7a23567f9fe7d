#!/bin/sh
# Runs the scenes of docs/gallery.md and draws their last frames: docs/pictures/draw.sh [SAMEBIT]. Needs python3.
set -eu
cd "$(dirname "$0")/../.."
samebit=${1:-build/bin/samebit}
work=$(mktemp -d)
frame=$work/frame.obj
trap 'rm -rf "$work"' EXIT
draw() { # scene, azimuth, elevation
  "$samebit" run "conf/$1.ini" --frame "$frame" > /dev/null
  python3 docs/pictures/draw.py "$frame" "docs/pictures/$1.png" "$2" "$3"
  echo "docs/pictures/$1.png"
}
draw cloth 35 22
draw cloth_self 35 30
draw rope 35 22
draw soft 35 22
draw robot_cloth 150 18
draw shapes 35 30
