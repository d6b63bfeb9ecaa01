#!/usr/bin/env bash
# wal-get.sh KEPT_DIR WAL_DIR FILE PATH: a file of WAL that the repository lacks, from what restore.sh kept of a server that could not
# archive it any more, or from what pg_receivewal wrote (WAL_DIR). Of a file that was not complete it takes what there is.
set -euo pipefail
kept=$1 received=$2 file=$3 path=$4
for folder in ${received:+"$received"} "$kept"/*/; do
  for found in "$folder/$file" "$folder/$file.partial"; do
    [ ! -f "$found" ] || exec cp "$found" "$path"
  done
done
exit 1
