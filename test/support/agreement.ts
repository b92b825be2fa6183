/** Compares the payments of the gateway with the ledger of the provider, and its callbacks with those that arrived. */

/** One entry of the provider's ledger. */
export interface Movement {
  id: number;
  reference: string;
  mid: string;
  direction: 'in' | 'out';
  amount: string;
}

export interface LedgerPayment {
  id: string;
  mid: string;
  order_id: string;
  brand: string;
  state: string;
  captured: string;
  refunded: string;
  attention: string | null;
}

export interface StoredCallback {
  payment: string;
  seq: number;
  state: string;
}

export const LEDGER_PAYMENTS = `select payment_id as id, mid, order_id, brand, state, captured::text, refunded::text,
  attention from payments`;
export const STORED_CALLBACKS = `select payment_id as payment, seq, state from callbacks`;

/** Every page of the provider's ledger after this movement. */
export async function readLedger(
  read: (path: string) => Promise<{ items: Movement[]; next: number | null }>,
  from = 0,
): Promise<Movement[]> {
  const all: Movement[] = [];
  for (let after: number | null = from; after !== null; ) {
    const { items, next }: { items: Movement[]; next: number | null } = await read(`/ledger?after=${after}`);
    all.push(...items);
    after = next;
  }
  return all;
}

/** The tests' own test brand has no provider that could disagree. */
const WITHOUT_PROVIDER = new Set(['vcard']);

/** What is wrong about payments that are at rest. */
export function ledgerDisagreements(payments: readonly LedgerPayment[], movements: readonly Movement[]): string[] {
  const wrong: string[] = [];
  const demand = (isMet: boolean, sentence: string): void => void (isMet || wrong.push(sentence));
  const known = new Set(payments.map(({ id }) => id));
  const moved = Map.groupBy(movements, ({ reference }) => reference);
  for (const reference of moved.keys())
    demand(known.has(reference), `The provider moved money for ${reference}, unknown here.`);
  for (const { id, brand, state, captured, refunded, attention } of payments) {
    demand(!['PREPARE', 'REDIRECT', '3DS'].includes(state), `The payment ${id} is still ${state}.`);
    demand(attention !== 'unresolved' && attention !== 'conflict', `The payment ${id} has the mark ${attention}.`);
    if (WITHOUT_PROVIDER.has(brand)) continue;
    const balance = (moved.get(id) ?? []).reduce(
      (sum, { direction, amount }) => sum + (direction === 'in' ? BigInt(amount) : -BigInt(amount)),
      0n,
    );
    const here = BigInt(captured) - BigInt(refunded);
    // A success after the end is not booked, but shown to the operator.
    const isLate = attention === 'late_success';
    const there = balance < 0n ? -balance : balance;
    demand(isLate || here === there, `The payment ${id} (${brand}, ${state}): ${here} here, ${there} at the provider.`);
  }
  const charged = payments.filter(({ captured }) => BigInt(captured) > 0n);
  for (const [order, list] of Map.groupBy(charged, ({ mid, order_id }) => `${order_id} of ${mid}`))
    demand(list.length === 1, `The order ${order} was charged ${list.length} times.`);
  return wrong;
}

/** What is wrong about callbacks that should all have arrived; `received` has the sequence numbers of each payment. */
export function callbackDisagreements(
  callbacks: readonly StoredCallback[],
  received: ReadonlyMap<string, readonly { sequence: number }[]>,
): string[] {
  const wrong: string[] = [];
  const demand = (isMet: boolean, sentence: string): void => void (isMet || wrong.push(sentence));
  for (const [id, list] of Map.groupBy(callbacks, ({ payment }) => payment)) {
    const first = [...new Set((received.get(id) ?? []).map(({ sequence }) => sequence))];
    for (const { seq, state } of list) {
      demand(state === 'delivered', `The callback ${seq} of ${id} is ${state}.`);
      demand(first.includes(seq), `The callback ${seq} of ${id} was not received.`);
    }
    const inOrder = first.every((sequence, index) => index === 0 || sequence > (first[index - 1] as number));
    demand(inOrder, `The callbacks of ${id} arrived in the order ${first.join()}.`);
  }
  return wrong;
}
