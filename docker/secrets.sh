#!/bin/sh
# secrets.sh [FOLDER]
#
# Makes the passwords that compose.yaml hands to containers as files, in docker/secrets or FOLDER:
# postgres-password of the database's superuser, epsledger-password of the role that the servers log in
# as, grafana-password. A file that is there is left as it is.
#
# The folder is for its owner alone. The files in it can be read by every user, because compose mounts
# them with the owner and mode that they have here, and the containers run as users of their own.
set -eu
folder=${1:-$(dirname "$0")/secrets}

mkdir -p "$folder"
chmod 0700 "$folder"
for name in postgres-password epsledger-password grafana-password; do
  [ -s "$folder/$name" ] && continue
  # 192 bits, in letters and digits that no program has to quote.
  openssl rand -hex 24 > "$folder/$name.unfinished"
  chmod 0444 "$folder/$name.unfinished"
  mv "$folder/$name.unfinished" "$folder/$name"
  echo "made $folder/$name"
done
