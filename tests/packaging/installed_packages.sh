#!/bin/sh
# installed_packages.sh FOLDER: installs the Debian packages in FOLDER on a fresh Debian 12, starts the server
# as the unit would, charges over TLS, and removes it again. For images.py, in a container: it changes the system that
# it runs on.
set -eu
packages=$1
export DEBIAN_FRONTEND=noninteractive

install_packages() {
  apt-get install -y -qq --no-install-recommends "$@" > /tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }
}
expect() {  # WANTED GOT
  [ "$1" = "$2" ] || { echo "want '$1', got '$2'"; exit 1; }
}

apt-get update -qq
install_packages "$packages"/epsledger-server_*.deb "$packages"/epsledger-cli_*.deb "$packages"/epsledger-trainers_*.deb
expect /usr/sbin/nologin "$(getent passwd epsledger | cut -d: -f7)"
expect "700 epsledger epsledger" "$(stat -c '%a %U %G' /var/lib/epsledger)"
expect "640 root root" "$(stat -c '%a %U %G' /etc/epsledger/epsledgerd.env)"
expect "epsledgerd $(dpkg-query -W -f '${Version}' epsledger-server)" "$(epsledgerd --version | cut -d' ' -f1-2)"
for program in epsledger-istdp epsledger-fsdp epsledger-fsdp-published epsledger-trainer-attack; do
  "$program" --help > /dev/null
done

# The first token, and a certificate, as OPERATIONS.md says.
as_server() {
  setpriv --reuid epsledger --regid epsledger --clear-groups "$@"
}
secrets=$(mktemp -d)
"$packages"/certificates.sh "$secrets" > /dev/null
install -o root -g epsledger -m 0640 "$secrets/server.pem" "$secrets/server.key" /etc/epsledger/
(umask 077; as_server epsledgerd token create --data-dir /var/lib/epsledger --role admin --days 1 > "$secrets/token")
cat >> /etc/epsledger/epsledgerd.env <<'SETTINGS'
EPSLEDGERD_TLS_CERT=/etc/epsledger/server.pem
EPSLEDGERD_TLS_KEY=/etc/epsledger/server.key
EPSLEDGERD_REQUIRE_TOKENS=true
SETTINGS

# Start it as epsledgerd.service does, without systemd.
(
  set -a
  # shellcheck disable=SC1091  # a file of the package
  . /etc/epsledger/epsledgerd.env
  set +a
  exec setpriv --reuid epsledger --regid epsledger --clear-groups epsledgerd
) > /tmp/server.log 2>&1 &
server=$!
until epsledgerd healthcheck --server 127.0.0.1:50551 --tls-ca "$secrets/ca.pem" 2> /dev/null; do
  kill -0 "$server" 2> /dev/null || { cat /tmp/server.log; exit 1; }
  sleep 0.1
done
export EPSLEDGER_SERVER=127.0.0.1:50551 EPSLEDGER_TLS_CA="$secrets/ca.pem" EPSLEDGER_TOKEN_FILE="$secrets/token"
epsctl budget create people --rho 1 --relation add-or-remove-one --privacy-unit person > /dev/null
epsctl session create people/first-run --relation add-or-remove-one --no-own-cap > /dev/null
epsctl charge create people/first-run --open-attempt --charge-id block-1 --gaussian 10 > /dev/null
if env -u EPSLEDGER_TLS_CA EPSLEDGER_ALLOW_INSECURE=true epsctl --timeout 10s budget list > /dev/null 2>&1; then
  echo "plaintext was answered"
  exit 1
fi
kill "$server"
wait "$server"

# Run as root, as operators do. The files that the check leaves must still belong to the server's
# user.
epsledger-backup /var/lib/epsledger /srv/backup > /dev/null
expect "" "$(find /var/lib/epsledger ! -user epsledger)"

# The settings survive.
echo '# changed' >> /etc/epsledger/epsledgerd.env
install_packages --reinstall "$packages"/epsledger-server_*.deb
expect '# changed' "$(tail -n 1 /etc/epsledger/epsledgerd.env)"

# A removal keeps the settings and the ledger, a purge the ledger alone: what was spent stays spent.
apt-get remove -y -qq epsledger-server > /dev/null 2>&1
[ -s /var/lib/epsledger/ledger.sqlite ] || { echo "a removal took the ledger"; exit 1; }
[ -s /etc/epsledger/epsledgerd.env ] || { echo "a removal took the settings"; exit 1; }
rm /etc/epsledger/server.pem /etc/epsledger/server.key
apt-get purge -y -qq epsledger-server > /dev/null 2>&1
[ -s /var/lib/epsledger/ledger.sqlite ] || { echo "a purge took the ledger"; exit 1; }
[ ! -e /etc/epsledger ] || { echo "a purge left the settings"; exit 1; }
echo "installed, charged over TLS, backed up, installed again, removed and purged"
