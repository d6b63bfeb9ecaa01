#!/bin/sh
# HTTP Message Signatures (RFC 9421) of our answers with sh and openssl (3.0 or newer), by the public key: ask for them with
# `Accept-Signature: sig=();alg="ed25519";nonce="…"`, the nonce fresh for each request. For a look at what goes over the wire, not for a server.
#
# sh verify-message.sh [message-signature-vectors.json]    checks the worked examples of ed25519

set -eu

of_request='"@status" "@method";req "@path";req "@query";req'
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# x, base64url, of /.well-known/http-message-signatures-directory: into a public key in DER (RFC 8410)
keep_key() {
  { printf '\060\052\060\005\006\003\053\145\160\003\041\000'; printf '%s=' "$1" | tr -- '-_' '+/' | openssl base64 -d -A; } >"$folder/key"
}

# METHOD TARGET STATUS BODY-FILE COVERED VALUE SIGNATURE-INPUT SIGNATURE NONCE NOW
# COVERED: content-digest; x-sealed-day for a list of a day, whose root proves the body. VALUE: that header. NONCE: what this
# request asked for, '' for none. NOW: seconds; answers that are more than five minutes older or newer are refused.
is_our_answer() {
  if [ "$5" = content-digest ]; then
    [ "$6" = "sha-256=:$(openssl dgst -sha256 -binary "$4" | openssl base64 -A):" ] || return 1
  fi
  parameters=${7#sig=}
  case $parameters in "($of_request \"$5\");"*';alg="ed25519"'*) ;; *) return 1 ;; esac
  [ "$(printf '%s\n' "$parameters" | sed -n 's/.*;nonce="\([^"\\]*\)".*/\1/p')" = "$9" ] || return 1
  created=$(printf '%s\n' "$parameters" | sed -n 's/.*;created=\([0-9]\{1,15\}\);.*/\1/p')
  [ -n "$created" ] || return 1
  age=$((${10} - created))
  [ "$age" -le 300 ] && [ "$age" -ge -300 ] || return 1
  case $2 in *\?*) query="?${2#*\?}" ;; *) query='?' ;; esac
  printf '"@status": %s\n"@method";req: %s\n"@path";req: %s\n"@query";req: %s\n"%s": %s\n"@signature-params": %s' \
    "$3" "$1" "${2%%\?*}" "$query" "$5" "$6" "$parameters" >"$folder/base"
  given=${8#sig=:}
  printf '%s' "${given%:}" | openssl base64 -d -A >"$folder/signature" 2>/dev/null || return 1
  openssl pkeyutl -verify -rawin -pubin -keyform DER -inkey "$folder/key" \
    -in "$folder/base" -sigfile "$folder/signature" >/dev/null 2>&1
}

# ---- The rest checks the worked examples. ----

vectors=${1:-$(dirname "$0")/../../wire/message-signature-vectors.json}
count=0
good=0

# A line of the file has one field: "name": "value". Enough of JSON for this file.
value() { printf '%s\n' "$1" | sed -e 's/^[^:]*: "\{0,1\}//' -e 's/"\{0,1\},\{0,1\}$//' -e 's/\\"/"/g' -e 's/\\\\/\\/g'; }

while IFS= read -r line; do
  case $line in
    *'"refused": ['*) break ;;
    *'"nonce": '*) nonce=$(value "$line") ;;
    *'"now": '*) now=$(value "$line") ;;
    *'"covered": '*) covered=$(value "$line") ;;
    *'"sealedDay": '*) digest=$(value "$line") ;;
    *'"x": '*) keep_key "$(value "$line")" ;;
    *'"name": '*) name=$(value "$line") ;;
    *'"algorithm": '*) algorithm=$(value "$line") ;;
    *'"method": '*) method=$(value "$line") ;;
    *'"target": '*) target=$(value "$line") ;;
    *'"status": '*) status=$(value "$line") ;;
    *'"body": '*) value "$line" | tr -d '\n' >"$folder/body" ;;
    *'"contentDigest": '*) digest=$(value "$line") ;;
    *'"signatureInput": '*) input=$(value "$line") ;;
    *'"signature": '*)
      [ "$algorithm" = ed25519 ] || continue
      signature=$(value "$line")
      count=$((count + 1))
      # Of a list there is no body here: it is not looked at.
      set -- "$status" "$folder/body" "$covered" "$digest" "$input" "$signature" "$nonce" "$now"
      if is_our_answer "$method" "$target" "$@" && ! is_our_answer "$method" "${target}1" "$@"; then
        good=$((good + 1))
      else
        echo "WRONG  $name"
      fi
      ;;
  esac
done <"$vectors"

echo "$good of $count vectors verified"
[ "$count" -gt 0 ] && [ "$good" = "$count" ]
