"""Verifies callbacks independently of the gateway, with Python's standard library, as a merchant would.

Without an argument it reads one callback per line from standard input; with one, a file of vectors. It prints every
deviation, and exits with code 1 if there is one.
"""
import base64
import hashlib
import hmac
import json
import sys
from urllib.parse import parse_qsl

HASHED = {
    's2s': ['trans_id', 'order_id', 'status'],
    'checkout': ['id', 'order_number', 'order_amount', 'order_currency', 'order_description'],
}


def wire_hash(values, password):
    text = ''.join(c.upper() if 'a' <= c <= 'z' else c for c in ''.join(values) + password)
    return hashlib.sha1(hashlib.md5(text.encode()).hexdigest().encode()).hexdigest()


def fields_of(body, content_type):
    if content_type.startswith('application/json'):
        return json.loads(body)
    return dict(parse_qsl(body, keep_blank_values=True, strict_parsing=True))


def hash_is_valid(fields, password):
    names = HASHED['s2s' if 'trans_id' in fields else 'checkout']
    right = wire_hash([fields.get(name, '') for name in names], password)
    return hmac.compare_digest(right, fields.get('hash', ''))


def signature_is_valid(headers, body, secret, now):
    if abs(now - int(headers['webhook-timestamp'])) > 300:
        return False
    key = base64.b64decode(secret.removeprefix('whsec_'))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{body}".encode()
    expected = 'v1,' + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return any(hmac.compare_digest(expected, each) for each in headers['webhook-signature'].split(' '))


def problems_of(vector):
    headers, body = vector['headers'], vector['body']
    fields = fields_of(body, headers['content-type'])
    found = {
        'fields': fields,
        'hash': wire_hash([fields.get(name, '') for name in vector['hashed']], vector['password']),
        'hash_is_valid': hash_is_valid(fields, vector['password']),
        'signature_is_valid': signature_is_valid(headers, body, vector['secret'], vector['now']),
    }
    for name, value in found.items():
        if name in vector and vector[name] != value:
            yield f"{vector['note']}: {name} should be {vector[name]}, but is {value}"


def main():
    if len(sys.argv) > 1:
        with open(sys.argv[1], encoding='utf-8') as file:
            vectors = json.load(file)
    else:
        vectors = [json.loads(line) for line in sys.stdin.buffer.read().decode().split('\n')]
    problems = [problem for vector in vectors for problem in problems_of(vector)]
    for problem in problems[:20]:
        print(problem)
    print(f'{len(vectors)} callbacks checked, {len(problems)} problems')
    sys.exit(1 if problems or not vectors else 0)


main()
