/** Measures whether sales with wallet tokens delay other sales: their p99 at a fixed rate, with and without them. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wireHash } from '../src/lib/crypto/hash.ts';
import { Secret } from '../src/lib/crypto/secret.ts';
import { newWalletAAuthority, sealWalletA } from '../src/lib/wallets/seal-a.ts';
import { newWalletBAuthority, publishedKeys, sealWalletB } from '../src/lib/wallets/seal-b.ts';
import {
  type Merchant,
  makeRequests,
  newMerchant,
  newOrder,
  progress,
  rows,
  SECONDS,
  saleForm,
  startServer,
  WARM_UP_SECONDS,
} from './harness.ts';
import { type LoadOrder, load } from './load.ts';

/** Sales per second: a rate that leaves CPU time to spare, so that latencies show delays and not a queue. */
const RATE = 200;
const SHARE = 0.1;
const ROUNDS = 9;
const CONNECTIONS = { sales: 16, others: 4 };

const IDENTIFIER = 'merchant.example.shop';
const newKey = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
const keys = { a: newKey(), b: newKey() };
const pem = (key: ReturnType<typeof newKey>): string => key.export({ format: 'pem', type: 'pkcs8' }).toString();
const card = { number: new Secret('4895370012003478'), month: '01', year: '2038', network: 'Visa' };

/** A sale that the provider processes, as it does those of the wallets. */
export function providerSale({ client_key, password }: Merchant): string {
  const order = newOrder();
  return new URLSearchParams({
    ...{ action: 'SALE', client_key, brand: 'pin-a', order_id: order, order_amount: '19.99', order_currency: 'USD' },
    ...{ order_description: 'A payment of the benchmark', payer_ip: '203.0.113.7' },
    ...{ return_url: 'https://shop.example/return', 'parameters[pin]': '1234567890123456' },
    hash: wireHash(['', order, '19.99', 'USD'], password),
  }).toString();
}

/** Sales with tokens, alternately of both wallets. */
function walletSales({ client_key, password }: Merchant, authorities: ReturnType<typeof newAuthorities>) {
  let count = 0;
  return (): string => {
    const now = Date.now();
    const isA = count++ % 2 === 0;
    const token = isA
      ? sealWalletA(
          authorities.a,
          { merchantIdentifier: IDENTIFIER, processingKey: keys.a },
          { ...card, amount: 1999n, currency: 'USD' },
          now,
        )
      : sealWalletB(
          authorities.b,
          { recipient: 'gateway:turnpike', gatewayMerchantId: client_key, key: keys.b },
          { ...card, kind: 'CRYPTOGRAM_3DS' },
          now,
        );
    const order = newOrder();
    return new URLSearchParams({
      ...{ action: 'SALE', client_key, brand: isA ? 'wallet-a' : 'wallet-b', order_id: order, order_amount: '19.99' },
      ...{ order_currency: 'USD', order_description: 'A payment of the benchmark', payer_ip: '203.0.113.7' },
      ...{ return_url: 'https://shop.example/return', 'parameters[paymentToken]': JSON.stringify(token) },
      hash: wireHash(['', order, '19.99', 'USD'], password),
    }).toString();
  };
}

const newAuthorities = () => ({ a: newWalletAAuthority(Date.now()), b: newWalletBAuthority(Date.now()) });

/**
 * Returns the p99 of sales beside wallet sales, divided by that beside other sales at the provider, so that both have the
 * same calls to the provider, which runs on this machine, too: the median of several rounds in changing order.
 */
export async function measureWalletSales(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-bench-roots-'));
  const authorities = newAuthorities();
  await writeFile(join(folder, 'wallet-a.pem'), authorities.a.root);
  await writeFile(join(folder, 'wallet-b.json'), publishedKeys(authorities.b));
  const server = await startServer('brands', {}, { walletRoots: folder });
  const { hostname: host, port } = server.url as URL;
  const merchant = await newMerchant(server.url as URL, {
    'wallets.wallet-a.merchant_identifier': IDENTIFIER,
    'wallets.wallet-a.processing_private_key': pem(keys.a),
    'wallets.wallet-b.private_key': pem(keys.b),
  });
  const order = (connections: number, seconds: number, perSecond: number, form: () => string): LoadOrder => ({
    ...{ host, port: Number(port), connections, seconds, perSecond },
    requests: makeRequests(seconds, form, seconds * perSecond),
  });
  const run = async (name: string, others: () => string, seconds: number): Promise<number> => {
    // Both are prepared first: sealing tokens takes CPU time, too.
    const orders = [
      order(CONNECTIONS.sales, seconds, RATE * (1 - SHARE), () => saleForm(merchant)),
      order(CONNECTIONS.others, seconds, RATE * SHARE, others),
    ] as const;
    const [sales, beside] = await Promise.all([load(orders[0]), load(orders[1])]);
    const failed = sales.failed + beside.failed;
    if (failed > 0) throw new Error(`${name}: ${failed} responses were not 200.`);
    progress(`${name}: p99 ${sales.p99.toFixed(1)} ms`);
    rows.push({ name, perSecond: sales.perSecond, p50: sales.p50, p99: sales.p99 });
    return sales.p99;
  };
  const wallets = walletSales(merchant, authorities);
  const beside = {
    'beside 10 % at the provider': () => providerSale(merchant),
    'beside 10 % wallets': wallets,
  };
  type Kind = keyof typeof beside;
  await run('(w) SALE beside 10 % wallets, warm-up', wallets, WARM_UP_SECONDS);
  const ratios: number[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const p99 = { 'beside 10 % at the provider': 0, 'beside 10 % wallets': 0 };
    const kinds = Object.keys(beside) as Kind[];
    for (const kind of round % 2 === 1 ? kinds : kinds.toReversed()) {
      p99[kind] = await run(`(w) SALE ${kind}, round ${round}`, beside[kind], SECONDS);
    }
    ratios.push(p99['beside 10 % wallets'] / p99['beside 10 % at the provider']);
  }
  await server.stop();
  await rm(folder, { recursive: true });
  progress(`(w) ratios: ${ratios.map((ratio) => ratio.toFixed(2)).join(', ')}`);
  return ratios.toSorted((one, other) => one - other)[Math.floor(ROUNDS / 2)] as number;
}
