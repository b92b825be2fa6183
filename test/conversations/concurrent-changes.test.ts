/** Two people change the same thing at the same time: no change is lost, and the audit log tells what happened. */
import { beforeAll, describe, expect, test } from 'vitest';
import { findAccount } from '../../src/core/accounts/accounts.ts';
import { liveKeys } from '../../src/core/accounts/secret-settings.ts';
import { addEvidence } from '../../src/core/chargebacks/chargebacks.ts';
import type { Account, Operator } from '../../src/core/context.ts';
import { acceptWithPassword, inviteAgain, openInvitation } from '../../src/core/operators/invitations.ts';
import { hashPassword } from '../../src/core/operators/passwords.ts';
import { auditEntry, commandCaller } from '../../src/core/operators/principal.ts';
import { newTotpSeed } from '../../src/core/operators/totp.ts';
import { createSchedule, deleteSchedule, stopScheduleAs, updateSchedule } from '../../src/core/schedules/schedules.ts';
import { newId } from '../../src/lib/crypto/id.ts';
import { boundTo } from '../../src/lib/crypto/seal.ts';
import { Secret } from '../../src/lib/crypto/secret.ts';
import { publicKeyHash } from '../../src/lib/wallets/keys.ts';
import { ERRORS, Refusal } from '../../src/rules/errors.ts';
import { selfSigned } from '../support/certificate.ts';
import { type Fields, openShop } from '../support/gateway.ts';
import { signedIn, type TestOperator } from '../support/operators.ts';
import { connect, openProviders } from '../support/providers.ts';
import { hiddenValue, PASSWORD, totpCode } from '../support/sign-in.ts';
import { sized } from '../support/size.ts';
import { newKey, pemOf } from '../support/wallets.ts';

const ROUNDS = sized(1, 10);
const BY = commandCaller('test');
const ALL = { mids: null };

const shop = openShop();
const providers = openProviders(1);

let owner: TestOperator;
let formToken: string;
beforeAll(async () => {
  owner = await signedIn(shop, 'owner');
  formToken = hiddenValue((await owner.get('/admin/payments')).text, 'form_token');
});

type State = Record<string, unknown>;

interface Writer {
  /** False if the change was refused. */
  write(id: string): Promise<boolean>;
  /** What the subject shows afterwards. */
  sets?: State;
  /** After these, the change may come too late. */
  refusedAfter?: readonly string[];
  /** Of the values of these two, its own stays. */
  prevailsOver?: string;
  /** Only one of the two can be done. */
  excludes?: string;
}

interface Subject {
  create(first: string, second: string): Promise<string>;
  state(id: string): Promise<State>;
  writers: Readonly<Record<string, Writer>>;
}

const isDone = ({ status }: { status: number }): boolean => {
  expect([200, 201, 303, 400, 404]).toContain(status);
  return status < 400;
};

/** Whether a function of the core did its work; refusals are not errors here. */
const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    (error) => {
      if (error instanceof Refusal) return false;
      throw error;
    },
  );

const patch = (path: string, body: object) => async (id: string) =>
  isDone(await shop.admin('PATCH', `/${path}/${id}`, body));
const submit = (id: string, action: string, fields: Record<string, string> = {}) =>
  owner.submit(`/admin/operators/${id}/${action}`, fields, formToken).then(isDone);

const NAME = 'The name that it chose';
const passwordHash = hashPassword(new Secret(PASSWORD));
/** The link of an operator that is about to accept it, and what it has prepared. */
const prepared = new Map<string, () => Promise<boolean>>();

async function prepareAcceptance(operator: Operator): Promise<void> {
  const { gateway } = shop;
  const secret = (await inviteAgain(gateway, BY, operator)).reveal();
  const invitation = await openInvitation(gateway, secret);
  if (!invitation) throw new Error('The invitation cannot be opened.');
  const seed = newTotpSeed();
  const setup = { name: NAME, email: operator.email, passwordHash: await passwordHash, seed };
  prepared.set(operator.operatorId, async () => {
    const client = { address: '127.0.0.1', userAgent: 'a test', browser: '' };
    const accepted = await acceptWithPassword(gateway, secret, invitation, setup, totpCode(seed), client);
    return typeof accepted === 'object';
  });
}

const operators: Subject = {
  async create(...names) {
    const operatorId = newId();
    const state = names.includes('accept') ? 'invited' : names.includes('resume') ? 'suspended' : 'active';
    const at = { refundLimit: null, createdAt: Date.now(), lastSignedInAt: state === 'invited' ? null : Date.now() };
    const email = `${operatorId}@example.com`;
    const operator: Operator = { operatorId, email, name: 'Somebody', role: 'operator', mids: null, state, ...at };
    const { gateway } = shop;
    await gateway.operators.insert(operator, auditEntry(gateway, BY, 'operators.create', { subject: operatorId }));
    if (state === 'invited') await prepareAcceptance(operator);
    return operatorId;
  },
  async state(id) {
    const { role, state, name } = (await shop.gateway.operators.find(id)) as Operator;
    return { role, state, name };
  },
  writers: {
    role: { write: (id) => submit(id, 'role', { role: 'support' }), sets: { role: 'support' } },
    'another role': { write: (id) => submit(id, 'role', { role: 'viewer' }), sets: { role: 'viewer' } },
    suspend: {
      write: (id) => submit(id, 'suspend', { suspended: 'true' }),
      sets: { state: 'suspended' },
      prevailsOver: 'accept',
    },
    resume: { write: (id) => submit(id, 'suspend', { suspended: 'false' }), sets: { state: 'active' } },
    'invite again': { write: (id) => submit(id, 'invite') },
    accept: {
      write: (id) => (prepared.get(id) as () => Promise<boolean>)(),
      sets: { state: 'active', name: NAME },
      refusedAfter: ['suspend', 'invite again'],
    },
  },
};

const keyB = newKey();
const accounts: Subject = {
  create: async () => (await shop.newMerchant()).mid,
  async state(id) {
    const { name, suspended, settings } = (await shop.admin('GET', `/accounts/${id}`)).body;
    const { authorisation_days, refunds_allowed } = settings;
    const hashes = (await liveKeys(shop.gateway, id, 'wallets.wallet-b.private_key')).map(publicKeyHash);
    const routes = (await shop.admin('GET', `/accounts/${id}/routes`)).body;
    return { name, suspended, authorisation_days, refunds_allowed, keys: hashes, routes };
  },
  writers: {
    name: { write: patch('accounts', { name: 'Renamed' }), sets: { name: 'Renamed' } },
    'one setting': { write: patch('accounts', { authorisation_days: 3 }), sets: { authorisation_days: 3 } },
    'another setting': { write: patch('accounts', { refunds_allowed: false }), sets: { refunds_allowed: false } },
    suspend: { write: patch('accounts', { suspended: true }), sets: { suspended: true } },
    'rotate the password': { write: async (id) => isDone(await shop.admin('POST', `/accounts/${id}/rotate-password`)) },
    'wallet key': {
      write: patch('accounts', { wallets: { 'wallet-b': { private_key: pemOf(keyB) } } }),
      sets: { keys: [publicKeyHash(keyB)] },
    },
    routes: {
      write: async (id) => isDone(await shop.admin('PUT', `/accounts/${id}/routes`, [{ connection_id: null }])),
      sets: { routes: [expect.objectContaining({ connection_id: null })] },
    },
  },
};

/** The account whose routes are about to use a connection. */
const users = new Map<string, string>();
const connections: Subject = {
  async create() {
    const id = await connect(shop, providers[0] as (typeof providers)[0]);
    users.set(id, (await shop.newMerchant()).mid);
    return id;
  },
  async state(id) {
    const row = await shop.gateway.connectionStore.find(id);
    if (!row) throw new Error('There is no such connection.');
    const { key, notification_secret } = JSON.parse(
      shop.gateway.seal.open(row.credentials, boundTo('connections', 'credentials', id)),
    );
    const isUsed = (await shop.gateway.connectionStore.accountsWith(id)).length > 0;
    return {
      name: row.name,
      settings: row.settings,
      key,
      notification_secret,
      isDeleted: row.deletedAt !== null,
      isUsed,
    };
  },
  writers: {
    name: { write: patch('connections', { name: 'Renamed' }), sets: { name: 'Renamed' }, refusedAfter: ['delete'] },
    'one credential': {
      write: patch('connections', { credentials: { key: 'new key' } }),
      sets: { key: 'new key' },
      refusedAfter: ['delete'],
    },
    'another credential': {
      write: patch('connections', { credentials: { notification_secret: 'new secret' } }),
      sets: { notification_secret: 'new secret' },
      refusedAfter: ['delete'],
    },
    settings: {
      write: patch('connections', { settings: { methods: { 'bank-a': 'ideal' } } }),
      sets: { settings: { methods: { 'bank-a': 'ideal' } } },
      refusedAfter: ['delete'],
    },
    delete: {
      write: async (id) => isDone(await shop.admin('DELETE', `/connections/${id}`)),
      sets: { isDeleted: true },
      refusedAfter: ['route to it'],
    },
    'route to it': {
      write: async (id) =>
        isDone(await shop.admin('PUT', `/accounts/${users.get(id)}/routes`, [{ connection_id: id }])),
      sets: { isUsed: true },
      refusedAfter: ['delete'],
      excludes: 'delete',
    },
  },
};

const chargebacks: Subject = {
  async create() {
    const { trans_id: paymentId } = (await shop.sale()).body;
    const { mid } = shop.merchant;
    const receivedAt = Date.now();
    const reported = { stage: 'chargeback', amount: 100n, reason: '' } as const;
    await shop.gateway.chargebacks.record({ mid, paymentId, ...reported, receivedAt, respondBy: receivedAt + 1000 });
    return paymentId;
  },
  async state(id) {
    const [found] = await shop.gateway.chargebacks.list({ ...ALL, paymentId: id }, 1);
    return { state: found?.state, note: found?.note, files: found?.files };
  },
  writers: {
    state: { write: patch('chargebacks', { state: 'answered' }), sets: { state: 'answered' } },
    note: { write: patch('chargebacks', { note: 'Sent to the bank' }), sets: { note: 'Sent to the bank' } },
    evidence: {
      write: (id) => succeeds(addEvidence(shop.gateway, ALL, BY, id, { name: 'a.txt', bytes: Buffer.from('A text') })),
      sets: { files: 1 },
    },
  },
};

const TERMS = { intervalLength: 1, intervalUnit: 'month', paymentsCount: 5, dayOfMonth: null, delays: 0 } as const;
const account = async () => (await findAccount(shop.gateway, shop.merchant.mid)) as Account;
const change = (terms: Parameters<typeof updateSchedule>[3]) => async (id: string) =>
  succeeds(updateSchedule(shop.gateway, await account(), id, terms));
const schedules: Subject = {
  create: async () =>
    (await createSchedule(shop.gateway, await account(), { name: 'Monthly', ...TERMS }, '')).scheduleId,
  async state(id) {
    const found = await shop.gateway.schedules.listOne(shop.merchant.mid, id);
    const { name, paymentsCount, deletedAt } = found?.schedule ?? {};
    return { name, paymentsCount, isStopped: deletedAt !== null };
  },
  writers: {
    name: { write: change({ name: 'Renamed' }), sets: { name: 'Renamed' }, refusedAfter: ['stop', 'delete'] },
    count: { write: change({ paymentsCount: 9 }), sets: { paymentsCount: 9 }, refusedAfter: ['stop', 'delete'] },
    stop: {
      write: (id) => succeeds(stopScheduleAs(shop.gateway, ALL, BY, shop.merchant.mid, id)),
      sets: { isStopped: true },
      refusedAfter: ['delete'],
    },
    delete: {
      write: async (id) => succeeds(deleteSchedule(shop.gateway, await account(), id)),
      sets: { isStopped: true },
      refusedAfter: ['stop'],
    },
  },
};

interface Entry {
  action: string;
  before: State | null;
  after: State | null;
}

const entriesOf = async (id: string): Promise<Entry[]> =>
  (await shop.rows(
    `select action, before, after from audit_log where subject = '${id}' or (subject is null and mid = '${id}') order by seq`,
  )) as unknown as Entry[];

/** What an entry says was before is what the entry before it left. */
function followEntries(entries: readonly Entry[]): State {
  const known: State = {};
  for (const { before, after } of entries) {
    for (const [name, value] of Object.entries(before ?? {})) if (name in known) expect(known[name]).toEqual(value);
    Object.assign(known, after);
  }
  return known;
}

const pairsOf = ({ writers }: Subject): [string, string][] => {
  const names = Object.keys(writers);
  return names.flatMap((first, index) => names.slice(index + 1).map((second): [string, string] => [first, second]));
};

describe.each(Object.entries({ operators, accounts, connections, chargebacks, schedules }))('%s', (_, subject) => {
  test.each(pairsOf(subject))('%s and %s', async (...names) => {
    const [first, second] = names.map((name) => subject.writers[name] as Writer) as [Writer, Writer];
    for (let round = 0; round < ROUNDS; round++) {
      const id = await subject.create(...names);
      // Either may be sent first.
      const [left, right] = round % 2 === 0 ? [first, second] : [second, first];
      const isLeftDone = left.write(id);
      const done = new Map([
        [right, await right.write(id)],
        [left, await isLeftDone],
      ]);
      const state = await subject.state(id);
      for (const [writer, other, otherName] of [
        [first, second, names[1]],
        [second, first, names[0]],
      ] as const) {
        if (!done.get(writer)) {
          expect(writer.refusedAfter).toContain(otherName);
          expect(done.get(other)).toBe(true);
          continue;
        }
        if (writer.excludes === otherName) expect(done.get(other)).toBe(false);
        for (const [name, value] of Object.entries(writer.sets ?? {})) {
          const rival = done.get(other) && writer.prevailsOver !== otherName ? other.sets?.[name] : undefined;
          expect(rival === undefined ? [value] : [value, rival]).toContainEqual(state[name]);
        }
      }
      const known = Object.entries(followEntries(await entriesOf(id))).filter(([name]) => name in state);
      expect(state).toMatchObject(Object.fromEntries(known));
    }
  });
});

test('two rotations at the same time leave both new passwords valid', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const merchant = await shop.newMerchant();
    const rotate = () => shop.admin('POST', `/accounts/${merchant.mid}/rotate-password`);
    for (const { body } of await Promise.all([rotate(), rotate()])) {
      const { status } = await shop.sale({}, { ...merchant, password: body.password });
      expect(status).toBe(200);
    }
  }
});

test('a key that is saved twice at the same time is replaced once, and then confirmed', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const [old, next] = [newKey(), newKey()];
    const { mid } = await shop.newMerchant();
    const save = (key: typeof old) =>
      shop.admin('PATCH', `/accounts/${mid}`, { wallets: { 'wallet-b': { private_key: pemOf(key) } } });
    await save(old);
    await Promise.all([save(next), save(next)]);
    const hashes = (await liveKeys(shop.gateway, mid, 'wallets.wallet-b.private_key')).map(publicKeyHash);
    expect(hashes).toEqual([publicKeyHash(next)]);
  }
});

test('a certificate and the key of another one, saved at the same time, are not both accepted', async () => {
  const [one, other] = [selfSigned(['one']), selfSigned(['other'])];
  for (let round = 0; round < ROUNDS; round++) {
    const { mid } = await shop.newMerchant();
    const save = (values: object) => shop.admin('PATCH', `/accounts/${mid}`, { wallets: { 'wallet-a': values } });
    const answers = await Promise.all([save({ certificate: one.cert }), save({ private_key: other.key })]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
    expect(JSON.stringify(answers.map(({ body }) => body.errors))).toContain('wallets.wallet-a.private_key');
  }
});

describe('the last owner', () => {
  const suspend = (by: TestOperator, of: TestOperator) =>
    by.submit(`/admin/operators/${of.operatorId}/suspend`, { suspended: 'true' });

  test('two owners who suspend or demote each other at the same time: one stays', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await shop.rows(`update operators set state = 'suspended'`);
      const [one, other] = [await signedIn(shop, 'owner'), await signedIn(shop, 'owner')] as const;
      // A restricted owner cannot give anybody access to all accounts.
      await signedIn(shop, 'owner', [shop.merchant.mid]);
      const demote = () => other.submit(`/admin/operators/${one.operatorId}/role`, { role: 'viewer' });
      const answers = await Promise.all([suspend(one, other), round % 2 === 0 ? suspend(other, one) : demote()]);
      // The other one is refused, or signed out by then.
      expect(answers.filter(({ location }) => location === '/admin/operators')).toHaveLength(1);
      const left = await shop.rows(`select from operators where role = 'owner' and state = 'active' and mids is null`);
      expect(left).toHaveLength(1);
    }
  });

  test('a restricted owner can be suspended, and does not replace the last unrestricted one', async () => {
    await shop.rows(`update operators set state = 'suspended'`);
    const last = await signedIn(shop, 'owner');
    const restricted = await signedIn(shop, 'owner', [shop.merchant.mid]);
    const refused = await suspend(last, last);
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(ERRORS.lastOwner.message)]);
    const demoted = await last.submit(`/admin/operators/${last.operatorId}/role`, { role: 'operator' });
    expect(demoted.status).toBe(400);
    expect((await suspend(last, restricted)).status).toBe(303);
    // A role that it has already is no change.
    const same = await last.submit(`/admin/operators/${last.operatorId}/role`, { role: 'owner' });
    expect(same.status).toBe(303);
  });
});

describe('two operators who opened the same form of the panel', () => {
  let other: TestOperator;
  beforeAll(async () => {
    owner = await signedIn(shop, 'owner');
    other = await signedIn(shop, 'owner');
  });

  /** The fields that the forms of a page submit if nothing is typed. */
  function fieldsOf(page: string): Fields {
    const plain = (text: string) => text.replaceAll('&quot;', '"').replaceAll('&amp;', '&').replaceAll('&#39;', "'");
    const inputs = [...page.matchAll(/<input(?=[^>]* name="([^"]+)")(?=[^>]* value="([^"]*)")[^>]*>/g)];
    const areas = [...page.matchAll(/<textarea[^>]* name="([^"]+)"[^>]*>([^<]*)</g)];
    const choices = [...page.matchAll(/<select[^>]* name="([^"]+)".*?<option value="([^"]*)" selected/gs)];
    const found = [...inputs, ...areas, ...choices].map(([, name = '', value = '']) => [name, plain(value)]);
    return Object.fromEntries(found.filter(([name]) => name !== 'form_token'));
  }

  test.each<[string, () => Promise<[string, string]>, Fields, Fields]>([
    [
      'an account',
      async () => {
        const { mid } = await shop.newMerchant();
        return [`/admin/accounts/${mid}`, '?tab=notifications'];
      },
      { callback_url: 'https://shop.example/callbacks' },
      { callback_format: 'json' },
    ],
    [
      'a chargeback',
      async () => [`/admin/chargebacks/${await chargebacks.create('', '')}`, ''],
      { note: 'Sent to the bank' },
      { state: 'answered' },
    ],
    [
      'a connection',
      async () => [`/admin/connections/${await connections.create('', '')}`, ''],
      { name: 'Renamed' },
      { 'settings.methods.row0.0': 'bank-a', 'settings.methods.row0.1': 'ideal' },
    ],
  ])('%s: each saves what it changed, and nothing else', async (_, create, first, second) => {
    const [path, tab] = await create();
    const page = path + tab;
    const [mine, others] = [fieldsOf((await owner.get(page)).text), fieldsOf((await other.get(page)).text)];
    expect(Object.keys(mine)).toEqual(expect.arrayContaining([...Object.keys({ ...first, ...second }), 'shown']));
    expect((await owner.submit(path, { ...mine, ...first })).status).toBe(303);
    expect((await other.submit(path, { ...others, ...second })).status).toBe(303);
    expect(fieldsOf((await owner.get(page)).text)).toMatchObject({ ...first, ...second });
  });
});
