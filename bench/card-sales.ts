/** Measures what a card sale over `/post` costs, with its limits and the vault, against a sale with the test brand. */
import { wireHash } from '../src/lib/crypto/hash.ts';
import {
  type Merchant,
  measure,
  median,
  newMerchant,
  newOrder,
  progress,
  saleForm,
  startServer,
  WARM_UP_SECONDS,
  wal,
} from './harness.ts';
import { postgresCpu } from './postgres-cpu.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);

let payers = 0;
/** Each payer has an address of its own, because the limits of failed cards count by address. */
const newAddress = (): string => `10.${(++payers >> 16) & 255}.${(payers >> 8) & 255}.${payers & 255}`;

function cardSaleForm({ client_key, password }: Merchant): string {
  const order = newOrder();
  return new URLSearchParams({
    ...{ action: 'SALE', client_key, order_id: order, order_amount: '19.99', order_currency: 'USD' },
    ...{ order_description: 'A payment of the benchmark', card_number: '4111111111111111', card_exp_month: '01' },
    ...{ card_exp_year: '2038', card_cvv2: '123', payer_first_name: 'Ana', payer_last_name: 'Petrovic' },
    ...{ payer_email: 'ana@example.com', payer_phone: '199999999', payer_country: 'DE', payer_city: 'Berlin' },
    ...{ payer_address: 'Main Street 1', payer_zip: '10115', payer_ip: newAddress() },
    term_url_3ds: 'https://shop.example/return',
    hash: wireHash([order, '19.99', 'USD'], password),
  }).toString();
}

const KINDS = ['the test brand', 'cards'] as const;

/** The limits that accounts have in production; in the sandbox there are none by default. */
const LIMITED = { card_tries_per_session: 10, card_failures_per_address: 20, card_failures_per_account: 100 };

/**
 * Returns the CPU time of the gateway for a card sale, divided by that for a sale with the test brand: the median of
 * several rounds. The provider answers in the process, as the test brand does. The CPU time of PostgreSQL is printed.
 */
export async function measureCardSales(): Promise<number> {
  const server = await startServer('cards');
  const merchant = await newMerchant(server.url as URL, { 'dialect.card_sales': true, ...LIMITED });
  const forms = { 'the test brand': () => saleForm(merchant), cards: () => cardSaleForm(merchant) };
  const ratios: number[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const perCore = { 'the test brand': 0, cards: 0 };
    for (const kind of round % 2 === 1 ? KINDS : KINDS.toReversed()) {
      const before = await postgresCpu(wal);
      const row = await measure(`(k) sales with ${kind}, round ${round}`, server, forms[kind], {
        warmUp: round === 1 ? WARM_UP_SECONDS : 1,
      });
      const used = (await postgresCpu(wal)).all - before.all;
      progress(`(k) ${kind}: ${used.toFixed(1)} s of PostgreSQL, with the warm-up`);
      perCore[kind] = row.perCore ?? 0;
    }
    ratios.push(perCore['the test brand'] / perCore.cards);
    // As autovacuum does within a minute: the plans of an empty table read all attempts of the last ten minutes.
    if (round === 1) await wal.query('analyze card_attempts');
  }
  await server.stop();
  return median(ratios);
}
