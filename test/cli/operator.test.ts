/** The command `operator invite`: every role, with the values and the refusals of the admin API. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { newMasterKey } from '../../src/lib/crypto/seal.ts';
import { isMerchantRole, ROLES } from '../../src/rules/roles.ts';
import { type Merchant, openShop } from '../support/gateway.ts';
import { databaseUrl } from '../support/process.ts';
import { turnpike } from './turnpike.ts';

const MASTER_KEY = newMasterKey();
const shop = openShop({ masterKey: MASTER_KEY });

let own: Merchant;
let second: Merchant;
beforeAll(async () => {
  [own, second] = [await shop.newMerchant(), await shop.newMerchant()];
});

const email = (): string => `${randomUUID()}@example.com`;
const invite = (...words: string[]) =>
  turnpike(
    {
      DATABASE_URL: databaseUrl(shop.connection as Parameters<typeof databaseUrl>[0]),
      TURNPIKE_MASTER_KEY: MASTER_KEY,
      PUBLIC_URL: shop.url,
    },
    ['operator', 'invite', ...words],
  );
const stored = async (address: string) => {
  const { items } = (await shop.admin('GET', '/operators')).body;
  return items.find((item: { email: string }) => item.email === address);
};

test('without a role, the first operator is an owner', async () => {
  const address = email();
  const { code, output, messages } = await invite(address);
  expect([code, messages]).toEqual([0, expect.stringContaining(`for ${address} (owner), which works for 7 days`)]);
  expect((await fetch(output.trim())).status).toBe(200);
  expect(await stored(address)).toMatchObject({ role: 'owner', mids: null, refund_limit: null, state: 'invited' });
});

test.each(ROLES)('a new %s gets a link that opens', async (role) => {
  const address = email();
  const mids = isMerchantRole(role) ? ['--mids', own.mid] : [];
  const { code, json, messages } = await invite(address, role, ...mids, '--json');
  expect(code, messages).toBe(0);
  expect((await fetch(json().link)).status).toBe(200);
  expect(await stored(address)).toMatchObject({ role, mids: isMerchantRole(role) ? [own.mid] : null });
});

test('the accounts, the name and the limit of refunds are stored, and are in the audit log', async () => {
  const address = email();
  const mids = `${own.mid}, ${second.mid.toUpperCase()}`;
  const options = ['--mids', mids, '--name', 'Lena', '--refund-limit', '50.00'];
  expect(await invite(address, 'merchant_support', ...options)).toMatchObject({ code: 0 });
  const values = { role: 'merchant_support', mids: [own.mid, second.mid], refund_limit: '50.00' };
  expect(await stored(address)).toMatchObject({ ...values, name: 'Lena' });
  const { items } = (await shop.admin('GET', '/audit?action=operators.create')).body;
  expect(items[0]).toMatchObject({ actor: { name: 'turnpike operator invite' }, after: { email: address, ...values } });
});

describe('refused', () => {
  const refused = async (words: string[], code: number, message: string) => {
    const address = email();
    expect(await invite(address, ...words)).toMatchObject({
      code,
      output: '',
      messages: expect.stringContaining(message),
    });
    expect(await stored(address)).toBeUndefined();
  };

  test.each(ROLES.filter(isMerchantRole))('a %s without accounts', (role) =>
    refused([role], 1, 'mids: This value should not be blank.'),
  );

  test('accounts that do not exist, or are no ids', async () => {
    for (const mids of [randomUUID(), `${own.mid},${randomUUID()}`]) {
      await refused(['merchant', '--mids', mids], 1, 'mids: This value should be a list of ids of accounts.');
    }
    for (const mids of ['', 'tea', `${own.mid},`]) {
      await refused(['merchant', '--mids', mids], 1, 'mids: This value should be a list of 1 to 1000 account ids.');
    }
  });

  test('accounts without a role', () => refused(['--mids', own.mid], 2, '--mids needs a role.'));

  test('other values', async () => {
    await refused(['merchant_seat', '--mids', own.mid], 2, '<role> should be one of owner, ');
    await refused(['viewer', '--refund-limit', 'much'], 1, 'refund_limit: This value is not valid.');
    await refused(['viewer', '--name', 'Lena \u202eanel'], 1, 'name: This value should be a text of 100 characters');
    expect(await invite('nobody')).toMatchObject({ code: 2, messages: expect.stringContaining('an e-mail address') });
  });
});

describe('an operator who exists', () => {
  test('gets a new link, and the earlier one stops working', async () => {
    const address = email();
    const links = [
      (await invite(address, 'merchant_cashier', '--mids', own.mid)).output.trim(),
      (await invite(address)).output.trim(),
      (await invite(address, 'merchant_cashier')).output.trim(),
    ];
    expect(await Promise.all(links.map(async (link) => (await fetch(link)).ok))).toEqual([false, false, true]);
    expect(await stored(address)).toMatchObject({ role: 'merchant_cashier', mids: [own.mid] });
  });

  test('is not changed by the command', async () => {
    const address = email();
    await invite(address, 'merchant_cashier', '--mids', own.mid);
    for (const [words, message] of [
      [['merchant'], `The operator ${address} has the role merchant_cashier`],
      [['owner'], `The operator ${address} has the role merchant_cashier`],
      [['merchant_cashier', '--mids', second.mid], `The operator ${address} exists`],
      [['merchant_cashier', '--refund-limit', '1.00'], `The operator ${address} exists`],
      [['merchant_cashier', '--name', 'Lena'], `The operator ${address} exists`],
    ] as const) {
      expect(await invite(address, ...words)).toMatchObject({ code: 1, messages: expect.stringContaining(message) });
    }
    expect(await stored(address)).toMatchObject({ role: 'merchant_cashier', mids: [own.mid], refund_limit: null });
  });

  test('gets no link while suspended', async () => {
    const address = email();
    await invite(address, 'merchant', '--mids', own.mid);
    await shop.admin('PATCH', `/operators/${(await stored(address)).operator_id}`, { state: 'suspended' });
    expect(await invite(address)).toMatchObject({ code: 1, messages: expect.stringContaining('is suspended') });
  });
});
