"""Makes wallet-a.json: tokens of wallet-a, good ones and one for each way to break a rule."""
import datetime
import json
import os
import subprocess
import tempfile

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.x509.oid import NameOID

from common import CRYPTOGRAM, NOW, NUMBER, b64, new_key, pkcs8, point, sha256, sign, spki, without, write

MERCHANT = 'merchant.example.shop'
LEAF_MARKER = '1.2.840.113635.100.6.29'
INTERMEDIATE_MARKER = '1.2.840.113635.100.6.2.14'
PARTY_V = '1.2.840.113635.100.6.32'


# --- certificates ---

def time(year):
    return datetime.datetime(year, 1, 1)


def certificate(name, key, issuer=None, issuer_key=None, markers=(), ca=False, years=(2020, 2050), extra=()):
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(time(years[0]))
        .not_valid_after(time(years[1]))
        .add_extension(x509.BasicConstraints(ca, None), critical=True)
        .add_extension(
            x509.KeyUsage(not ca, False, False, False, False, ca, ca, False, False), critical=True
        )
    )
    for marker in markers:
        builder = builder.add_extension(
            x509.UnrecognizedExtension(x509.ObjectIdentifier(marker), b'\x05\x00'), critical=False
        )
    for identifier, value in extra:
        builder = builder.add_extension(
            x509.UnrecognizedExtension(x509.ObjectIdentifier(identifier), value), critical=False
        )
    return builder.sign(issuer_key or key, hashes.SHA256())


def pem(cert):
    return cert.public_bytes(serialization.Encoding.PEM).decode()


def der(cert):
    return cert.public_bytes(serialization.Encoding.DER)


root_key, middle_key, leaf_key = new_key(ec.SECP384R1()), new_key(), new_key()
root = certificate('Vector Root', root_key, ca=True)
middle = certificate('Vector Intermediate', middle_key, root, root_key, [INTERMEDIATE_MARKER], ca=True)
leaf = certificate('Vector Leaf', leaf_key, middle, middle_key, [LEAF_MARKER])
other_root_key = new_key(ec.SECP384R1())
other_root = certificate('Vector Root', other_root_key, ca=True)
expired_root_key = new_key(ec.SECP384R1())
expired_root = certificate('Expired Root', expired_root_key, ca=True, years=(2010, 2026))


# --- CMS, encoded by hand ---

def tlv(tag, *parts):
    body = b''.join(parts)
    if len(body) < 128:
        return bytes([tag, len(body)]) + body
    length = len(body).to_bytes((len(body).bit_length() + 7) // 8, 'big')
    return bytes([tag, 0x80 | len(length)]) + length + body


def indefinite(tag, *parts):
    return bytes([tag, 0x80]) + b''.join(parts) + b'\0\0'


def oid(dotted):
    first, second, *rest = map(int, dotted.split('.'))
    out = bytearray([first * 40 + second])
    for number in rest:
        digits = [number & 127]
        while number := number >> 7:
            digits.append(number & 127 | 128)
        out += bytes(reversed(digits))
    return tlv(6, bytes(out))


DATA, SIGNED_DATA = oid('1.2.840.113549.1.7.1'), oid('1.2.840.113549.1.7.2')
CONTENT_TYPE, DIGEST, TIME = (oid(f'1.2.840.113549.1.9.{n}') for n in (3, 4, 5))
SHA_1, SHA_256 = oid('1.3.14.3.2.26'), oid('2.16.840.1.101.3.4.2.1')
SHA_384 = oid('2.16.840.1.101.3.4.2.2')
ECDSA_256, ECDSA_384 = oid('1.2.840.10045.4.3.2'), oid('1.2.840.10045.4.3.3')
RSA_256 = oid('1.2.840.113549.1.1.11')
ONE = tlv(2, b'\1')


def attribute(kind, value):
    return tlv(0x30, kind, tlv(0x31, value))


def utc_time(seconds, form='%y%m%d%H%M%SZ', tag=0x17):
    return tlv(tag, datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime(form).encode())


def signer_info(content, options):
    digest = options.get('digest', sha256(content))
    attributes = options.get('attributes') or [
        attribute(CONTENT_TYPE, options.get('signed_type', DATA)),
        attribute(TIME, options.get('time') or utc_time(NOW)),
        attribute(DIGEST, tlv(4, digest)),
    ]
    attributes = [one for one in attributes if one is not None]
    body = b''.join(sorted(attributes))
    key = options.get('key', leaf_key)
    signature = options.get('signature') or (
        key.sign(tlv(0x31, body), *options['sign_with'])
        if 'sign_with' in options
        else sign(key, tlv(0x31, body), options.get('sign_hash'))
    )
    if 'changed_after' in options:
        body = body.replace(*options['changed_after'])
    signer = x509.load_der_x509_certificate(der(options.get('signer', leaf)))
    return tlv(
        0x30,
        options.get('signer_version', ONE),
        tlv(0x30, options.get('issuer', signer.issuer.public_bytes()),
            options.get('serial') or tlv(2, integer(signer.serial_number))),
        tlv(0x30, options.get('digest_algorithm', SHA_256)),
        tlv(0xA0, body) if not options.get('no_attributes') else b'',
        tlv(0x30, options.get('signature_algorithm', ECDSA_256)),
        tlv(4, signature),
    )


def integer(number):
    return number.to_bytes(number.bit_length() // 8 + 1, 'big')


def cms(content, **options):
    wrap = tlv if options.get('definite') else indefinite
    attached = options.get('attached')
    signers = [signer_info(content, options)] * options.get('signers', 1)
    return wrap(
        0x30,
        options.get('outer_type', SIGNED_DATA),
        wrap(0xA0, wrap(
            0x30,
            options.get('version', ONE),
            tlv(0x31, *[tlv(0x30, one) for one in options.get('digest_algorithms', [SHA_256])]),
            wrap(0x30, options.get('inner_type', DATA), wrap(0xA0, tlv(4, attached)) if attached else b''),
            wrap(0xA0, *map(der, options.get('certificates', [leaf, middle]))),
            tlv(0x31, *signers),
        )),
    ) + options.get('trailing', b'')


def openssl_cms(content, **_):
    """The same by OpenSSL, whose signing time is the time of the machine."""
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        files = {'leaf.pem': pem(leaf), 'key.pem': pkcs8(leaf_key), 'middle.pem': pem(middle)}
        for name, text in files.items():
            with open(path(name), 'w') as file:
                file.write(text)
        with open(path('content'), 'wb') as file:
            file.write(content)
        return subprocess.run(
            ['openssl', 'cms', '-sign', '-binary', '-nosmimecap', '-md', 'sha256', '-outform', 'DER',
             '-in', path('content'), '-signer', path('leaf.pem'), '-inkey', path('key.pem'),
             '-certfile', path('middle.pem')],
            check=True, capture_output=True).stdout


# --- tokens ---

keys = [new_key(), new_key()]
PLAIN = {
    'applicationPrimaryAccountNumber': NUMBER,
    'applicationExpirationDate': '301231',
    'currencyCode': '840',
    'transactionAmount': 1999,
    'deviceManufacturerIdentifier': '040010030273',
    'paymentDataType': '3DSecure',
    'paymentData': {'onlinePaymentCryptogram': CRYPTOGRAM, 'eciIndicator': '5'},
}


def encrypt(plain, key, ephemeral, merchant=MERCHANT):
    secret = ephemeral.exchange(ec.ECDH(), key.public_key())
    derived = sha256(b'\0\0\0\1' + secret + b'\x0did-aes256-GCM' + b'Apple' + sha256(merchant.encode()))
    return AESGCM(derived).encrypt(bytes(16), plain, None)


def token(plain=PLAIN, key=keys[0], sign_cms=cms, merchant=MERCHANT, ephemeral_key=None, encrypted=None,
          application_data=b'', transaction_id=None, **options):
    ephemeral = new_key()
    text = plain if isinstance(plain, bytes) else json.dumps(plain).encode()
    data = encrypted if encrypted is not None else encrypt(text, key, ephemeral, merchant)
    ephemeral_bytes = ephemeral_key or spki(ephemeral)
    transaction = transaction_id or os.urandom(32)
    content = ephemeral_bytes + data + transaction + application_data
    header = {
        'publicKeyHash': b64(sha256(spki(key))),
        'ephemeralPublicKey': b64(ephemeral_bytes),
        'transactionId': transaction.hex(),
    }
    if application_data:
        header['applicationData'] = application_data.hex()
    return {
        'paymentData': {
            'version': 'EC_v1', 'data': b64(data), 'signature': b64(sign_cms(content, **options)), 'header': header,
        },
        'paymentMethod': {'displayName': 'Visa 1111', 'network': 'Visa', 'type': 'debit'},
        'transactionIdentifier': transaction.hex().upper(),
    }


def changed(value, *path, to):
    """A copy of a token in which one member has another value; None removes it."""
    copy = json.loads(json.dumps(value))
    parent = copy
    for name in path[:-1]:
        parent = parent[name]
    parent[path[-1]] = to(parent.get(path[-1])) if callable(to) else to
    if to is None:
        del parent[path[-1]]
    return copy


EXPECTED = {
    'number': NUMBER, 'month': '12', 'year': '2030', 'holder': '', 'network': 'visa', 'kind': 'CRYPTOGRAM_3DS',
    'cryptogram': CRYPTOGRAM, 'eci': '05', 'amount': '1999', 'currency': 'USD',
}
vectors = []


def good(name, value, expected=None, **more):
    vectors.append({'name': name, 'token': value, 'expected': {**EXPECTED, **(expected or {})}, **more})


def bad(rule, name, value, **more):
    vectors.append({'name': name, 'rule': rule, 'token': value, **more})


made_at = int(datetime.datetime.now().timestamp())
good('indefinite lengths', token())
good('definite lengths', token(definite=True))
good('signed by OpenSSL', token(sign_cms=openssl_cms), now=(made_at + 30) * 1000)
good('the intermediate certificate first', token(certificates=[middle, leaf]))
good('the second processing key', token(key=keys[1]))
good('application data', token(application_data=sha256(b'order-1001')))
good('a cardholder name', token({**PLAIN, 'cardholderName': 'Ada Lovelace'}), {'holder': 'Ada Lovelace'})
good('no indicator', token({**PLAIN, 'paymentData': {'onlinePaymentCryptogram': CRYPTOGRAM}}), {'eci': None})
good('a currency without decimals', token({**PLAIN, 'currencyCode': '392'}), {'currency': 'JPY'})
good('GeneralizedTime', token(time=utc_time(NOW, '%Y%m%d%H%M%SZ', 0x18)))
good('algorithms with NULL parameters', token(digest_algorithm=SHA_256 + b'\5\0', digest_algorithms=[SHA_256 + b'\5\0']))
good('no payment method', without(token(), 'paymentMethod'), {'network': ''})
good('an upper-case transaction id', changed(token(), 'paymentData', 'header', 'transactionId', to=str.upper))

base = token()
P, H = 'paymentData', 'header'
bad('version', 'EC_v2', changed(base, P, 'version', to='EC_v2'))
bad('version', 'RSA_v1', changed(base, P, 'version', to='RSA_v1'))
bad('version', 'lower case', changed(base, P, 'version', to='ec_v1'))
bad('shape', 'a number as version', changed(base, P, 'version', to=1))
bad('shape', 'no payment data', changed(base, P, to=None))
bad('shape', 'payment data as a list', changed(base, P, to=[]))
bad('shape', 'no header', changed(base, P, H, to=None))
for member in ('data', 'signature'):
    bad('shape', f'no {member}', changed(base, P, member, to=None))
    bad('shape', f'{member} with a space', changed(base, P, member, to=lambda text: text + ' '))
    bad('shape', f'{member} in base64url', changed(base, P, member, to=lambda text: '-_' + text[2:]))
for member in ('publicKeyHash', 'ephemeralPublicKey', 'transactionId'):
    bad('shape', f'no {member}', changed(base, P, H, member, to=None))
bad('shape', 'a transaction id that is not hexadecimal', changed(base, P, H, 'transactionId', to='xyz1'))
bad('shape', 'a transaction id with half a byte', changed(base, P, H, 'transactionId', to=lambda text: text + 'a'))
bad('shape', 'application data as a number', changed(base, P, H, 'applicationData', to=1))

bad('cms', 'not ASN.1', changed(base, P, 'signature', to=b64(b'signature')))
bad('cms', 'a truncated structure', changed(base, P, 'signature', to=lambda text: text[:1000]))
bad('cms', 'trailing bytes', token(trailing=b'\0'))
bad('cms', 'trailing end of contents', token(trailing=b'\0\0'))
bad('cms', 'another outer type', token(outer_type=oid('1.2.840.113549.1.7.3')))
bad('cms', 'version 3', token(version=tlv(2, b'\3')))
bad('cms', 'no signed attributes', token(no_attributes=True))
bad('cms', 'no signing time', token(attributes=[
    attribute(CONTENT_TYPE, DATA), attribute(DIGEST, tlv(4, bytes(32)))]))
bad('cms', 'two signing times', token(attributes=[
    attribute(CONTENT_TYPE, DATA), attribute(DIGEST, tlv(4, bytes(32))),
    attribute(TIME, utc_time(NOW)), attribute(TIME, utc_time(NOW + 1))]))
bad('cms', 'a signing time with two values', token(attributes=[
    attribute(CONTENT_TYPE, DATA), attribute(DIGEST, tlv(4, bytes(32))),
    attribute(TIME, utc_time(NOW) + utc_time(NOW))]))
bad('cms', 'no digest', token(attributes=[attribute(CONTENT_TYPE, DATA), attribute(TIME, utc_time(NOW))]))
bad('cms', 'a signing time that is a text', token(time=tlv(12, b'260601120000Z')))
bad('contentType', 'another content type', token(inner_type=SIGNED_DATA))
bad('contentType', 'another signed content type', token(signed_type=SIGNED_DATA))
bad('attachedContent', 'the content attached', token(attached=b'content'))
bad('attachedContent', 'the content attached, definite lengths', token(attached=b'content', definite=True))
bad('signers', 'no signer', token(signers=0))
bad('signers', 'two signers', token(signers=2))
bad('signers', 'a signer of version 3', token(signer_version=tlv(2, b'\3')))
bad('signers', 'another serial number', token(serial=tlv(2, b'\1')))
bad('signers', 'another issuer', token(issuer=root.subject.public_bytes()))
bad('signers', 'the intermediate certificate as signer', token(signer=middle, key=keys[0]))
bad('certificates', 'no certificates', token(certificates=[]))
bad('certificates', 'only the leaf', token(certificates=[leaf]))
bad('certificates', 'the root too', token(certificates=[leaf, middle, root]))
bad('certificates', 'the leaf twice', token(certificates=[leaf, leaf]))


def signed_by(name, rule, leaf_options=None, middle_options=None, **options):
    """A token whose own certificates differ from good ones in one way."""
    middle_settings = {
        'issuer': root, 'issuer_key': root_key, 'markers': [INTERMEDIATE_MARKER], 'ca': True, **(middle_options or {})
    }
    own_middle = certificate('Vector Intermediate', middle_key, **middle_settings)
    leaf_settings = {
        'issuer': own_middle, 'issuer_key': middle_key, 'markers': [LEAF_MARKER], **(leaf_options or {})
    }
    own_key = leaf_settings.pop('key', leaf_key)
    own_leaf = certificate('Vector Leaf', own_key, **leaf_settings)
    value = token(certificates=[own_leaf, own_middle], signer=own_leaf, **{'sign_cms': cms, **options})
    (good(name, value) if rule is None else bad(rule, name, value))


signed_by('own certificates', None)
signed_by('a leaf without its marker', 'certificates', {'markers': []})
signed_by('a leaf with both markers', 'certificates', {'markers': [LEAF_MARKER, INTERMEDIATE_MARKER]})
signed_by('an intermediate certificate without its marker', 'certificates', None, {'markers': []})
signed_by('an intermediate certificate with both markers', 'certificates', None,
          {'markers': [LEAF_MARKER, INTERMEDIATE_MARKER]})
signed_by('an expired leaf', 'chain', {'years': (2020, 2026)})
signed_by('a leaf of the future', 'chain', {'years': (2027, 2050)})
signed_by('an expired intermediate certificate', 'chain', None, {'years': (2020, 2026)})
signed_by('an intermediate certificate of the future', 'chain', None, {'years': (2027, 2050)})
signed_by('an intermediate certificate that is not an authority', 'chain', None, {'ca': False})
signed_by('a leaf that is an authority', 'chain', {'ca': True})
signed_by('another root of the same name', 'chain', None, {'issuer': other_root, 'issuer_key': other_root_key})
signed_by('an expired root', 'chain', None, {'issuer': expired_root, 'issuer_key': expired_root_key})
signed_by('a self-signed intermediate certificate', 'chain', None, {'issuer': None, 'issuer_key': None})
signed_by('a leaf signed by another key', 'chain', {'issuer_key': new_key()})
signed_by('a leaf issued by the root', 'chain', {'issuer': root, 'issuer_key': root_key})
rsa_key = rsa.generate_private_key(65537, 2048)
from cryptography.hazmat.primitives.asymmetric import padding  # noqa: E402
signed_by('an RSA leaf', 'signatureAlgorithm', {'key': rsa_key}, None, sign_cms=lambda content, **options: cms(
    content, **{**options, 'key': rsa_key, 'sign_with': (padding.PKCS1v15(), hashes.SHA256())}))
signed_by('an RSA leaf and algorithm', 'signatureAlgorithm', {'key': rsa_key}, None,
          sign_cms=lambda content, **options: cms(content, **{
              **options, 'key': rsa_key, 'sign_with': (padding.PKCS1v15(), hashes.SHA256()),
              'signature_algorithm': RSA_256}))
p384_key = new_key(ec.SECP384R1())
signed_by('a leaf of P-384', 'signatureAlgorithm', {'key': p384_key}, None,
          sign_cms=lambda content, **options: cms(content, **{**options, 'key': p384_key}))

bad('digestAlgorithm', 'SHA-384 as digest', token(digest_algorithm=SHA_384, digest_algorithms=[SHA_384]))
bad('digestAlgorithm', 'SHA-1 in the list of digests', token(digest_algorithms=[SHA_1]))
bad('digestAlgorithm', 'two digests', token(digest_algorithms=[SHA_256, SHA_1]))
bad('digestAlgorithm', 'SHA-384 of the signer', token(digest_algorithm=SHA_384))
bad('signatureAlgorithm', 'ECDSA with SHA-384', token(signature_algorithm=ECDSA_384, sign_hash=hashes.SHA384()))

other = token()
for member in ('data', 'signature'):
    bad('messageDigest', f'the {member} of another token', changed(base, P, member, to=other[P][member]))
for member in ('ephemeralPublicKey', 'transactionId'):
    bad('messageDigest', f'the {member} of another token', changed(base, P, H, member, to=other[P][H][member]))
bad('messageDigest', 'application data added', changed(base, P, H, 'applicationData', to=sha256(b'').hex()))
with_data = token(application_data=sha256(b'order-1001'))
bad('messageDigest', 'application data removed', changed(with_data, P, H, 'applicationData', to=None))
bad('messageDigest', 'a signed digest of something else', token(digest=bytes(32)))
bad('messageDigest', 'a short digest', token(digest=b''))
bad('signature', 'signed by another key', token(sign_cms=lambda content, **o: cms(content, **{**o, 'key': new_key()})))
bad('signature', 'the signing time changed afterwards', token(changed_after=(b'260601120000Z', b'260601120001Z')))
bad('signature', 'a signature that is not DER', token(signature=b'\x30\x00'))
bad('signature', 'SHA-384 under the name of SHA-256', token(sign_hash=hashes.SHA384()))

bad('age', 'signed five minutes ago', token(time=utc_time(NOW - 300)))
good('signed 299 seconds ago', token(time=utc_time(NOW - 299)))
bad('age', 'signed years ago', token(time=utc_time(NOW - 86400 * 2000)))
bad('future', 'signed in 61 seconds', token(time=utc_time(NOW + 61)))
good('signed in 60 seconds', token(time=utc_time(NOW + 60)))

bad('processingKey', 'the hash of another key', token(key=new_key()))
bad('processingKey', 'a hash that is not one', changed(base, P, H, 'publicKeyHash', to='AAAA'))
bad('decryption', 'the hash of the second key', changed(base, P, H, 'publicKeyHash', to=b64(sha256(spki(keys[1])))))
off_curve = bytearray(spki(new_key()))
off_curve[-1] ^= 1
bad('ephemeralKey', 'a point that is not on the curve', token(ephemeral_key=bytes(off_curve)))
bad('ephemeralKey', 'a key of P-384', token(ephemeral_key=spki(new_key(ec.SECP384R1()))))
bad('ephemeralKey', 'an RSA key', token(ephemeral_key=spki(rsa_key)))
bad('ephemeralKey', 'bytes after the key', token(ephemeral_key=spki(new_key()) + b'\0'))
compressed = new_key()
bad('ephemeralKey', 'a compressed point', token(ephemeral_key=spki(compressed)[:1] + bytes([0x39]) + spki(
    compressed)[2:23] + b'\x03\x22\0' + point(compressed, serialization.PublicFormat.CompressedPoint)))
bad('ephemeralKey', 'the point at infinity', token(
    ephemeral_key=spki(compressed)[:1] + bytes([0x19]) + spki(compressed)[2:23] + b'\x03\x02\0\0'))
bad('decryption', 'another merchant', token(merchant='merchant.example.other'))
bad('decryption', 'another ephemeral key', token(ephemeral_key=spki(new_key())))
bad('decryption', 'a short ciphertext', token(encrypted=bytes(16)))
bad('decryption', 'zeros', token(encrypted=bytes(200)))

for name, plain in {
    'not JSON': b'plaintext',
    'a list': b'[]',
    'no number': without(PLAIN, 'applicationPrimaryAccountNumber'),
    'a number with a wrong check digit': {**PLAIN, 'applicationPrimaryAccountNumber': '4111111111111112'},
    'a number with a letter': {**PLAIN, 'applicationPrimaryAccountNumber': '411111111111111x'},
    'no expiry': without(PLAIN, 'applicationExpirationDate'),
    'month 13': {**PLAIN, 'applicationExpirationDate': '301331'},
    'month 0': {**PLAIN, 'applicationExpirationDate': '300031'},
    'an expiry with four digits': {**PLAIN, 'applicationExpirationDate': '3012'},
    'no amount': without(PLAIN, 'transactionAmount'),
    'a fraction as amount': {**PLAIN, 'transactionAmount': 19.99},
    'a text as amount': {**PLAIN, 'transactionAmount': '1999'},
    'a negative amount': {**PLAIN, 'transactionAmount': -1},
    'an imprecise amount': {**PLAIN, 'transactionAmount': 2 ** 60},
    'no currency': without(PLAIN, 'currencyCode'),
    'an unknown currency': {**PLAIN, 'currencyCode': '000'},
    'an alphabetic currency': {**PLAIN, 'currencyCode': 'USD'},
    'the type EMV': {**PLAIN, 'paymentDataType': 'EMV', 'paymentData': {'emvData': 'AAAA'}},
    'no cryptogram': {**PLAIN, 'paymentData': {'eciIndicator': '5'}},
    'an empty cryptogram': {**PLAIN, 'paymentData': {'onlinePaymentCryptogram': ''}},
    'no payment data': without(PLAIN, 'paymentData'),
    'an indicator with letters': {**PLAIN, 'paymentData': {'onlinePaymentCryptogram': CRYPTOGRAM, 'eciIndicator': 'x'}},
}.items():
    bad('content', name, token(plain))

party_v = sha256(MERCHANT.encode()).hex().upper().encode()
processing = certificate('Processing', keys[0], middle, middle_key, extra=[(PARTY_V, tlv(12, party_v))])
write('wallet-a.json', {
    'now': NOW * 1000,
    'merchantIdentifier': MERCHANT,
    'applicationData': 'order-1001',
    'roots': [pem(root), pem(expired_root)],
    'otherRoot': pem(other_root),
    'processingKeys': [pkcs8(key) for key in keys],
    'processingCertificate': pem(processing),
    'vectors': vectors,
})
