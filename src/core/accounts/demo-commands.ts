/** Commands for a first payment and its callbacks, for the start output and the start page of the sandbox. */
import { wireHash } from '../../lib/crypto/hash.ts';
import type { Account } from '../context.ts';

/** The signed fields of a sale with the test brand. Its order number is new, so it can be sent once. */
function saleFields(demo: Account): [name: string, value: string][] {
  const sale: Record<string, string> = {
    action: 'SALE',
    client_key: demo.clientKey,
    brand: 'vcard',
    identifier: 'success@example.com',
    order_id: `demo-${Date.now().toString(36)}`,
    order_amount: '19.99',
    order_currency: 'USD',
    order_description: 'My first payment',
    payer_ip: '203.0.113.7',
    return_url: 'https://example.com/return',
  };
  const signed = ['identifier', 'order_id', 'order_amount', 'order_currency'].map((name) => sale[name] as string);
  const hash = wireHash(signed, demo.passwords()[0] as string, 'ascii', demo.settings['dialect.digest']);
  return [...Object.entries(sale), ['hash', hash]];
}

/** A payment of the demo account, in one line. */
export const demoCurl = (url: string, demo: Account): string =>
  `curl ${url}/post -d '${new URLSearchParams(saleFields(demo))}'`;

/** The same, with a field in each line. */
export const readableDemoCurl = (url: string, demo: Account): string =>
  [`curl ${url}/post`, ...saleFields(demo).map((field) => `  -d '${new URLSearchParams([field])}'`)].join(' \\\n');

/** Shows the callbacks of a gateway on this machine. */
export const listenCommand = (url: string): string =>
  // The default of the command.
  `bin/turnpike listen${url === 'http://127.0.0.1:8080' ? '' : ` --url ${url}`}`;
