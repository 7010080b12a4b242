#!/bin/sh
# secrets.sh [FOLDER]
#
# Makes the passwords that compose.yaml gives to containers as files, in docker/secrets or FOLDER:
# postgres-password for the database's superuser, epsledger-password for the role that the servers
# log in as, grafana-password, and alerts-webhook-secret, the key of the signatures of alerts. An
# existing file is not changed.
#
# Only its owner can open the folder. Every user can read the files in it, because compose mounts
# them with the owner and mode that they have here, and the containers run as other users.
set -eu
folder=${1:-$(dirname "$0")/secrets}

mkdir -p "$folder"
chmod 0700 "$folder"
for name in postgres-password epsledger-password grafana-password alerts-webhook-secret; do
  [ -s "$folder/$name" ] && continue
  # 192 bits, in letters and digits that need no quoting.
  openssl rand -hex 24 > "$folder/$name.unfinished"
  chmod 0444 "$folder/$name.unfinished"
  mv "$folder/$name.unfinished" "$folder/$name"
  echo "made $folder/$name"
done
