#!/bin/sh
# Signatures with sh and openssl. For a look at what goes over the wire, not for a server: `openssl dgst -hmac` shows the
# secret to anyone who may list the processes of the machine, and nothing here compares an answer with its question.
#
# sh verify.sh [signature-vectors.json]    checks every worked example

set -eu

# sign SECRET TEXT BODY-FILE: lower-case hex over the text and the bytes of the file. Bodies stay in files, because $(…)
# cuts line breaks off.
sign() {
  { printf '%s' "$2"; cat "$3"; } | openssl dgst -sha256 -hmac "$1" -r | cut -c1-64
}

# matches EXPECTED GIVEN: compares the two under a key of the moment, so that the time it takes tells nothing of them.
matches() {
  moment=$(openssl rand -hex 32)
  one=$(printf '%s' "$1" | openssl dgst -sha256 -hmac "$moment" -r)
  two=$(printf '%s' "$2" | openssl dgst -sha256 -hmac "$moment" -r)
  [ "$one" = "$two" ]
}

# An answer of the staking API: SECRET METHOD PATH BODY-FILE SIGNATURE
is_from_staking_api() { matches "$(sign "$1" "$2$3" "$4")" "$5"; }

# A call to one of your endpoints: SECRET METHOD PATH X-API-REQUEST BODY-FILE SIGNATURE
is_our_call() { matches "$(sign "$1" "$2$3$4" "$5")" "$6"; }

# For X-API-SIGNATURE of your answer: SECRET METHOD PATH X-API-REQUEST BODY-FILE
sign_answer() { sign "$1" "$2$3$4" "$5"; }

# X-API-REQUEST is a UUID of version 7, whose first 48 bits are the time in milliseconds: X-API-REQUEST NOW-IN-SECONDS
is_fresh() {
  digits=$(printf '%s' "$1" | tr -d -- -)
  case $digits in ????????????7*) ;; *) return 1 ;; esac
  case $digits in *[!0-9a-fA-F]*) return 1 ;; esac
  [ "${#digits}" = 32 ] || return 1
  age=$(($2 - 0x$(printf '%s' "$digits" | cut -c1-12) / 1000))
  [ "$age" -le 300 ] && [ "$age" -ge -300 ]
}

# ---- The rest checks the worked examples. ----

vectors=${1:-$(dirname "$0")/../../wire/signature-vectors.json}
body=$(mktemp)
changed=$(mktemp)
trap 'rm -f "$body" "$changed"' EXIT

# A line of the file has one field: "name": "value". Enough of JSON for this file.
value() { printf '%s\n' "$1" | sed -e 's/^[^:]*: "//' -e 's/",\{0,1\}$//' -e 's/\\"/"/g' -e 's/\\\\/\\/g'; }

check() {
  printf '%s' "$content" >"$body"
  printf '%s ' "$content" >"$changed"
  case $direction in
    'staking API to partner')
      is_from_staking_api "$secret" "$method" "$path" "$body" "$signature" &&
        ! is_from_staking_api "$secret" "$method" "$path" "$changed" "$signature"
      ;;
    'service to partner')
      is_our_call "$secret" "$method" "$path" "$id" "$body" "$signature" &&
        ! is_our_call "$secret" "$method" "$path" "$id" "$changed" "$signature"
      ;;
    'partner to service')
      [ "$(sign_answer "$secret" "$method" "$path" "$id" "$body")" = "$signature" ]
      ;;
    *) return 1 ;;
  esac
}

count=0
good=0
while IFS= read -r line; do
  case $line in
    *'"name": '*) name=$(value "$line") id= content= ;;
    *'"direction": '*) direction=$(value "$line") ;;
    *'"secret": '*) secret=$(value "$line") ;;
    *'"method": '*) method=$(value "$line") ;;
    *'"path": '*) path=$(value "$line") ;;
    *'"xApiRequest": '*) id=$(value "$line") ;;
    *'"body": '*) content=$(value "$line") ;;
    *'"signature": '*)
      signature=$(value "$line")
      count=$((count + 1))
      if check; then good=$((good + 1)); else echo "WRONG  $name"; fi
      ;;
  esac
done <"$vectors"

echo "$good of $count vectors verified"
id=01a1fdfa-467b-7abc-8def-0123456789ab
if ! is_fresh "$id" $((1795262400 + 299)) || is_fresh "$id" $((1795262400 + 301)); then
  echo 'WRONG  freshness'
  exit 1
fi
[ "$count" -gt 0 ] && [ "$good" = "$count" ]
