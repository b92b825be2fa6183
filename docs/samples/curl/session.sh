# Opens a Checkout session and prints the response with the address of its payment page.
URL=${TURNPIKE_URL:-http://127.0.0.1:8080}
MERCHANT_KEY=${TURNPIKE_MERCHANT_KEY:-YOUR_MERCHANT_KEY}
PASSWORD=$TURNPIKE_PASSWORD

sign() {
  printf %s "$@" "$PASSWORD" | LC_ALL=C tr a-z A-Z |
    openssl md5 -r | cut -c1-32 | tr -d '\n' | openssl sha1 -r | cut -c1-40
}

NUMBER=${1:-order-1}
curl -sS "$URL/api/v1/session" -H 'Content-Type: application/json' -d '{
  "merchant_key": "'"$MERCHANT_KEY"'",
  "operation": "purchase",
  "order": { "number": "'"$NUMBER"'", "amount": "19.99", "currency": "USD", "description": "Two teapots" },
  "success_url": "https://example.com/thanks",
  "hash": "'"$(sign "$NUMBER" 19.99 USD 'Two teapots')"'"
}'
