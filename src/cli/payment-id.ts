/** The payment that a command names: by its id, or by its order number. */
import { isUuid } from '../lib/crypto/id.ts';
import { StartupError } from '../lib/flow/startup-error.ts';
import type { AdminClient } from './admin-client.ts';
import { type Call, UsageError } from './command.ts';
import { columns } from './output.ts';

interface Found {
  payment_id: string;
  created_at: string;
  amount: string;
  currency: string;
  status: string;
}

/** An order that was paid in several attempts, or by several accounts, does not name one payment. */
export async function paymentIdOf({ request }: AdminClient, { arg }: Pick<Call, 'arg'>): Promise<string> {
  const name = arg('payment');
  if (isUuid(name)) return name;
  const { items } = await request<{ items: Found[] }>(
    'GET',
    `/admin/api/payments?order_id=${encodeURIComponent(name)}&limit=20`,
  );
  const [first] = items;
  if (!first) throw new StartupError('There is no payment with this order number or id.');
  if (items.length === 1) return first.payment_id;
  const list = columns(
    items.map(({ payment_id, created_at, amount, currency, status }) => {
      return [`  ${payment_id}`, created_at, `${amount} ${currency}`, status];
    }),
  );
  throw new UsageError(`The order has several payments: name one by its id.\n${list}`);
}
