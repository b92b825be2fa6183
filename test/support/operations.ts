/** Captures, voids and refunds as merchants request them, and both ledgers for comparison. */
import { expect } from 'vitest';
import { BRAND_EXPECTATIONS } from './brand-expectations.ts';
import { entryOf } from './entries.ts';
import { type Answer, type Fields, type Merchant, saleFields, sign, type TestGateway } from './gateway.ts';

/** The refusals of operations, written independently of the product, so that a wrong message there fails. */
export const REFUSALS = {
  invalidData: [100000, 'Request data is invalid.'],
  notUuid: [100000, 'This is not a valid UUID.'],
  wrongEnvironment: [220002, 'Use merchant test key.'],
  addressNotAllowed: [100000, 'Request from this ip is not allowed.'],
  wrongHash: [100000, 'Hash is not valid'],
  unknownTransaction: [101000, 'Transaction does not exist.'],
  unknownPayment: [100000, 'Payment not found.'],
  unknownSchedule: [100000, 'Schedule not found'],
  incorrectTransaction: [100000, 'Incorrect transaction'],
  duplicateOperation: [100000, 'operation_id: Duplicate operation.'],
  duplicate: [100000, 'order_id: Duplicate payment.'],
  refundNotAllowed: [100000, 'Refund is not allowed'],
  onlyInPortal: [210002, 'Refund via API is not supported. Only from the connector admin portal.'],
  notSupported: [204005, 'Payment action not supported'],
  captureNotPending: [208003, 'Not acceptable to request the capture for payment not in pending status'],
  captureTooMuch: [208004, 'Not acceptable to request the capture for amount bigger than auth amount.'],
  refundNotSettled: [208005, 'Not acceptable to request the refund for payment not in settled status.'],
  refundTooMuch: [208006, 'Not acceptable to request the refund for amount bigger than payment amount.'],
} as const satisfies Record<string, readonly [code: number, message: string]>;

export type RefusalName = keyof typeof REFUSALS;

/** The complete response to a request that is refused for this reason. */
export const refused = (name: RefusalName, ...entries: string[]) => ({
  status: 400,
  body: {
    result: 'ERROR',
    error_code: REFUSALS[name][0],
    error_message: REFUSALS[name][1],
    errors: entries.map((entry) => entryOf(entry)),
  },
});

/** Status and body of a response, without its headers. */
export const statusAndBody = async (answer: Answer | Promise<Answer>): Promise<Pick<Answer, 'status' | 'body'>> => {
  const { status, body } = await answer;
  return { status, body };
};

export type OperationAction = 'CAPTURE' | 'VOID' | 'CREDITVOID';

export function operationFields(
  merchant: Merchant,
  action: OperationAction,
  transId: string,
  fields: Fields = {},
): Fields {
  return {
    action,
    client_key: merchant.client_key,
    trans_id: transId,
    hash: sign(merchant.password, transId),
    ...fields,
  };
}

export const brandSale = (brand: string, merchant: Merchant, fields: Fields = {}): Fields =>
  saleFields(merchant, {
    brand,
    ...(brand === 'vcard' ? {} : { identifier: '' }),
    ...BRAND_EXPECTATIONS[brand]?.complete,
    ...fields,
  });

/** The operations of one shop, each with the default fields. */
export function operationsOf(shop: TestGateway) {
  const inspect = async (id: string): Promise<Answer['body']> => (await shop.admin('GET', `/payments/${id}`)).body;

  /** Makes a payment and returns its id once it is in this state. */
  const sale = async (brand: string, merchant: Merchant, fields: Fields, status: string): Promise<string> => {
    const { body } = await shop.post(brandSale(brand, merchant, fields));
    expect(body, JSON.stringify(body)).toMatchObject({ status });
    return body.trans_id;
  };

  const becomes = (id: string, status: string) => expect.poll(async () => (await inspect(id)).status).toBe(status);

  const control = async (id: string, command: Record<string, unknown>): Promise<void> => {
    const { status, body } = await shop.sandbox('POST', `/payments/${id}`, command);
    expect(status, JSON.stringify(body)).toBe(200);
  };

  /** Calls the provider directly, without the gateway. */
  const atProvider = async (path: string, body?: unknown): Promise<Answer['body']> => {
    const { url = '', key = '' } = shop.provider ?? {};
    const response = await fetch(url + path, {
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    return response.json();
  };

  /** The payer approves on the provider’s page or in their app. */
  const approve = async (id: string): Promise<void> => {
    const { payer_page } = await atProvider(`/control/payments/${id}`);
    const decision = new URLSearchParams({ decision: 'approve' });
    await (await fetch(payer_page, { method: 'POST', body: decision, redirect: 'manual' })).arrayBuffer();
  };

  return {
    inspect,
    sale,
    becomes,
    control,
    atProvider,
    approve,
    send: (action: OperationAction, id: string, fields: Fields = {}, merchant: Merchant = shop.merchant) =>
      shop.post(operationFields(merchant, action, id, fields)),

    events: async (id: string): Promise<string[]> =>
      (await inspect(id)).history.map((row: { event: string }) => row.event),

    /** Columns of a payment that the admin API does not show. */
    held: async (id: string): Promise<Record<string, unknown> | undefined> =>
      (await shop.rows(`select reserved::int, busy from payments where payment_id = '${id}'`))[0],

    fault: async (mode: string, more: Record<string, unknown>): Promise<void> => {
      expect((await shop.sandbox('POST', '/faults', { mode, ...more })).status).toBe(200);
    },

    /** Every movement at the provider, in order. */
    movements: async (id: string): Promise<string[]> =>
      (await ledgerOf(shop))
        .filter(({ reference }) => reference === id)
        .map(({ kind, direction, amount }) => `${kind} ${direction} ${amount}`),

    /** An authorised payment, made the way that its brand requires. */
    async authorised(brand = 'vcard', fields: Fields = {}, merchant: Merchant = shop.merchant): Promise<string> {
      const first = brand === 'doc-a' ? 'REDIRECT' : 'PENDING';
      const id = await sale(brand, merchant, { auth: 'Y', ...fields }, first);
      if (brand === 'doc-a' || brand === 'upi-b') {
        await approve(id);
        await expect.poll(async () => (await inspect(id)).authorised).not.toMatch(/^[0.]+$/);
      }
      return id;
    },

    async settled(brand = 'vcard', fields: Fields = {}, merchant: Merchant = shop.merchant): Promise<string> {
      const first = brand === 'doc-a' ? 'REDIRECT' : brand === 'upi-b' ? 'PENDING' : 'SETTLED';
      const id = await sale(brand, merchant, fields, first);
      if (first !== 'SETTLED') await control(id, { provider_status: 'executed' });
      await becomes(id, 'SETTLED');
      return id;
    },
  };
}

export interface Movement {
  reference: string;
  kind: string;
  direction: 'in' | 'out';
  amount: string;
}

/** The provider’s own ledger, all pages of it. */
export async function ledgerOf(shop: TestGateway): Promise<Movement[]> {
  const all: Movement[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const { body }: Answer = await shop.sandbox('GET', `/ledger?after=${after}`);
    all.push(...body.items);
    after = body.next;
  }
  return all;
}
