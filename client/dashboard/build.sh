#!/bin/sh
# Builds the dashboard in a copy: build.sh SOURCE_DIR BINARY_DIR leaves BINARY_DIR/app/dist, each file
# beside its compressed form. Packages are fetched again when package-lock.json has changed.
set -eu
source=$1
app=$2/app
mkdir -p "$app"
rm -rf "$app/src" "$app/scripts" "$app/dist"
cp -R "$source/src" "$source/scripts" "$source/index.html" "$source/package.json" \
  "$source/package-lock.json" "$source/tsconfig.json" "$source/vite.config.ts" "$app/"
cp "$source/../cli/glossary/glossary_entries.cc" "$app/"
cd "$app"
if ! cmp -s "$source/package-lock.json" node_modules/installed-lock.json; then
  npm ci --no-audit --no-fund --loglevel=error || {
    echo "client/dashboard: npm could not fetch its packages (its reason stands above)." \
      "Without a network, configure with -DEPSLEDGER_DASHBOARD=OFF." >&2
    exit 1
  }
  cp "$source/package-lock.json" node_modules/installed-lock.json
fi
npm run --silent typecheck
npm run --silent build -- --logLevel warn
npm run --silent size
find dist -type f ! -name '*.gz' -exec gzip -9 -n -k -f {} +
