# Verifies a callback. Arguments: webhook-id, webhook-timestamp, webhook-signature; standard input: the raw body.
KEY=$(printf %s "${TURNPIKE_CALLBACK_SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
AGE=$(($(date +%s) - $2))
MAC=$({ printf '%s.%s.' "$1" "$2"; cat; } | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | openssl base64 -A)

# While the secret is rotated, the header has several signatures. One valid signature is enough.
for SIGNATURE in $3; do
  if [ "${AGE#-}" -le 300 ] && [ "$SIGNATURE" = "v1,$MAC" ]; then
    echo valid
    exit
  fi
done
echo invalid
exit 1
