# Queries the status of an order.
import hashlib, json, os, re, sys, urllib.request

URL = os.environ.get("TURNPIKE_URL", "http://127.0.0.1:8080")
MERCHANT_KEY = os.environ.get("TURNPIKE_MERCHANT_KEY", "YOUR_MERCHANT_KEY")
PASSWORD = os.environ["TURNPIKE_PASSWORD"]


def sign(*values):
    # Only the letters a to z are converted, so that every language computes the same hash.
    text = re.sub("[a-z]+", lambda letters: letters[0].upper(), "".join(values) + PASSWORD)
    return hashlib.sha1(hashlib.md5(text.encode()).hexdigest().encode()).hexdigest()


def send(path, fields):
    body = json.dumps({"merchant_key": MERCHANT_KEY, **fields}).encode()
    request = urllib.request.Request(f"{URL}/api/v1/{path}", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as response:  # raises HTTPError for a refusal
        return json.load(response)


order_id = sys.argv[1] if len(sys.argv) > 1 else "order-1"
print(send("payment/status", {"order_id": order_id, "hash": sign(order_id)})["status"])
