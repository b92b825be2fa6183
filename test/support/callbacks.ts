/** Callbacks as a merchant’s own server reads them: from the raw bytes, verified independently of the gateway’s code. */
import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import { type Fields, type Merchant, sign, type TestGateway } from './gateway.ts';
import { type Received, startReceiver } from './receivers.ts';

export interface CallbackMerchant extends Merchant {
  callback_secret: string;
}

export interface Callback {
  /** All fields under flat names: `custom_data[colour]` in either format. */
  fields: Fields;
  isJson: boolean;
  /** The headers of the signature, and the number within the payment. */
  id: string;
  timestamp: string;
  signatures: string[];
  sequence: number;
  body: Buffer;
  path: string;
}

const decoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '));

function formFields(text: string): [string, string][] {
  return text.split('&').map((pair) => {
    const [name = '', value, ...more] = pair.split('=');
    expect([value, more], pair).toEqual([expect.any(String), []]);
    return [decoded(name), decoded(value as string)];
  });
}

const jsonFields = (value: object, flat = (name: string): string => name): [string, string][] =>
  Object.entries(value).flatMap(([name, one]): [string, string][] =>
    typeof one === 'object' && one !== null
      ? jsonFields(one, (inner) => `${flat(name)}[${inner}]`)
      : [[flat(name), one as string]],
  );

const header = ({ headers }: Received, name: string): string => {
  expect(headers, name).toHaveProperty([name], expect.any(String));
  return headers[name] as string;
};

/** Parses a request that a merchant’s server received, valid or not. */
export function readCallback(received: Received): Callback {
  const { body, method, path } = received;
  expect(method).toBe('POST');
  const type = header(received, 'content-type');
  const isJson = type === 'application/json; charset=utf-8';
  if (!isJson) expect(type).toBe('application/x-www-form-urlencoded');
  const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  const pairs = isJson ? jsonFields(JSON.parse(text)) : formFields(text);
  for (const [name, value] of pairs) expect(value?.length, `${name} is a text, and not empty`).toBeGreaterThan(0);
  const fields = Object.fromEntries(pairs);
  expect(pairs, 'each name once').toHaveLength(Object.keys(fields).length);
  return {
    fields,
    isJson,
    id: header(received, 'webhook-id'),
    timestamp: header(received, 'webhook-timestamp'),
    signatures: header(received, 'webhook-signature').split(' '),
    sequence: Number(header(received, 'turnpike-sequence')),
    body,
    path,
  };
}

/** The index of the signature that this secret made over these bytes, or -1. */
export function signatureBy(secret: string, { id, timestamp, signatures, body }: Callback): number {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  return signatures.indexOf(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
}

/** The fields that the hash of each shape covers, stated independently of the source. */
const HASHED = {
  s2s: ['trans_id', 'order_id', 'status'],
  checkout: ['id', 'order_number', 'order_amount', 'order_currency', 'order_description'],
};

export function hashFor(password: string, fields: Fields): string {
  const names = 'trans_id' in fields ? HASHED.s2s : HASHED.checkout;
  return sign(password, ...names.map((name) => fields[name] ?? ''));
}

/** The payment that a callback is about. */
export const paymentOf = ({ fields }: Callback): string => fields.trans_id ?? fields.id ?? '';

/** Merchants of one gateway, the server that receives their callbacks, and what arrived there. */
export async function callbacksOf(shop: TestGateway) {
  const receiver = await startReceiver();
  const { origin } = new URL(receiver.url);
  let urlCount = 0;
  /** An address of its own. */
  const newUrl = (): string => `${origin}/callbacks/${++urlCount}`;
  const pathOf = (url: string): string => new URL(url).pathname;
  const urls = new Map<string, string>();

  const received = (url: string): Callback[] =>
    receiver.received.filter(({ path }) => path === pathOf(url)).map(readCallback);
  const drain = (): Promise<void> => shop.gateway.deliverer.drain();

  /** The stored callbacks of an account, by their ids. */
  async function stored({ mid }: Merchant): Promise<Map<string, Record<string, unknown>>> {
    const rows = await shop.rows(
      `select c.payment_id || '-' || c.seq as id, c.body, c.is_json, c.type, c.state, c.reason, c.attempts,
        to_char(h.at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as date
       from callbacks c join history h using (mid, payment_id, seq) where mid = '${mid}' order by payment_id, seq`,
    );
    return new Map(rows.map((row) => [row.id as string, row]));
  }

  return {
    receiver,
    newUrl,
    received,
    drain,
    stored,
    urlOf: ({ mid }: Merchant): string => urls.get(mid) as string,

    async newMerchant(settings: Record<string, unknown> = {}): Promise<CallbackMerchant> {
      const url = newUrl();
      const merchant = (await shop.newMerchant({ callback_url: url, ...settings })) as CallbackMerchant;
      urls.set(merchant.mid, url);
      return merchant;
    },

    /**
     * The fields of all callbacks that a merchant received, by payment and in order. It checks what holds for every
     * callback: signature, hash, date, sequence numbers, and that the bytes are those of the database. Hash and date are
     * omitted from the result.
     */
    async delivered(merchant: CallbackMerchant, url = urls.get(merchant.mid) as string): Promise<Fields[]> {
      await drain();
      const callbacks = received(url);
      const rows = await stored(merchant);
      const lastOf = new Map<string, number>();
      for (const callback of callbacks) {
        const { fields, id, sequence, timestamp, body, isJson } = callback;
        const payment = paymentOf(callback);
        expect(id).toBe(`${payment}-${sequence}`);
        expect(sequence, 'the sequence number grows, and no callback comes twice').toBeGreaterThan(
          lastOf.get(payment) ?? 0,
        );
        lastOf.set(payment, sequence);
        expect(Math.abs(Date.now() / 1000 - Number(timestamp))).toBeLessThan(300);
        expect(callback.signatures).toHaveLength(1);
        expect(signatureBy(merchant.callback_secret, callback), 'the signature').toBe(0);
        expect(fields.hash).toBe(hashFor(merchant.password, fields));
        const row = rows.get(id);
        expect(body.equals(Buffer.from(row?.body as string)), 'the bytes of the database').toBe(true);
        expect([fields.trans_date ?? fields.date, isJson]).toEqual([row?.date, row?.is_json]);
      }
      const byPayment = [...Map.groupBy(callbacks, paymentOf)].sort(([a], [b]) => (a < b ? -1 : 1));
      const inOrder = byPayment.flatMap(([, ofPayment]) => ofPayment);
      return inOrder.map(({ fields: { hash: _hash, trans_date: _transDate, date: _date, ...rest } }) => rest);
    },

    close: () => receiver.close(),
  };
}

/** Finds changes without a callback, callbacks without a change, and operations whose outcomes and callbacks differ in number. */
export const CALLBACK_MISMATCHES = `
  select 'no callback: ' || h.event as wrong, h.payment_id, h.seq from history h
  left join callbacks c using (mid, payment_id, seq)
  where c.seq is null and h.seq > 1
    and (h.from_state <> h.to_state or h.event in ('authenticated', 'redirected', 'partlyRefunded')
      or h.event like 'refused %' and h.event not in ('refused expiry', 'refused late_refund', 'refused late_void'))
  union all
  select 'no change: ' || c.type, c.payment_id, c.seq from callbacks c
  left join history h using (mid, payment_id, seq)
  where h.seq is null or h.seq = 1
    or h.event in ('queried', 'doubted', 'attended', 'collected', 'held', 'stored') or h.event like 'requested %' or h.event like 'unanswered %'
  union all
  select coalesce(c.times, 0) || ' callbacks of ' || coalesce(o.times, 0) || ' outcomes', payment_id, null
  from (select mid, payment_id, case verb when 'credit' then 'refund' else verb::text end as type, count(*) as times
        from operations where state <> 'sent' and verb not in ('expiry', 'late_refund', 'late_void') group by 1, 2, 3) o
  full join (select mid, payment_id, type, count(*) as times from callbacks
        where type in ('capture', 'void', 'reversal', 'refund') group by mid, payment_id, type) c
    using (mid, payment_id, type)
  where o.times is distinct from c.times`;
