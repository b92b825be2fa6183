/** The PHP client against the real gateway, where PHP is installed. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openShop } from '../support/gateway.ts';
import { hasPhp } from '../support/php.ts';
import { run } from '../support/process.ts';

const shop = openShop();

test.skipIf(!hasPhp)('the PHP client sells, captures, refunds, opens a session, and names refusals', async () => {
  const { client_key, merchant_key, password } = shop.merchant;
  const variables = {
    TURNPIKE_URL: shop.url,
    TURNPIKE_CLIENT_KEY: client_key,
    TURNPIKE_MERCHANT_KEY: merchant_key,
    TURNPIKE_PASSWORD: password,
  };
  const php = run(variables, { command: 'php', args: [join(import.meta.dirname, 'conversation.php')] });
  expect(await php.ended, php.output() + php.complaints()).toEqual({ code: 0, signal: null });
  const refusal = (reason: string, link: string, entries: object | [] = []) => ({
    reason,
    entries,
    param: Object.keys(entries)[0] ?? null,
    expected: Object.keys(entries).length > 0,
    link,
    mayHaveHappened: false,
    showsPassword: false,
  });
  expect(JSON.parse(php.output())).toEqual({
    sold: 'PENDING',
    captured: 'SETTLED',
    refunded: 'accepted',
    status: 'settled',
    page: expect.stringContaining(`${shop.url}/pay/`),
    refusals: [
      refusal('invalidData', '/docs/merchant/sign-requests#amounts', { order_amount: 'This value is not valid.' }),
      refusal('wrongHash', '/docs/merchant/sign-requests#hash-errors', { hash: 'Hash is not valid.' }),
      refusal('captureNotPending', '/docs/errors#capturenotpending'),
      refusal('connection', ''),
    ],
  });
});
