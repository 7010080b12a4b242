#!/bin/sh
# make_packages.sh BUILD_DIR FOLDER: makes what is released, of a build as it is: the Debian packages, the wheels and
# the source distribution for Python, the list of what is in them (sbom.cdx.json, CycloneDX), and SHA256SUMS.
# FOLDER is emptied first. With the same commit and the same Debian packages a second run makes the same Debian
# packages and the same list: every time in them is that of the commit.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
[ $# -eq 2 ] || { echo "usage: make_packages.sh BUILD_DIR FOLDER" >&2; exit 2; }
build=$(cd "$1" && pwd)
mkdir -p "$2"
folder=$(cd "$2" && pwd)
rm -f "$folder"/*.deb "$folder"/*.whl "$folder"/*.tar.gz "$folder/sbom.cdx.json" "$folder/SHA256SUMS"
: "${SOURCE_DATE_EPOCH:=$(git -C "$root" log -1 --format=%ct 2> /dev/null || date +%s)}"
export SOURCE_DATE_EPOCH
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
quietly() {  # shows the output of a command only if it fails
  "$@" > "$scratch/log" 2>&1 || { cat "$scratch/log" >&2; exit 1; }
}

(cd "$scratch" && quietly cpack --config "$build/CPackConfig.cmake" -B "$scratch/debian")
mv "$scratch"/debian/*.deb "$folder/"

# Copies, so that setuptools leaves nothing in the tree; with the licence, which setuptools takes along.
python_package() {  # SOURCE_FOLDER KIND ...: wheel, sdist
  source=$1
  shift
  rm -rf "$scratch/python"
  mkdir "$scratch/python"
  (cd "$source" && tar --exclude=__pycache__ --exclude=build --exclude='*.egg-info' -cf - .) | tar -C "$scratch/python" -xf -
  cp "$root/LICENSE" "$scratch/python/"
  for kind; do
    (cd "$scratch/python" && quietly /usr/bin/python3 -B -c "
import sys, setuptools.build_meta as backend
getattr(backend, 'build_' + sys.argv[1])(sys.argv[2])" "$kind" "$folder")
  done
}
python_package "$root/client/python" wheel sdist
if [ -e "$build/client/python/accounting/epsledger_accounting/_native.abi3.so" ]; then
  EPSLEDGER_BUILD_DIR=$build python_package "$root/client/python/accounting" wheel
else
  echo "make_packages.sh: no wheel of epsledger-accounting: the build has no headers of Python (python3-dev)" >&2
fi

"$here/sbom.py" --packages "$folder" --output "$folder/sbom.cdx.json"
(cd "$folder" && sha256sum -- * > "$scratch/sums" && mv "$scratch/sums" SHA256SUMS)
