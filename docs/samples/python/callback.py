# Verifies a callback. Arguments: its three headers; standard input: the raw body.
import base64, hashlib, hmac, os, sys, time

KEY = base64.b64decode(os.environ["TURNPIKE_CALLBACK_SECRET"].removeprefix("whsec_"))


def is_signed(webhook_id, timestamp, signatures, body):
    text = f"{webhook_id}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(KEY, text, hashlib.sha256).digest()).decode()
    is_new = timestamp.isdecimal() and abs(time.time() - int(timestamp)) <= 300
    return is_new and any(hmac.compare_digest(expected.encode(), one.encode()) for one in signatures.split(" "))


is_valid = is_signed(*sys.argv[1:4], sys.stdin.buffer.read())
print("valid" if is_valid else "invalid")
sys.exit(not is_valid)
