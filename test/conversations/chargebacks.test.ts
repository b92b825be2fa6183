/** Chargebacks: the list with its deadlines, notes and states, and the evidence files. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { receiveNotifications } from '../../src/core/payments/notifications.ts';
import { foldProjections } from '../../src/core/projections/projections.ts';
import { verifyAt } from '../../src/store/installation/verify.ts';
import { ADMIN_TOKEN, type Answer, DATE, type Merchant, openShop, UUID_7 } from '../support/gateway.ts';
import { operationsOf, refused } from '../support/operations.ts';

const shop = openShop({ simulator: true });
const UNKNOWN_ID = '01990000-0000-7000-8000-000000000000';

async function chargedBack(merchant: Merchant, chargeback: unknown = true, brand = 'pin-a'): Promise<string> {
  const at = operationsOf(shop);
  const id = await at.sale(brand, merchant, {}, 'SETTLED');
  if (chargeback === 'after a refund') {
    await shop.admin('POST', `/payments/${id}/refund`, { amount: '3.00' });
    await at.control(id, { chargeback: true });
  } else await at.control(id, { chargeback });
  expect((await shop.inspect(id)).status).toBe('CHARGEBACK');
  return id;
}

const list = async (query: string, token?: string) =>
  (await shop.admin('GET', `/chargebacks?${query}`, undefined, token)).body;

async function upload(
  id: string,
  name: string,
  bytes: Uint8Array<ArrayBuffer> | string,
  token = ADMIN_TOKEN,
): Promise<Pick<Answer, 'status' | 'body'>> {
  const response = await fetch(`${shop.url}/admin/api/chargebacks/${id}/evidence?name=${encodeURIComponent(name)}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' },
    body: bytes,
  });
  return { status: response.status, body: await response.json() };
}

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

afterAll(async () => {
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});

describe('the list', () => {
  let merchant: Merchant;
  let ids: string[];
  beforeAll(async () => {
    merchant = await shop.newMerchant();
    ids = [
      await chargedBack(merchant),
      await chargedBack(merchant, { respond_by: '2030-05-31T12:00:00Z' }, 'vcard'),
      await chargedBack(merchant, 'after a refund'),
    ].reverse();
  });

  test('has the amount that was charged back, and the deadline of the provider or fourteen days', async () => {
    const { items, next_cursor } = await list(`mid=${merchant.mid}`);
    expect(next_cursor).toBeNull();
    expect(items[0]).toEqual({
      payment_id: ids[0],
      mid: merchant.mid,
      order_id: expect.any(String),
      stage: 'chargeback',
      amount: '7.00',
      currency: 'USD',
      received_at: expect.stringMatching(DATE),
      reason: '',
      respond_by: expect.stringMatching(DATE),
      state: 'open',
      note: '',
      evidence_files: 0,
    });
    expect(items.map((one: { amount: string }) => one.amount)).toEqual(['7.00', '10.00', '10.00']);
    expect(items[1].respond_by).toBe('2030-05-31 12:00:00');
    const days = (Date.parse(items[0].respond_by) - Date.parse(items[0].received_at)) / 86_400_000;
    expect(days).toBe(14);
  });

  test('comes in pages, and by state, account and time', async () => {
    const first = await list(`mid=${merchant.mid}&limit=2`);
    const second = await list(`mid=${merchant.mid}&limit=2&cursor=${first.next_cursor}`);
    const found = [...first.items, ...second.items].map(({ payment_id }) => payment_id);
    expect([found, second.next_cursor]).toEqual([ids, null]);
    await shop.admin('PATCH', `/chargebacks/${ids[0]}`, { state: 'closed' });
    expect((await list(`mid=${merchant.mid}&state=closed`)).items).toMatchObject([{ payment_id: ids[0] }]);
    expect((await list(`mid=${merchant.mid}&to=2020-01-01`)).items).toEqual([]);
    expect((await list(`mid=${UNKNOWN_ID}`)).items).toEqual([]);
    expect((await list('state=disputed')).errors).toMatchObject([{ error_message: 'state: This value is not valid.' }]);
    expect((await list('cursor=1.x')).errors).toMatchObject([{ error_message: 'cursor: This value is not valid.' }]);
  });

  test('has a chargeback once, also when the provider reports it again', async () => {
    const id = ids.at(-1) as string;
    const before = await list(`mid=${merchant.mid}`);
    const { body } = await shop.admin('GET', `/payments/${id}`);
    const notification = body.notifications.find((one: { type: string }) => one.type === 'chargeback');
    await shop.rows(
      `update provider_notifications set state = 'new', due_at = now() where event_id = '${notification.event_id}'`,
    );
    await shop.advanceClock(1);
    expect(await list(`mid=${merchant.mid}`)).toEqual(before);
  });
});

describe('what the provider reports afterwards', () => {
  const at = operationsOf(shop);
  /** The provider sends a notification. */
  const tell = (reference: string, body: Record<string, unknown>): Promise<void> =>
    receiveNotifications(shop.gateway, 'upstream', [
      { eventId: randomUUID(), reference, body: { ...body, reference } },
    ]);
  const rowOf = async (id: string) => (await shop.rows(`select * from chargebacks where payment_id = '${id}'`))[0];
  const moves = async (id: string) =>
    (await shop.inspect(id)).history
      .filter(({ event }: { event: string }) => /charge/i.test(event))
      .map(({ event, from, to, amount }: Record<string, string>) => [event, from, to, amount]);

  test.each(['pin-a', 'vcard'])(
    'a reversal returns a payment of %s to its state, and it can be refunded',
    async (brand) => {
      const id = await chargedBack(shop.merchant, true, brand);
      await at.control(id, { chargeback_reversed: true });
      await at.becomes(id, 'SETTLED');
      expect(await shop.inspect(id)).toMatchObject({ captured: '10.00', refunded: '0.00', attention: null });
      expect(await moves(id)).toEqual([
        ['chargedBack', 'SETTLED', 'CHARGEBACK', '10.00'],
        ['chargebackReversed', 'CHARGEBACK', 'SETTLED', '10.00'],
      ]);
      expect(await rowOf(id)).toMatchObject({ state: 'won', stage: 'chargeback' });
      expect((await shop.admin('POST', `/payments/${id}/refund`, { amount: '4.00' })).status).toBe(200);
      await expect.poll(async () => (await shop.inspect(id)).refunded).toBe('4.00');
    },
  );

  test.each(['pin-a', 'vcard'])('a second chargeback of %s takes the money once more', async (brand) => {
    const id = await chargedBack(shop.merchant, { amount: '3.00', reason: 'Goods not received' }, brand);
    expect((await list(`mid=${shop.merchant.mid}&stage=chargeback&limit=1`)).items[0]).toMatchObject({
      payment_id: id,
      amount: '3.00',
      reason: 'Goods not received',
    });
    await at.control(id, { chargeback_reversed: true });
    await at.becomes(id, 'SETTLED');
    await at.control(id, { second_chargeback: { amount: '2.50', respond_by: null } });
    await at.becomes(id, 'CHARGEBACK');
    expect(await moves(id)).toEqual([
      ['chargedBack', 'SETTLED', 'CHARGEBACK', '3.00'],
      ['chargebackReversed', 'CHARGEBACK', 'SETTLED', '3.00'],
      ['secondChargedBack', 'SETTLED', 'CHARGEBACK', '2.50'],
    ]);
    expect((await list(`mid=${shop.merchant.mid}&stage=second_chargeback`)).items[0]).toMatchObject({
      payment_id: id,
      stage: 'second_chargeback',
      state: 'open',
      amount: '2.50',
      respond_by: null,
    });
    await at.control(id, { chargeback_reversed: true });
    await at.becomes(id, 'SETTLED');
    expect(await rowOf(id)).toMatchObject({ state: 'won', stage: 'second_chargeback' });
  });

  test('verify reports a reversal that does not return what was taken, also if the payment is charged back again', async () => {
    const id = await chargedBack(shop.merchant, { amount: '3.00' });
    await at.control(id, { chargeback_reversed: true });
    await at.becomes(id, 'SETTLED');
    await at.control(id, { second_chargeback: true });
    await at.becomes(id, 'CHARGEBACK');
    await foldProjections(shop.gateway);
    const setReturned = (amount: number) =>
      shop.rows(`update history set amount = ${amount} where payment_id = '${id}' and event = 'chargebackReversed'`);
    await setReturned(200);
    const { violations } = await verifyAt(shop.connection);
    await setReturned(300);
    expect(violations).toContain(`The ledger entries of payment ${id} differ from its amounts.`);
  });

  test('at most what is left of the payment is taken', async () => {
    const id = await at.sale('pin-a', shop.merchant, {}, 'SETTLED');
    await shop.admin('POST', `/payments/${id}/refund`, { amount: '4.00' });
    await at.control(id, { chargeback: { amount: '30.00' } });
    await at.becomes(id, 'CHARGEBACK');
    expect((await moves(id)).at(-1)).toEqual(['chargedBack', 'SETTLED', 'CHARGEBACK', '6.00']);
  });

  test('a refund that completes during the chargeback: the reversal leads to REFUND', async () => {
    const id = await at.sale('pin-a', shop.merchant, {}, 'SETTLED');
    await at.fault('timeout_after', { mid: shop.merchant.mid, brand: 'pin-a', count: 1 });
    await shop.admin('POST', `/payments/${id}/refund`, {});
    await tell(id, { type: 'chargeback' });
    await at.becomes(id, 'CHARGEBACK');
    await shop.advanceClock(60);
    await expect.poll(async () => (await shop.inspect(id)).refunded).toBe('10.00');
    await tell(id, { type: 'chargeback_reversed' });
    expect((await moves(id)).at(-1)).toEqual(['chargebackReversed', 'CHARGEBACK', 'REFUND', '10.00']);
  });

  test('a chargeback that was reported before has no effect after its reversal', async () => {
    const id = await at.sale('pin-a', shop.merchant, {}, 'SETTLED');
    for (const type of ['chargeback', 'chargeback_reversed', 'chargeback'])
      await tell(id, { type, chargeback: 'cb-1' });
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED' });
    expect(await rowOf(id)).toMatchObject({ state: 'won' });
    await tell(id, { type: 'chargeback', chargeback: 'cb-2', amount: '200', currency: 'USD' });
    expect(await shop.inspect(id)).toMatchObject({ status: 'CHARGEBACK' });
    expect(await rowOf(id)).toMatchObject({ state: 'open', amount: '200' });
  });

  test('a reversal returns its own chargeback only; that of another one is recorded', async () => {
    const id = await at.sale('pin-a', shop.merchant, {}, 'SETTLED');
    for (const [type, chargeback] of [
      ['chargeback', 'cb-1'],
      ['chargeback_reversed', 'cb-1'],
      ['chargeback', 'cb-2'],
      // Repeated, and of a dispute that was never reported.
      ['chargeback_reversed', 'cb-1'],
      ['chargeback_reversed', 'cb-3'],
    ])
      await tell(id, { type, chargeback });
    expect(await shop.inspect(id)).toMatchObject({ status: 'CHARGEBACK', attention: null });
    expect(await rowOf(id)).toMatchObject({ state: 'open' });
    await tell(id, { type: 'chargeback_reversed', chargeback: 'cb-2' });
    // The money of this one is back already.
    await tell(id, { type: 'chargeback', chargeback: 'cb-3' });
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', attention: null });
    expect(await rowOf(id)).toMatchObject({ state: 'won' });
    expect((await moves(id)).map(([event]: string[]) => event)).toEqual([
      ...['chargedBack', 'chargebackReversed', 'chargedBack', 'noted chargebackReversed', 'noted chargebackReversed'],
      ...['chargebackReversed', 'noted chargedBack'],
    ]);
  });

  test('a chargeback beside the open one is marked until it is reversed itself', async () => {
    const id = await at.sale('pin-a', shop.merchant, {}, 'SETTLED');
    const part = { amount: '300', currency: 'USD' };
    for (const chargeback of ['cb-1', 'cb-2']) await tell(id, { type: 'chargeback', chargeback, ...part });
    expect(await shop.inspect(id)).toMatchObject({ status: 'CHARGEBACK', attention: 'unexpected_chargeback' });
    await tell(id, { type: 'chargeback_reversed', chargeback: 'cb-1' });
    await tell(id, { type: 'chargeback_reversed', chargeback: 'cb-1' });
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', attention: 'unexpected_chargeback' });
    await tell(id, { type: 'chargeback_reversed', chargeback: 'cb-2' });
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', attention: null });
  });

  test('a reversal that arrives before its chargeback waits for it', async () => {
    const id = await at.sale('pin-a', shop.merchant, {}, 'SETTLED');
    await tell(id, { type: 'chargeback_reversed' });
    expect(await moves(id)).toEqual([]);
    await tell(id, { type: 'chargeback' });
    expect((await shop.inspect(id)).status).toBe('CHARGEBACK');
    await shop.advanceClock(3600);
    await at.becomes(id, 'SETTLED');
  });

  test('an inquiry and a warning move no money; a chargeback that follows replaces them; it can be lost', async () => {
    const id = await at.sale('pin-a', shop.merchant, {}, 'SETTLED');
    await tell(id, { type: 'inquiry', reason: 'Not recognised', respond_by: '2030-01-31T12:00:00Z' });
    expect(await rowOf(id)).toMatchObject({ stage: 'inquiry', state: 'open', reason: 'Not recognised' });
    await tell(id, { type: 'warning' });
    await tell(id, { type: 'inquiry' });
    expect(await rowOf(id)).toMatchObject({ stage: 'warning', state: 'open', reason: '' });
    expect((await shop.inspect(id)).status).toBe('SETTLED');
    await tell(id, { type: 'chargeback' });
    await tell(id, { type: 'chargeback_lost' });
    expect(await rowOf(id)).toMatchObject({ stage: 'chargeback', state: 'lost' });
    expect((await shop.inspect(id)).status).toBe('CHARGEBACK');
  });

  describe('of an inquiry and a warning that takes no answer', () => {
    const [SOON, LATER] = ['2030-01-31T12:00:00Z', '2030-02-28T12:00:00Z'];
    const inquiry = { type: 'inquiry', respond_by: SOON };
    const warning = { type: 'warning', respond_by: null };
    const listed = async (id: string) => (await shop.admin('PATCH', `/chargebacks/${id}`, {})).body;
    const open = { stage: 'warning', state: 'open', respond_by: '2030-01-31 12:00:00' };

    test.each([
      ['the warning comes later', [inquiry, warning]],
      ['the warning comes first', [warning, inquiry]],
      ['both are repeated', [warning, inquiry, warning, inquiry]],
      ['the warning has a later deadline', [inquiry, { type: 'warning', respond_by: LATER }]],
      [
        'the inquiry has a later one',
        [
          { ...warning, respond_by: SOON },
          { ...inquiry, respond_by: LATER },
        ],
      ],
    ])('the nearest deadline is shown: %s', async (_, notifications) => {
      const id = await at.sale('pin-a', shop.merchant, {}, 'SETTLED');
      for (const each of notifications) await tell(id, each);
      expect(await listed(id)).toMatchObject(open);
    });

    test('an inquiry opens a warning that was closed, and has no effect again once it is answered', async () => {
      const id = await at.sale('pin-a', shop.merchant, {}, 'SETTLED');
      await tell(id, warning);
      await shop.admin('PATCH', `/chargebacks/${id}`, { state: 'closed' });
      await tell(id, inquiry);
      expect(await listed(id)).toMatchObject(open);
      await shop.admin('PATCH', `/chargebacks/${id}`, { state: 'answered' });
      await tell(id, inquiry);
      expect(await listed(id)).toMatchObject({ state: 'answered' });
    });

    test('a warning after an answer, and a chargeback, have deadlines of their own', async () => {
      const id = await at.sale('pin-a', shop.merchant, {}, 'SETTLED');
      await tell(id, inquiry);
      await shop.admin('PATCH', `/chargebacks/${id}`, { state: 'answered' });
      await tell(id, warning);
      expect(await listed(id)).toMatchObject({ stage: 'warning', state: 'open', respond_by: null });
      const other = await at.sale('pin-a', shop.merchant, {}, 'SETTLED');
      for (const each of [inquiry, { type: 'chargeback', respond_by: LATER }, inquiry, warning])
        await tell(other, each);
      expect(await listed(other)).toMatchObject({ stage: 'chargeback', respond_by: '2030-02-28 12:00:00' });
    });
  });

  test('a reversal is told if the account wants it', async () => {
    const merchant = await shop.newMerchant({ chargeback_reversal_callbacks: true });
    for (const [who, types] of [
      [merchant, ['chargeback', 'chargeback', 'chargeback']],
      [shop.merchant, ['chargeback', 'chargeback']],
    ] as const) {
      const id = await chargedBack(who, { amount: '3.00' });
      await at.control(id, { chargeback_reversed: true });
      await at.becomes(id, 'SETTLED');
      await at.control(id, { second_chargeback: true });
      await at.becomes(id, 'CHARGEBACK');
      const { callbacks } = await shop.inspect(id);
      expect(callbacks.map(({ type }: { type: string }) => type).filter((type: string) => type !== 'sale')).toEqual(
        types,
      );
    }
  });

  test('a reversal without a chargeback is refused by the sandbox and waits in the gateway', async () => {
    for (const brand of ['pin-a', 'vcard']) {
      const id = await at.sale(brand, shop.merchant, {}, 'SETTLED');
      expect((await shop.sandbox('POST', `/payments/${id}`, { chargeback_reversed: true })).body.errors).toMatchObject([
        { error_message: 'chargeback_reversed: The payment is not charged back.' },
      ]);
    }
    const id = await at.sale('pin-a', shop.merchant, {}, 'SETTLED');
    expect((await shop.sandbox('POST', `/payments/${id}`, { chargeback: { amount: '3' } })).body.errors).toMatchObject([
      { error_message: 'chargeback.amount: This value is not valid.' },
    ]);
  });
});

describe('a change', () => {
  let id: string;
  beforeAll(async () => {
    id = await chargedBack(shop.merchant);
  });

  test('of the note or the state is in the audit log', async () => {
    expect((await shop.admin('PATCH', `/chargebacks/${id}`, { note: ' Sent to the bank ' })).body).toMatchObject({
      payment_id: id,
      state: 'open',
      note: 'Sent to the bank',
    });
    expect((await shop.admin('PATCH', `/chargebacks/${id}`, { state: 'answered' })).body).toMatchObject({
      state: 'answered',
      note: 'Sent to the bank',
    });
    expect((await shop.admin('GET', '/audit?limit=1')).body.items[0]).toMatchObject({
      action: 'chargebacks.change',
      mid: shop.merchant.mid,
      subject: id,
      before: { state: 'open', note: 'Sent to the bank' },
      after: { state: 'answered' },
    });
  });

  test.each([
    [{ state: 'paid' }, 'state: This value should be one of: open, answered, won, lost, closed.'],
    [{ note: 1 }, 'note: This value should be a text.'],
    [{ note: 'x'.repeat(1001) }, 'note: This value is too long. It should have 1000 characters or less.'],
    [{ note: 'Card ４１１１ 1111-1111_1111' }, 'note: This value should not contain a card number.'],
    [{ notes: 'x' }, 'notes: This value does not exist.'],
    ['x', 'body: The body should be a JSON object.'],
  ])('to %j is refused', async (body, entry) => {
    const answer = await shop.admin('PATCH', `/chargebacks/${id}`, body);
    expect({ status: answer.status, body: answer.body }).toEqual(refused('invalidData', entry));
  });

  test('of a payment that was not charged back is refused', async () => {
    const { body: sale } = await shop.sale();
    for (const unknown of [sale.trans_id, UNKNOWN_ID, 'nonsense']) {
      const { status, body } = await shop.admin('PATCH', `/chargebacks/${unknown}`, { state: 'closed' });
      expect([status, body.error_message]).toEqual([404, 'Chargeback does not exist.']);
    }
  });
});

describe('evidence', () => {
  let id: string;
  beforeAll(async () => {
    id = await chargedBack(shop.merchant);
  });

  test('is stored sealed, and returned as it was, as an attachment', async () => {
    const text = 'Signed by the payer: Zoë';
    const { status, body } = await upload(id, 'C:\\proofs\\Zoë "signed".txt', text);
    expect([status, body]).toEqual([
      201,
      {
        evidence_id: expect.stringMatching(UUID_7),
        name: 'Zoë signed.txt',
        media_type: 'text/plain',
        size: Buffer.byteLength(text),
        added_by: 'TURNPIKE_ADMIN_TOKEN',
        created_at: expect.stringMatching(DATE),
      },
    ]);
    expect((await shop.admin('GET', `/chargebacks/${id}/evidence`)).body.items).toEqual([body]);
    const file = await shop.admin('GET', `/chargebacks/${id}/evidence/${body.evidence_id}`);
    expect(file.body).toBe(text);
    expect(Object.fromEntries(file.headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': `attachment; filename="Zo_ signed.txt"; filename*=UTF-8''Zo%C3%AB%20signed.txt`,
      'x-content-type-options': 'nosniff',
    });
    expect(JSON.stringify(await shop.rows(`select encode(sealed, 'escape') from chargeback_evidence`))).not.toContain(
      'payer',
    );
    expect((await shop.admin('GET', '/audit?limit=1')).body.items[0]).toMatchObject({
      action: 'chargebacks.add_evidence',
      subject: id,
      after: { name: 'Zoë signed.txt', media_type: 'text/plain' },
    });
  });

  test.each<[string, Uint8Array<ArrayBuffer> | string, string]>([
    ['a.pdf', '%PDF-1.7 …', 'application/pdf'],
    ['picture.txt', PNG, 'image/png'],
    ['photo', Buffer.from('ffd8ffe000104a464946', 'hex'), 'image/jpeg'],
  ])('%s has the type of its content', async (name, bytes, media_type) => {
    expect(await upload(id, name, bytes)).toMatchObject({ status: 201, body: { name, media_type } });
  });

  const TYPE = 'file: The file should be a PDF, a PNG, a JPEG or a text in UTF-8.';
  test.each<[string, string, Uint8Array<ArrayBuffer> | string, string]>([
    ['an empty file', 'a.txt', '', TYPE],
    ['a program', 'a.pdf', Buffer.from('7f454c4602010100', 'hex'), TYPE],
    ['another encoding', 'a.txt', Buffer.from('e9e8', 'hex'), TYPE],
    ['no name', ' / ', PNG, 'name: This value should not be blank.'],
    ['a long name', 'x'.repeat(121), PNG, 'name: This value is too long. It should have 120 characters or less.'],
    ...['proof.exe', 'proof.pdf.js', 'PROOF.EXE'].map((name): [string, string, string, string] => [
      `the ending of ${name}`,
      name,
      'A text',
      'name: The name should end in .pdf, .png, .jpg, .jpeg, .txt, .csv, .log, .md, .eml or nothing.',
    ]),
    ['a card number', 'scan4111111111111111.png', PNG, 'name: This value should not contain a card number.'],
  ])('%s is refused', async (_, name, bytes, entry) => {
    expect(await upload(id, name, bytes)).toEqual(refused('invalidData', entry));
  });

  test('a file that is too large is refused', async () => {
    expect((await upload(id, 'a.txt', 'x'.repeat(2 * 1024 * 1024))).status).toBe(201);
    expect((await upload(id, 'a.txt', 'x'.repeat(2 * 1024 * 1024 + 1))).status).toBe(413);
  });

  test('a chargeback has at most ten files, also when they arrive together', async () => {
    const other = await chargedBack(shop.merchant);
    const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => upload(other, `${index}.png`, PNG)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(answers.find(({ status }) => status === 400)).toEqual(
      refused('invalidData', 'file: A chargeback should have 10 files or less.'),
    );
    expect((await shop.admin('GET', `/chargebacks/${other}/evidence`)).body.items).toHaveLength(10);
  });

  test('is deleted once, and belongs to its chargeback', async () => {
    const other = await chargedBack(shop.merchant);
    const { evidence_id } = (await upload(id, 'b.png', PNG)).body;
    expect((await shop.admin('GET', `/chargebacks/${other}/evidence/${evidence_id}`)).status).toBe(404);
    expect((await shop.admin('DELETE', `/chargebacks/${other}/evidence/${evidence_id}`)).status).toBe(404);
    expect((await shop.admin('DELETE', `/chargebacks/${id}/evidence/${evidence_id}`)).body).toEqual({
      evidence_id,
      deleted: true,
    });
    const again = await shop.admin('DELETE', `/chargebacks/${id}/evidence/${evidence_id}`);
    expect([again.status, again.body.error_message]).toEqual([404, 'Evidence file does not exist.']);
    expect((await shop.admin('GET', '/audit?limit=1')).body.items[0]).toMatchObject({
      action: 'chargebacks.delete_evidence',
      before: { evidence_id, name: 'b.png' },
    });
  });

  test('a merchant adds its own and sees no other; support sees and changes nothing', async () => {
    const token = async (role: string, mids?: string[]): Promise<string> =>
      (await shop.admin('POST', '/tokens', { name: role, role, ...(mids && { mids }) })).body.token;
    const merchant = await shop.newMerchant();
    const own = await chargedBack(merchant);
    const [ofMerchant, ofSupport] = [await token('merchant', [merchant.mid]), await token('support')];
    expect((await list('', ofMerchant)).items).toMatchObject([{ payment_id: own }]);
    expect((await upload(own, 'a.png', PNG, ofMerchant)).status).toBe(201);
    expect((await upload(id, 'a.png', PNG, ofMerchant)).status).toBe(404);
    expect((await list(`mid=${merchant.mid}`, ofSupport)).items).toMatchObject([{ evidence_files: 1 }]);
    expect((await upload(own, 'a.png', PNG, ofSupport)).status).toBe(403);
  });
});
