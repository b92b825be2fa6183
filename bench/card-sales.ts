/** Measures what a card sale over `/post` costs, with its limits and the vault, against a sale with the test brand. */
import { wireHash } from '../src/lib/crypto/hash.ts';
import {
  type Merchant,
  measure,
  median,
  newMerchant,
  newOrder,
  progress,
  startServer,
  WARM_UP_SECONDS,
  wal,
} from './harness.ts';
import { postgresCpu } from './postgres-cpu.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);

let payers = 0;
/** Each payer has an address of its own, because the limits of failed cards count by address. */
const newAddress = (): string => `10.${(++payers >> 16) & 255}.${(payers >> 8) & 255}.${payers & 255}`;

/** The order and the payer, which are the same for both kinds: only the way to pay differs. */
const commonFields = ({ client_key }: Merchant, order_id: string) => ({
  ...{ action: 'SALE', client_key, order_id, order_amount: '19.99', order_currency: 'USD' },
  ...{ order_description: 'A payment of the benchmark', payer_first_name: 'Ana', payer_last_name: 'Petrovic' },
  ...{ payer_email: 'ana@example.com', payer_phone: '199999999', payer_country: 'DE', payer_city: 'Berlin' },
  ...{ payer_address: 'Main Street 1', payer_zip: '10115', payer_ip: newAddress() },
});

function brandSaleForm(merchant: Merchant): string {
  const order = newOrder();
  return new URLSearchParams({
    ...{ ...commonFields(merchant, order), brand: 'vcard', identifier: 'success@example.com' },
    return_url: 'https://shop.example/return',
    hash: wireHash(['success@example.com', order, '19.99', 'USD'], merchant.password),
  }).toString();
}

function cardSaleForm(merchant: Merchant, more: Record<string, string> = {}): string {
  const order = newOrder();
  return new URLSearchParams({
    ...{ ...commonFields(merchant, order), card_number: '4111111111111111', card_exp_month: '01' },
    ...{ card_exp_year: '2038', card_cvv2: '123', term_url_3ds: 'https://shop.example/return', ...more },
    hash: wireHash([order, '19.99', 'USD'], merchant.password),
  }).toString();
}

/** The vault gets the number of a card only if a token is requested. */
const KINDS = ['the test brand', 'cards', 'cards and tokens'] as const;

/** The limits that accounts have in production; in the sandbox there are none by default. */
const LIMITED = { card_tries_per_session: 10, card_failures_per_address: 20, card_failures_per_account: 100 };

/**
 * Returns the CPU time of the gateway for a card sale, and for one whose card goes into the vault, divided by that for a sale
 * with the test brand: the medians of several rounds. The provider answers in the process, as the test brand does. The CPU
 * time of PostgreSQL is printed.
 */
export async function measureCardSales(): Promise<{ cards: number; tokens: number }> {
  const server = await startServer('cards');
  const merchant = await newMerchant(server.url as URL, { 'dialect.card_sales': true, ...LIMITED });
  const forms = {
    'the test brand': () => brandSaleForm(merchant),
    cards: () => cardSaleForm(merchant),
    'cards and tokens': () => cardSaleForm(merchant, { req_token: 'Y' }),
  };
  const ratios: { cards: number[]; tokens: number[] } = { cards: [], tokens: [] };
  for (let round = 1; round <= ROUNDS; round++) {
    const perCore = { 'the test brand': 0, cards: 0, 'cards and tokens': 0 };
    for (const kind of round % 2 === 1 ? KINDS : KINDS.toReversed()) {
      const before = await postgresCpu(wal);
      const row = await measure(`(k) sales with ${kind}, round ${round}`, server, forms[kind], {
        warmUp: round === 1 ? WARM_UP_SECONDS : 1,
      });
      const used = (await postgresCpu(wal)).all - before.all;
      progress(`(k) ${kind}: ${used.toFixed(1)} s of PostgreSQL, with the warm-up`);
      perCore[kind] = row.perCore ?? 0;
    }
    ratios.cards.push(perCore['the test brand'] / perCore.cards);
    ratios.tokens.push(perCore['the test brand'] / perCore['cards and tokens']);
  }
  await server.stop();
  return { cards: median(ratios.cards), tokens: median(ratios.tokens) };
}
