#!/bin/sh
# Tests the dashboard in a browser, against real servers: run.sh BUILD_DIR
#
# BUILD_DIR holds server/epsledgerd and client/cli/epsctl. Ends with 77, and says why, if Node,
# chromium or the dashboard in the server is missing. EPSLEDGER_SCREENSHOTS names a folder for
# pictures of every page (light, dark, phone). EPSLEDGER_CHROMIUM names the browser; the default is
# /usr/bin/chromium. EPSLEDGER_DASHBOARD names a built dashboard (client/dashboard/dist) to look at
# in place of the one in the server.
set -eu
build=$(cd "${1:?usage: run.sh BUILD_DIR}" && pwd)
cd "$(dirname "$0")"
skip() {
  echo "skipped: $1"
  exit 77
}
command -v node >/dev/null || skip "there is no node"
chromium=${EPSLEDGER_CHROMIUM:-/usr/bin/chromium}
[ -x "$chromium" ] || skip "there is no browser at $chromium"
if ! [ -d node_modules/playwright-core ] || ! [ -d node_modules/axe-core ]; then
  command -v npm >/dev/null || skip "there is no npm to fetch playwright-core and axe-core"
  npm install --no-save --no-audit --no-fund --loglevel=error || skip "npm cannot fetch playwright-core and axe-core"
fi
# The unit tests of the dashboard's own modules, where the build left them with their packages.
app=$build/client/dashboard/app
if [ -d "$app/node_modules" ]; then (cd "$app" && npm run --silent test); fi
EPSLEDGER_BUILD_DIR=$build EPSLEDGER_CHROMIUM=$chromium exec node all.mjs
