#!/bin/sh
# installed_packages.sh FOLDER: installs the Debian packages in FOLDER on a fresh Debian 12, starts the server
# as the unit would, and removes it again. For images.py, in a container: it changes the system that it runs on.
set -eu
packages=$1
export DEBIAN_FRONTEND=noninteractive

install() {
  apt-get install -y -qq --no-install-recommends "$@" > /tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }
}
expect() {  # WANTED GOT
  [ "$1" = "$2" ] || { echo "want '$1', got '$2'"; exit 1; }
}

apt-get update -qq
install "$packages"/epsledger-server_*.deb "$packages"/epsledger-cli_*.deb "$packages"/epsledger-trainers_*.deb
expect /usr/sbin/nologin "$(getent passwd epsledger | cut -d: -f7)"
expect "700 epsledger epsledger" "$(stat -c '%a %U %G' /var/lib/epsledger)"
expect "640 root root" "$(stat -c '%a %U %G' /etc/epsledger/epsledgerd.env)"
for program in epsledger-istdp epsledger-fsdp epsledger-fsdp-published epsledger-trainer-attack; do
  "$program" --help > /dev/null
done

# Start it as epsledgerd.service does, without systemd.
set -a
# shellcheck disable=SC1091  # a file of the package
. /etc/epsledger/epsledgerd.env
set +a
setpriv --reuid epsledger --regid epsledger --clear-groups epsledgerd > /tmp/server.log 2>&1 &
server=$!
until epsledgerd healthcheck 2> /dev/null; do
  kill -0 "$server" 2> /dev/null || { cat /tmp/server.log; exit 1; }
  sleep 0.1
done
epsctl budget create people --rho 1 --relation add-or-remove-one --privacy-unit person > /dev/null
kill "$server"
wait "$server"

# Run as root, as operators do. The files that the check leaves must still belong to the server's
# user.
epsledger-backup /var/lib/epsledger /srv/backup > /dev/null
expect "" "$(find /var/lib/epsledger ! -user epsledger)"

# The settings survive.
echo '# changed' >> /etc/epsledger/epsledgerd.env
install --reinstall "$packages"/epsledger-server_*.deb
expect '# changed' "$(tail -n 1 /etc/epsledger/epsledgerd.env)"

apt-get purge -y -qq epsledger-server > /dev/null 2>&1
[ -s /var/lib/epsledger/ledger.sqlite ] || { echo "a purge took the ledger"; exit 1; }
[ ! -e /etc/epsledger ] || { echo "a purge left the settings"; exit 1; }
echo "installed, served, backed up, installed again and purged"
