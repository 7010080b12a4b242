#!/bin/sh
# certificates.sh [FOLDER [NAME ...]]
#
# Makes certificates for development in docker/secrets or FOLDER: an authority (ca.pem, ca.key), and
# two certificates that it signs. One is for a server (server.pem, server.key), valid for localhost,
# 127.0.0.1, ::1, the services of compose.yaml and every further NAME. The other is for a client
# with mutual TLS (client.pem, client.key: an admin of the tenant "development").
#
# A second run keeps the authority and renews the two certificates. A server that reads them from
# this folder loads the new ones by itself; a container of compose.yaml loads them when it is
# restarted. Not for production: the authority's key is in the same folder as what it signed.
set -eu
folder=${1:-$(dirname "$0")/secrets}
[ $# -eq 0 ] || shift
authority_days=3650
days=90

names=DNS:localhost,IP:127.0.0.1,IP:::1,DNS:server,DNS:server-1,DNS:server-2,DNS:epsledger
for name; do
  case $name in
    *:* | *.*.*.[0-9]*) names=$names,IP:$name ;;
    *) names=$names,DNS:$name ;;
  esac
done

mkdir -p "$folder"
chmod 0700 "$folder"
cd "$folder"
log=$(mktemp)
trap 'rm -f "$log"' EXIT

quietly() {  # shows the output of openssl only if it fails
  openssl "$@" > /dev/null 2> "$log" || { cat "$log" >&2; exit 1; }
}

if ! [ -s ca.pem ]; then
  quietly req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days "$authority_days" \
    -keyout ca.key -out ca.pem -subj "/CN=epsledger development authority" \
    -addext keyUsage=critical,keyCertSign,cRLSign
  echo "made $folder/ca.pem and its key"
fi

certificate() {  # NAME SUBJECT EXTENSIONS: makes a new key and certificate, each complete or absent
  printf '%s\nbasicConstraints=critical,CA:FALSE\nsubjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n' \
    "$3" > "$1.extensions"
  quietly req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key.unfinished" \
    -out "$1.request" -subj "$2"
  quietly x509 -req -in "$1.request" -CA ca.pem -CAkey ca.key -CAcreateserial -days "$days" -sha256 \
    -extfile "$1.extensions" -out "$1.pem.unfinished"
  # The containers' users must be able to read it; the folder keeps everybody else out.
  chmod 0444 "$1.key.unfinished" "$1.pem.unfinished"
  mv "$1.key.unfinished" "$1.key"
  mv "$1.pem.unfinished" "$1.pem"
  rm -f "$1.request" "$1.extensions"
  echo "made $folder/$1.pem and its key, for $days days"
}

certificate server /CN=epsledger "subjectAltName=$names
extendedKeyUsage=serverAuth"
certificate client "/O=development/OU=admin/CN=developer" "extendedKeyUsage=clientAuth"
