"""Computes recipes.json: hashes of every kind of request and callback in every recipe, with Python's standard library.

    python3 vectors/recipes.py > vectors/recipes.json
"""
import hashlib
import json

PASSWORD = '9d2a6f0c4b7e81355af0c6d2e8b41790'
MIXED_PASSWORD = 'Secret123'

BASE = {
    'identifier': 'success@example.com',
    'order_id': 'order-1001',
    'order_amount': '19.99',
    'order_currency': 'USD',
    'order_description': 'Two teapots',
    'payer_email': 'ana@example.com',
    'card': '4111111111',
    'trans_id': '01990000-0000-7000-8000-0123456789ab',
    'schedule_id': '01990000-0000-7000-8000-00000000cafe',
}
TOKEN = {**BASE, 'card': 'c0ffee11c0ffee22c0ffee33c0ffee44c0ffee55c0ffee66'}
FOREIGN = {**BASE, 'order_id': 'straße-ñ-ǆ', 'payer_email': 'jürgen.straße@exämple.com', 'identifier': 'čigra@example.com'}

# What each request signs as specified, and in the recipe reversed_md5 for card payments and for others.
# A part is (values, whether it is reversed).
CARD_SALE = [(['payer_email'], True), (['password'], False), (['card'], True)]
CARD_OPERATION = [(['payer_email'], True), (['password', 'trans_id'], False), (['card'], True)]
REQUESTS = {
    'SALE': {
        'specified': {'card': ['order_id', 'order_amount', 'order_currency'],
                      'apm': ['identifier', 'order_id', 'order_amount', 'order_currency']},
        'reversed_md5': {'card': CARD_SALE,
                         'apm': [(['identifier', 'order_id', 'order_amount', 'order_currency', 'password'], True)]},
    },
    'AUTH': {'specified': {'card': ['order_id', 'order_amount', 'order_currency']}, 'reversed_md5': {'card': CARD_SALE}},
    'CREDIT2CARD': {'specified': {'card': ['order_id', 'order_amount', 'order_currency', 'order_description']},
                    'reversed_md5': {'card': [(['password'], False), (['card'], True)]}},
    'CREATE_SCHEDULE': {'specified': {'card': []}, 'reversed_md5': {'card': [(['password'], True)]}},
}
for action in ('GET_TRANS_STATUS', 'GET_TRANS_DETAILS', 'CAPTURE', 'VOID', 'CREDITVOID'):
    REQUESTS[action] = {'specified': {'card': ['trans_id'], 'apm': ['trans_id']},
                        'reversed_md5': {'card': CARD_OPERATION, 'apm': [(['trans_id', 'password'], True)]}}
for action in ('GET_TRANS_STATUS_BY_ORDER', 'RECURRING_SALE'):
    REQUESTS[action] = {'specified': {'card': ['order_id'], 'apm': ['order_id']},
                        'reversed_md5': {'card': CARD_SALE, 'apm': [(['order_id', 'password'], True)]}}
for action in ('UPDATE_SCHEDULE', 'DELETE_SCHEDULE'):
    REQUESTS[action] = {'specified': {'card': ['schedule_id']},
                        'reversed_md5': {'card': [(['schedule_id', 'password'], True)]}}


def ascii_upper(text):
    return ''.join(c.upper() if 'a' <= c <= 'z' else c for c in text)


def simple_upper(text):
    return ''.join(c.upper() if len(c.upper()) == 1 else c for c in text)


UPPER = {'ascii': ascii_upper, 'unicode': str.upper, 'simple': simple_upper}


def digest_of(data, digest):
    return hashlib.new(digest, data).hexdigest()


def specified(values, names, password, digest, letters='ascii'):
    text = UPPER[letters](''.join(values[name] for name in names) + password)
    return hashlib.sha1(digest_of(text.encode(), digest).encode()).hexdigest()


def reversed_hash(parts, values, password, digest, by='bytes', letters='ascii'):
    values = {**values, 'password': password}
    data = b''
    for names, is_reversed in parts:
        text = ''.join(values[name] for name in names)
        if by == 'bytes':
            part = ascii_upper(text).encode()
            data += part[::-1] if is_reversed else part
        else:
            data += UPPER[letters](text[::-1] if is_reversed else text).encode()
    return digest_of(data, digest)


def vectors():
    for action, recipes in REQUESTS.items():
        for recipe, payments in recipes.items():
            for payment, names in payments.items():
                for digest in ('md5', 'sha256'):
                    make = specified if recipe == 'specified' else reversed_hash
                    for values, note in ((BASE, 'ASCII'), (FOREIGN, 'letters beyond ASCII')):
                        for password in (PASSWORD, MIXED_PASSWORD):
                            hash_ = make(values, names, password, digest) if recipe == 'specified' else \
                                make(names, values, password, digest)
                            yield {'request': action, 'payment': payment, 'recipe': recipe, 'digest': digest,
                                   'values': values, 'password': password, 'hash': hash_, 'note': note}
                    if recipe == 'reversed_md5' and action in ('SALE', 'AUTH', 'CREDIT2CARD') and payment == 'card':
                        yield {'request': action, 'payment': payment, 'recipe': recipe, 'digest': digest,
                               'values': TOKEN, 'password': PASSWORD,
                               'hash': reversed_hash(names, TOKEN, PASSWORD, digest), 'note': 'a card token'}
                    for letters in ('unicode', 'simple'):
                        hash_ = specified(FOREIGN, names, PASSWORD, digest, letters) if recipe == 'specified' else \
                            reversed_hash(names, FOREIGN, PASSWORD, digest, 'code points', letters)
                        yield {'request': action, 'payment': payment, 'recipe': recipe, 'digest': digest,
                               'values': FOREIGN, 'password': PASSWORD, 'hash': hash_, 'accepted_only': True,
                               'note': f'upper-casing {letters}'}
                    if recipe == 'reversed_md5':
                        yield {'request': action, 'payment': payment, 'recipe': recipe, 'digest': digest,
                               'values': FOREIGN, 'password': PASSWORD, 'accepted_only': True,
                               'hash': reversed_hash(names, FOREIGN, PASSWORD, digest, 'code points'),
                               'note': 'reversed by code points'}


CALLBACK_FIELDS = {
    'checkout': ['id', 'order_number', 'order_amount', 'order_currency', 'order_description'],
    's2s': ['trans_id', 'order_id', 'status'],
}
S2S_BODY = {
    'action': 'SALE', 'result': 'SUCCESS', 'status': 'SETTLED', 'order_id': 'order-1001',
    'trans_id': BASE['trans_id'], 'trans_date': '2026-11-09 00:00:00', 'amount': '19.99', 'currency': 'USD',
    'descriptor': 'Čajdžinica', 'card': '411111******1111', 'custom_data[ß]': 'Zürich', 'custom_data[a]': 'x',
    'Zeta': 'upper-case names come first',
}
CHECKOUT_BODY = {
    'id': BASE['trans_id'], 'order_number': 'straße-ñ', 'order_amount': '19.99', 'order_currency': 'USD',
    'order_description': 'Čaj', 'order_status': 'settled', 'type': 'sale', 'status': 'success',
}


def callbacks():
    for digest in ('md5', 'sha256'):
        for recipe in ('specified', 'reversed_md5'):
            yield {'callback': 'checkout', 'recipe': recipe, 'digest': digest, 'fields': CHECKOUT_BODY,
                   'password': PASSWORD, 'note': 'Checkout callbacks are always as specified',
                   'hash': specified(CHECKOUT_BODY, CALLBACK_FIELDS['checkout'], PASSWORD, digest)}
        yield {'callback': 's2s', 'recipe': 'specified', 'digest': digest, 'fields': S2S_BODY, 'password': PASSWORD,
               'note': 'as specified', 'hash': specified(S2S_BODY, CALLBACK_FIELDS['s2s'], PASSWORD, digest)}
        for email in (BASE['payer_email'], FOREIGN['payer_email']):
            facts = {'payer_email': email, 'card': '4111111111', 'trans_id': S2S_BODY['trans_id']}
            yield {'callback': 's2s', 'payment': 'card', 'recipe': 'reversed_md5', 'digest': digest,
                   'fields': S2S_BODY, 'payer_email': email, 'password': PASSWORD, 'note': 'a card payment',
                   'hash': reversed_hash(CARD_OPERATION, facts, PASSWORD, digest)}
        for password in (PASSWORD, MIXED_PASSWORD):
            names = sorted(S2S_BODY, key=lambda name: name.encode())
            data = b''.join(ascii_upper(S2S_BODY[name]).encode()[::-1] for name in names) + password.encode()
            yield {'callback': 's2s', 'payment': 'apm', 'recipe': 'reversed_md5', 'digest': digest, 'fields': S2S_BODY,
                   'password': password, 'note': 'any other payment', 'hash': digest_of(data, digest)}


print(json.dumps([*vectors(), *callbacks()], ensure_ascii=False, indent=2))
