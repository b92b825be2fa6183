/** Standard Webhooks signatures: compared with a second implementation, and refused for any change of content or time. */
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { signatureOf, signedId } from '../../../src/lib/crypto/signature.ts';

const SECRET = Buffer.from('thirty-two bytes of pure secrecy').toString('base64');
const OTHER = Buffer.from('another thirty-two byte secret..').toString('base64');
const ID = 'evt_1';
const BODY = '{"reference":"r-1","status":"settled"}';
/** 2026-11-15 02:24:01.250 UTC. */
const NOW = 1_794_709_441_250;
const SECONDS = '1794709441';
const FIVE_MINUTES = 300_000;

const byHand = (secret: string, id = ID, seconds = SECONDS, body: string | Buffer = BODY): string => {
  const signed = Buffer.concat([Buffer.from(`${id}.${seconds}.`), Buffer.from(body)]);
  return `v1,${createHmac('sha256', Buffer.from(secret, 'base64')).update(signed).digest('base64')}`;
};
const headers = (signature: string, changes: Record<string, unknown> = {}) => ({
  'webhook-id': ID,
  'webhook-timestamp': SECONDS,
  'webhook-signature': signature,
  ...changes,
});
const read = (given: Record<string, unknown>, body: string | Buffer = BODY, secrets = [SECRET], now = NOW) =>
  signedId(given, body, secrets, now, FIVE_MINUTES);

test('verifies the example of the Standard Webhooks documentation', () => {
  const given = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  };
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const now = 1_614_265_330_000;
  expect(signedId(given, '{"test": 2432232314}', [secret], now, FIVE_MINUTES)).toBe('msg_p5jXN8AQM9LWM0D4loKWxJek');
  expect(signatureOf('msg_p5jXN8AQM9LWM0D4loKWxJek', now, '{"test": 2432232314}', [secret])).toEqual(given);
});

describe('signing', () => {
  test('agrees with a second implementation', () => {
    expect(signatureOf(ID, NOW, BODY, [SECRET])).toEqual(headers(byHand(SECRET)));
    expect(signatureOf(ID, NOW, Buffer.from(BODY), [SECRET])).toEqual(headers(byHand(SECRET)));
    expect(signatureOf(ID, NOW, BODY, [`whsec_${SECRET}`])).toEqual(headers(byHand(SECRET)));
  });

  test('with two secrets creates two signatures, and either secret verifies', () => {
    const given = signatureOf(ID, NOW, BODY, [SECRET, OTHER]);
    expect(given['webhook-signature']).toBe(`${byHand(SECRET)} ${byHand(OTHER)}`);
    expect(read({ ...given }, BODY, [SECRET])).toBe(ID);
    expect(read({ ...given }, BODY, [OTHER])).toBe(ID);
  });

  test('property: any bytes verify, and changed bytes do not', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.nat(), (bytes, at) => {
        const body = Buffer.from(bytes);
        const given = { ...signatureOf(ID, NOW, body, [SECRET]) };
        expect(given['webhook-signature']).toBe(byHand(SECRET, ID, SECONDS, body));
        expect(read(given, body)).toBe(ID);
        const changed = Buffer.concat([body, Buffer.from('x')]);
        changed.writeUInt8(changed.readUInt8(at % changed.length) ^ 1, at % changed.length);
        expect(read(given, changed)).toBeUndefined();
      }),
    );
  });
});

describe('verification', () => {
  test.each([
    ['the secret', byHand(SECRET), [SECRET], ID],
    ['another secret', byHand(OTHER), [SECRET], undefined],
    ['the old secret, while both are accepted', byHand(OTHER), [SECRET, OTHER], ID],
    ['a list with one valid signature', `v1,AAAA ${byHand(OTHER)} ${byHand(SECRET)}`, [SECRET], ID],
    ['a list without a valid signature', `v1,AAAA ${byHand(OTHER)}`, [SECRET], undefined],
    ['another version of the scheme', byHand(SECRET).replace('v1,', 'v2,'), [SECRET], undefined],
    ['no version at all', byHand(SECRET).slice(3), [SECRET], undefined],
    ['a part of the signature', byHand(SECRET).slice(0, 20), [SECRET], undefined],
    ['an empty signature', 'v1,', [SECRET], undefined],
    ['no signature', '', [SECRET], undefined],
    ['the secret, while none is accepted', byHand(SECRET), [], undefined],
  ])('%s', (_, signature, secrets, id) => {
    expect(read(headers(signature), BODY, secrets)).toBe(id);
  });

  test('refuses an equivalent body with other bytes', () => {
    const again = JSON.stringify(JSON.parse(BODY), null, 1);
    expect(read(headers(byHand(SECRET)), again)).toBeUndefined();
    expect(read(headers(byHand(SECRET)), `${BODY}\n`)).toBeUndefined();
  });

  test('the id and the time are signed, too', () => {
    expect(read(headers(byHand(SECRET), { 'webhook-id': 'evt_2' }))).toBeUndefined();
    expect(read(headers(byHand(SECRET), { 'webhook-timestamp': '1794709442' }))).toBeUndefined();
  });

  test('characters cannot be moved from the id to the time', () => {
    const signature = byHand(SECRET, 'evt_1.1', SECONDS);
    expect(read(headers(signature, { 'webhook-id': 'evt_1', 'webhook-timestamp': `1.${SECONDS}` }))).toBeUndefined();
  });
});

describe('missing or malformed headers', () => {
  test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('%s is required', (name) => {
    for (const odd of [undefined, '', ['a', 'b'], 7, null]) {
      expect(read(headers(byHand(SECRET), { [name]: odd })), String(odd)).toBeUndefined();
    }
  });

  test.each(['-1794709441', '1794709441.0', ' 1794709441', '1.794709441e9', '0x6AF7D001', 'now', '9'.repeat(13)])(
    'the time %j is none, even if it was signed',
    (seconds) => {
      const given = headers(byHand(SECRET, ID, seconds), { 'webhook-timestamp': seconds });
      expect(read(given)).toBeUndefined();
    },
  );
});

describe('the time of the signature', () => {
  const signedAt = Number(SECONDS) * 1000;
  test.each([
    ['at once', 0, ID],
    ['five minutes later', FIVE_MINUTES, ID],
    ['one millisecond more', FIVE_MINUTES + 1, undefined],
    ['a day later', 86_400_000, undefined],
    ['five minutes earlier, by a slow clock', -FIVE_MINUTES, ID],
    ['one millisecond earlier', -FIVE_MINUTES - 1, undefined],
  ])('%s', (_, afterMs, id) => {
    expect(read(headers(byHand(SECRET)), BODY, [SECRET], signedAt + afterMs)).toBe(id);
  });

  test('the time is rounded down to seconds', () => {
    expect(signatureOf(ID, signedAt + 999, BODY, [SECRET])['webhook-timestamp']).toBe(SECONDS);
    expect(signatureOf(ID, signedAt + 1000, BODY, [SECRET])['webhook-timestamp']).toBe('1794709442');
  });
});
