/** An address that callbacks may not be sent to is refused when it is set, on an account and in a sale. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { entryOf } from '../support/entries.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

let sandbox: TestGateway;
let production: TestGateway;
beforeAll(async () => {
  sandbox = await startTestGateway();
  production = await startTestGateway({ environment: 'production' });
});
afterAll(async () => {
  await sandbox.close();
  await production.close();
});

const BAD = (scheme: string): string =>
  `This value should be an ${scheme} address of 2048 characters or less, without a user name, a password or a fragment.`;
const PRIVATE = 'This value should be a public address, callbacks do not go to private ones.';

const refusal = (sentence: string) => ({
  status: 400,
  body: {
    error_code: 100000,
    errors: expect.arrayContaining([entryOf(`callback_url: ${sentence}`)]),
  },
});

/** Sets an address on the account and in a sale. */
async function set(shop: TestGateway, callback_url: string): Promise<unknown[]> {
  const { mid } = shop.merchant;
  return [await shop.admin('PATCH', `/accounts/${mid}`, { callback_url }), await shop.sale({ callback_url })];
}

describe('in the sandbox', () => {
  test.each<[string, string]>([
    ['shop.example', BAD('http or https')],
    ['ftp://shop.example/', BAD('http or https')],
    ['https://user:password@shop.example/', BAD('http or https')],
    ['https://shop.example/#x', BAD('http or https')],
    [`https://shop.example/${'x'.repeat(2048)}`, BAD('http or https')],
    ['http://10.0.0.1/', PRIVATE],
    ['http://169.254.169.254/latest/', PRIVATE],
    ['http://[64:ff9b::7f00:1]/', PRIVATE],
    ['http://0xa9.0xfe.0xa9.0xfe/', PRIVATE],
  ])('%s is refused', async (address, sentence) => {
    for (const answer of await set(sandbox, address)) expect(answer).toMatchObject(refusal(sentence));
  });

  test.each(['https://shop.example/news?x=1', 'http://localhost:3000/', 'http://127.0.0.1:3000/', 'http://[::1]/'])(
    '%s is accepted',
    async (address) => {
      for (const answer of await set(sandbox, address)) expect(answer).toMatchObject({ status: 200 });
    },
  );
});

describe('in production', () => {
  test.each<[string, string]>([
    ['http://shop.example/', BAD('https')],
    ['https://localhost/', PRIVATE],
    ['https://127.0.0.1/', PRIVATE],
    ['https://[::1]/', PRIVATE],
    ['https://10.0.0.1/', PRIVATE],
  ])('%s is refused', async (address, sentence) => {
    for (const answer of await set(production, address)) expect(answer).toMatchObject(refusal(sentence));
  });

  test('a public https address is accepted', async () => {
    const [changed] = await set(production, 'https://shop.example/news');
    expect(changed).toMatchObject({ status: 200, body: { settings: { callback_url: 'https://shop.example/news' } } });
  });
});
