# Opens a Checkout session and prints the address of its payment page.
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


number = sys.argv[1] if len(sys.argv) > 1 else "order-1"
session = send("session", {
    "operation": "purchase",
    "order": {"number": number, "amount": "19.99", "currency": "USD", "description": "Two teapots"},
    "success_url": "https://example.com/thanks",
    "hash": sign(number, "19.99", "USD", "Two teapots"),
})
print(session["redirect_url"])
