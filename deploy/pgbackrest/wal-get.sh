#!/usr/bin/env bash
# wal-get.sh KEPT_DIR WAL_DIR FILE PATH: copies a WAL file that the repository lacks to PATH, from the WAL of
# pg_receivewal (WAL_DIR) or from the WAL that restore.sh kept (KEPT_DIR). Also takes incomplete files (.partial).
set -euo pipefail
kept=$1 received=$2 file=$3 path=$4
for folder in ${received:+"$received"} "$kept"/*/; do
  for found in "$folder/$file" "$folder/$file.partial"; do
    [ ! -f "$found" ] || exec cp "$found" "$path"
  done
done
exit 1
