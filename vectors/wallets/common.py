"""What the vectors of both wallets share: keys, base64, and writing the files."""
import base64
import json
import os
import sys

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

HERE = os.path.dirname(os.path.abspath(__file__))
# 2026-06-01 12:00:00 UTC, in seconds: when the tokens are signed and opened.
NOW = 1780315200
NUMBER = '4111111111111111'
CRYPTOGRAM = base64.b64encode(bytes(range(1, 21))).decode()


def b64(data):
    return base64.b64encode(data).decode()


def new_key(curve=ec.SECP256R1()):
    return ec.generate_private_key(curve)


def spki(key):
    return key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


def point(key, form=serialization.PublicFormat.UncompressedPoint):
    return key.public_key().public_bytes(serialization.Encoding.X962, form)


def pkcs8(key):
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


def sha256(data):
    digest = hashes.Hash(hashes.SHA256())
    digest.update(data)
    return digest.finalize()


def sign(key, data, algorithm=None):
    return key.sign(data, ec.ECDSA(algorithm or hashes.SHA256()))


def without(members, *names):
    return {name: value for name, value in members.items() if name not in names}


def write(name, document):
    with open(os.path.join(HERE, name), 'w') as file:
        json.dump(document, file, indent=2)
        file.write('\n')
    print(f"{name}: {len(document['vectors'])} vectors", file=sys.stderr)
