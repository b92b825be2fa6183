"""Makes wallet-b.json: tokens of wallet-b, good ones and one for each way to break a rule."""
import json

from cryptography.hazmat.primitives import hashes, hmac, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from common import CRYPTOGRAM, NOW, NUMBER, b64, new_key, pkcs8, point, sign, spki, without, write

RECIPIENT = 'gateway:turnpike'
MERCHANT = 'client-key-1'
DAY = 86400_000
now = NOW * 1000
keys = [new_key(), new_key()]

# Root signing keys by what they are; the environment TEST trusts all of them, PRODUCTION only one.
ROOTS = {
    'first': ('ECv2', now + DAY),
    'second': ('ECv2', now + 9 * DAY),
    'expired': ('ECv2', now),
    'without expiry': ('ECv2', None),
    'ECv1': ('ECv1', None),
    'ECv1 with expiry': ('ECv1', now + DAY),
    'expired ECv1': ('ECv1', now - 1),
    'signing only': ('ECv2SigningOnly', now + DAY),
}
roots = {name: new_key() for name in [*ROOTS, 'production', 'unknown']}


def published(name, version, expiry):
    entry = {'keyValue': b64(spki(roots[name])), 'protocolVersion': version}
    return entry if expiry is None else {**entry, 'keyExpiration': str(expiry)}


def lengths(*texts):
    return b''.join(len(text.encode()).to_bytes(4, 'little') + text.encode() for text in texts)


def compact(value):
    # The wallet escapes the equals sign, and the signatures cover the escape.
    return json.dumps(value, separators=(',', ':')).replace('=', '\\u003d')


DETAILS = {
    'pan': NUMBER, 'expirationMonth': 12, 'expirationYear': 2030,
    'authMethod': 'CRYPTOGRAM_3DS', 'cryptogram': CRYPTOGRAM, 'eciIndicator': '05',
}
PLAIN = {
    'messageExpiration': str(now + DAY), 'messageId': 'AH2Ejt-message-1', 'gatewayMerchantId': MERCHANT,
    'paymentMethod': 'CARD', 'paymentMethodDetails': DETAILS,
}
TOKENIZED = {
    **PLAIN, 'paymentMethod': 'TOKENIZED_CARD', 'paymentMethodDetails': {
        'dpan': NUMBER, 'expirationMonth': 12, 'expirationYear': 2030, 'authMethod': '3DS',
        '3dsCryptogram': CRYPTOGRAM, '3dsEciIndicator': '05',
    },
}


def encrypt(plain, version, key, point_bytes=None, sender='Google', tag=None):
    ephemeral = new_key()
    public = point(ephemeral)
    size = {'ECv1': 16}.get(version, 32)
    derived = HKDF(hashes.SHA256(), 2 * size, None, sender.encode()).derive(
        public + ephemeral.exchange(ec.ECDH(), key.public_key()))
    encryptor = Cipher(algorithms.AES(derived[:size]), modes.CTR(bytes(16))).encryptor()
    encrypted = encryptor.update(plain) + encryptor.finalize()
    mac = hmac.HMAC(derived[size:], hashes.SHA256())
    mac.update(encrypted)
    right = mac.finalize()
    return {
        'encryptedMessage': b64(encrypted),
        'ephemeralPublicKey': b64(point_bytes if point_bytes is not None else public),
        'tag': b64(tag(right) if tag else right),
    }


def token(plain=PLAIN, version='ECv2', key=keys[0], root=None, recipient=RECIPIENT, sender='Google', key_sender='Google',
          signer=None, key_expiry=now + DAY, intermediate=None, key_value=None, signed_version=None, key_version='ECv2',
          message=None, change_message=None, signed_key=None, **options):
    text = plain if isinstance(plain, bytes) else compact(plain).encode()
    signed_message = message or compact(encrypt(text, version, key, **options))
    signed = lengths(sender, recipient, signed_version or version, signed_message)
    members = {'protocolVersion': version, 'signedMessage': change_message or signed_message}
    if version == 'ECv1':
        return {**members, 'signature': b64(sign(signer or roots[root or 'ECv1'], signed))}
    intermediate = intermediate or new_key()
    content = signed_key or compact({'keyValue': key_value or b64(spki(intermediate)), 'keyExpiration': str(key_expiry)})
    signatures = [b64(sign(roots[name], lengths(key_sender, key_version, content)))
                  for name in (root if isinstance(root, list) else [root or 'first'])]
    try:
        signature = sign(signer or intermediate, signed)
    except TypeError:
        signature = b''
    return {
        **members, 'signature': b64(signature),
        'intermediateSigningKey': {'signedKey': content, 'signatures': signatures},
    }


def payment_data(inner):
    return {
        'apiVersion': 2, 'apiVersionMinor': 0,
        'paymentMethodData': {
            'type': 'CARD', 'description': 'Visa 1111',
            'info': {'cardNetwork': 'VISA', 'cardDetails': '1111'},
            'tokenizationData': {'type': 'PAYMENT_GATEWAY', 'token': inner},
        },
    }


EXPECTED = {
    'number': NUMBER, 'month': '12', 'year': '2030', 'holder': '', 'network': 'visa', 'kind': 'CRYPTOGRAM_3DS',
    'cryptogram': CRYPTOGRAM, 'eci': '05', 'replayKey': 'AH2Ejt-message-1', 'validUntil': now + DAY,
}
PAN_ONLY = {'kind': 'PAN_ONLY', 'cryptogram': None, 'eci': None}
vectors = []


def good(name, inner, expected=None, **more):
    value = inner if isinstance(inner, dict) and 'paymentMethodData' in inner else payment_data(json.dumps(inner))
    vectors.append({'name': name, 'token': value, 'expected': {**EXPECTED, **(expected or {})}, **more})


def bad(rule, name, inner, **more):
    value = inner if isinstance(inner, dict) and 'paymentMethodData' in inner else payment_data(json.dumps(inner))
    vectors.append({'name': name, 'rule': rule, 'token': value, **more})


def details(**changes):
    changed = {name: value for name, value in {**DETAILS, **changes}.items() if value is not None}
    return {**PLAIN, 'paymentMethodDetails': changed}


base = token()
good('ECv2 with a cryptogram', base)
good('ECv2 with the real number', token(details(authMethod='PAN_ONLY', cryptogram=None, eciIndicator=None)), PAN_ONLY)
good('ECv1 with a cryptogram', token(TOKENIZED, 'ECv1'))
good('ECv1 with the real number', token(details(authMethod=None, cryptogram=None, eciIndicator=None), 'ECv1'), PAN_ONLY)
good('ECv1 in the form of ECv2', token(version='ECv1'))
good('ECv1 under a root key with expiry', token(version='ECv1', root='ECv1 with expiry'))
good('the token as an object', payment_data(base))
good('the members in another order', dict(reversed(base.items())))
good('the second private key', token(key=keys[1]))
good('the second root key', token(root='second'))
good('several signatures, one good', token(root=['unknown', 'expired', 'first']))
good('the production environment', token(root='production'), environment='PRODUCTION')
good('another recipient, not in ASCII', token(recipient='gateway:türnpike'), recipient='gateway:türnpike')
good('month and year as text', token(details(expirationMonth='12', expirationYear='2030')))
good('no indicator', token(details(eciIndicator=None)), {'eci': None})
good('no information about the card', {'paymentMethodData': {'tokenizationData': {'token': base}}}, {'network': ''})
good('signedMessage with its members in another order', token(
    message=compact(dict(reversed(encrypt(compact(PLAIN).encode(), 'ECv2', keys[0]).items())))))

bad('version', 'ECv3', {**base, 'protocolVersion': 'ECv3'})
bad('version', 'lower case', {**base, 'protocolVersion': 'ecv2'})
bad('version', 'signing only', token(version='ECv2SigningOnly', key_version='ECv2SigningOnly', root='signing only'))
bad('shape', 'a number as version', {**base, 'protocolVersion': 2})
for member in base:
    bad('shape', f'no {member}', without(base, member))
    bad('shape', f'null as {member}', {**base, member: None})
bad('shape', 'another member', {**base, 'more': 1})
bad('shape', 'no token', payment_data(None))
bad('shape', 'a token that is not JSON', payment_data('{'))
bad('shape', 'no payment method data', {'paymentMethodData': None})
bad('shape', 'signedMessage as an object', {**base, 'signedMessage': json.loads(base['signedMessage'])})
bad('shape', 'ECv1 with an intermediate key', {**token(version='ECv1'), 'intermediateSigningKey': base['intermediateSigningKey']})
bad('shape', 'ECv2 without an intermediate key', {**token(version='ECv1'), 'protocolVersion': 'ECv2'})
middle = base['intermediateSigningKey']
bad('shape', 'another member of the intermediate key', {**base, 'intermediateSigningKey': {**middle, 'more': 1}})
bad('shape', 'no signedKey', {**base, 'intermediateSigningKey': without(middle, 'signedKey')})
bad('shape', 'no signatures', {**base, 'intermediateSigningKey': without(middle, 'signatures')})
bad('shape', 'an empty list of signatures', {**base, 'intermediateSigningKey': {**middle, 'signatures': []}})
bad('shape', 'a signature that is not base64', {**base, 'signature': base['signature'][:-4] + '.' * 4})
bad('shape', 'a signature of the key that is not base64', {**base, 'intermediateSigningKey': {**middle, 'signatures': ['?']}})
bad('shape', 'seventeen signatures', {**base, 'intermediateSigningKey': {**middle, 'signatures': middle['signatures'] * 17}})
bad('shape', 'a signed key without its value', token(signed_key=compact({'keyExpiration': str(now + DAY)})))
bad('shape', 'a signed key without expiry', token(signed_key=compact({'keyValue': b64(spki(new_key()))})))
bad('shape', 'a signed key that is not JSON', token(signed_key='key'))
sealed = encrypt(compact(PLAIN).encode(), 'ECv2', keys[0])
bad('shape', 'a message that is not JSON', token(message='message'))
bad('shape', 'another member of the message', token(message=compact({**sealed, 'more': 1})))
for member in sealed:
    bad('shape', f'a message without {member}', token(message=compact(without(sealed, member))))
    bad('shape', f'a message whose {member} is not base64', token(message=compact({**sealed, member: '?'})))

bad('rootKey', 'an unknown root key', token(root='unknown'))
bad('rootKey', 'an expired root key', token(root='expired'))
bad('rootKey', 'a root key without expiry', token(root='without expiry'))
bad('rootKey', 'a root key of ECv1', token(root='ECv1 with expiry'))
bad('rootKey', 'a root key for signing only', token(root='signing only'))
bad('rootKey', 'another sender of the key', token(key_sender='Goggle'))
bad('rootKey', 'a key signed for another version', token(key_version='ECv1'))
bad('rootKey', 'another signed key', {**base, 'intermediateSigningKey': {
    **middle, 'signedKey': token()['intermediateSigningKey']['signedKey']}})
bad('rootKey', 'a signed key written again', {**base, 'intermediateSigningKey': {
    **middle, 'signedKey': json.dumps(json.loads(middle['signedKey']))}})
bad('rootKey', 'a token of the test environment in production', base, environment='PRODUCTION')
bad('rootKey', 'a token of production in the test environment', token(root='production'))
bad('rootKey', 'ECv1 of the test environment in production', token(version='ECv1'), environment='PRODUCTION')
bad('rootKey', 'ECv1 under an unknown root key', token(version='ECv1', root='unknown'))
bad('rootKey', 'ECv1 under a root key of ECv2', token(version='ECv1', root='first'))
bad('rootKey', 'ECv1 under an expired root key', token(version='ECv1', root='expired ECv1'))
bad('rootKey', 'ECv1 for another recipient', token(version='ECv1', recipient='gateway:other'))
bad('rootKey', 'ECv1 of another sender', token(version='ECv1', sender='Goggle'))
bad('rootKey', 'ECv1 with another message', token(version='ECv1', change_message=token(version='ECv1')['signedMessage']))
bad('rootKey', 'ECv1 signed as ECv2', token(version='ECv1', signed_version='ECv2'))
bad('intermediateKey', 'an intermediate key that expires now', token(key_expiry=now))
bad('intermediateKey', 'an expired intermediate key', token(key_expiry=now - DAY))
bad('intermediateKey', 'an intermediate key of P-384', token(intermediate=new_key(ec.SECP384R1())))
bad('intermediateKey', 'an intermediate key that is not one', token(key_value='AAAA'))
bad('signature', 'another message', {**base, 'signedMessage': token()['signedMessage']})
bad('signature', 'the message written again', {**base, 'signedMessage': json.dumps(json.loads(base['signedMessage']))})
bad('signature', 'another recipient', token(recipient='gateway:other'))
bad('signature', 'the recipient without its prefix', token(recipient='turnpike'))
bad('signature', 'another sender', token(sender='Goggle'))
bad('signature', 'signed by another key', token(signer=new_key()))
bad('signature', 'signed by the root key', token(signer=roots['first']))
bad('signature', 'signed as ECv1', token(signed_version='ECv1'))
bad('signature', 'a signature that is not DER', {**base, 'signature': 'AAAA'})

off_curve = bytearray(point(new_key()))
off_curve[-1] ^= 1
for version in ('ECv1', 'ECv2'):
    bad('ephemeralKey', f'{version}: a point that is not on the curve', token(version=version, point_bytes=bytes(off_curve)))
    bad('ephemeralKey', f'{version}: a compressed point', token(
        version=version, point_bytes=point(new_key(), serialization.PublicFormat.CompressedPoint)))
    bad('ephemeralKey', f'{version}: a hybrid point', token(version=version, point_bytes=b'\6' + point(new_key())[1:]))
    bad('ephemeralKey', f'{version}: zeros', token(version=version, point_bytes=b'\4' + bytes(64)))
    bad('ephemeralKey', f'{version}: a point of P-384', token(version=version, point_bytes=point(new_key(ec.SECP384R1()))))
    bad('ephemeralKey', f'{version}: the point at infinity', token(version=version, point_bytes=b'\0'))
    bad('decryption', f'{version}: another ephemeral key', token(version=version, point_bytes=point(new_key())))
    bad('decryption', f'{version}: another private key', token(version=version, key=new_key()))
    bad('decryption', f'{version}: another tag', token(version=version, tag=lambda _: bytes(32)))
    bad('decryption', f'{version}: a short tag', token(version=version, tag=lambda tag: tag[:16]))
    bad('decryption', f'{version}: a long tag', token(version=version, tag=lambda tag: tag + b'\0'))
    bad('merchant', f'{version}: another merchant', token({**PLAIN, 'gatewayMerchantId': 'client-key-2'}, version))
bad('decryption', 'keys derived for another sender', token(message=compact(
    encrypt(compact(PLAIN).encode(), 'ECv2', keys[0], sender='Goggle'))))
bad('decryption', 'keys derived as in ECv1', token(message=compact(encrypt(compact(PLAIN).encode(), 'ECv1', keys[0]))))

bad('merchant', 'no merchant', token(without(PLAIN, 'gatewayMerchantId')))
bad('age', 'a message that expires now', token({**PLAIN, 'messageExpiration': str(now)}))
bad('age', 'an expired message', token({**PLAIN, 'messageExpiration': str(now - DAY)}))
for name, plain in {
    'not JSON': b'plaintext',
    'a list': b'[]',
    'no expiry': without(PLAIN, 'messageExpiration'),
    'an expiry as a number': {**PLAIN, 'messageExpiration': now + DAY},
    'an expiry with a sign': {**PLAIN, 'messageExpiration': f'+{now + DAY}'},
    'no message id': without(PLAIN, 'messageId'),
    'an empty message id': {**PLAIN, 'messageId': ''},
    'another payment method': {**PLAIN, 'paymentMethod': 'BANK'},
    'no details': without(PLAIN, 'paymentMethodDetails'),
    'no card number': details(pan=None),
    'a card number with a wrong check digit': details(pan='4111111111111112'),
    'a card number as a number': details(pan=int(NUMBER)),
    'month 13': details(expirationMonth=13),
    'a fraction as month': details(expirationMonth=1.5),
    'a list as month': details(expirationMonth=[12]),
    'no year': details(expirationYear=None),
    'a year with two digits': details(expirationYear=30),
    'another method': details(authMethod='PASSWORD'),
    'a cryptogram method without cryptogram': details(cryptogram=None),
    'an indicator with letters': details(eciIndicator='ab'),
    'a device number with another method': {**TOKENIZED, 'paymentMethodDetails': {
        **TOKENIZED['paymentMethodDetails'], 'authMethod': 'PAN_ONLY'}},
}.items():
    bad('content', name, token(plain))

write('wallet-b.json', {
    'now': now,
    'recipient': RECIPIENT,
    'gatewayMerchantId': MERCHANT,
    'privateKeys': [pkcs8(key) for key in keys],
    'roots': {
        'TEST': {'keys': [published(name, *entry) for name, entry in ROOTS.items()]},
        'PRODUCTION': {'keys': [published('production', 'ECv2', now + DAY)]},
    },
    'vectors': vectors,
})
