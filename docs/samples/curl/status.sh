# Queries the status of an order.
URL=${TURNPIKE_URL:-http://127.0.0.1:8080}
MERCHANT_KEY=${TURNPIKE_MERCHANT_KEY:-YOUR_MERCHANT_KEY}
PASSWORD=$TURNPIKE_PASSWORD

sign() {
  printf %s "$@" "$PASSWORD" | LC_ALL=C tr a-z A-Z |
    openssl md5 -r | cut -c1-32 | tr -d '\n' | openssl sha1 -r | cut -c1-40
}

ORDER_ID=${1:-order-1}
curl -sS "$URL/api/v1/payment/status" -H 'Content-Type: application/json' -d '{
  "merchant_key": "'"$MERCHANT_KEY"'",
  "order_id": "'"$ORDER_ID"'",
  "hash": "'"$(sign "$ORDER_ID")"'"
}'
