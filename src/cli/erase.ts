/** The command `payment erase`: the personal data of one payment, or of all payments of a payer. */
import { connectAdmin } from './admin-client.ts';
import { accountPath } from './choose-account.ts';
import { type Call, UsageError } from './command.ts';
import { columns, members } from './output.ts';
import { paymentIdOf } from './payment-id.ts';

interface Erased {
  erased: string[];
  refused: { payment_id: string; reason: string }[];
}

export async function erasePayment(call: Call): Promise<number | undefined> {
  const [payment, email, mid] = [call.arg('payment'), call.option('email'), call.option('mid')];
  if ((payment === '') === (email === undefined)) throw new UsageError('Name either a payment or --email.');
  if ((email === undefined) !== (mid === undefined)) throw new UsageError('--email and --mid belong together.');
  const admin = await connectAdmin(call);
  if (email === undefined) {
    const path = `/admin/api/payments/${await paymentIdOf(admin, call)}/erase`;
    const answer = await admin.request<{ erased: string[]; payment_id: string }>('POST', path);
    call.output.result(answer, () => members({ payment_id: answer.payment_id, erased: answer.erased.length }));
    return undefined;
  }
  const all: Erased = { erased: [], refused: [] };
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const path = `${accountPath(mid as string)}/erase`;
    const answer: Erased & { next_cursor: string | null } = await admin.request('POST', path, {
      email,
      ...(cursor && { cursor }),
    });
    all.erased.push(...answer.erased);
    all.refused.push(...answer.refused);
    cursor = answer.next_cursor;
  }
  call.output.result(all, () => {
    const refused = columns(all.refused.map(({ payment_id, reason }) => [`  ${payment_id}`, reason]));
    const counted = `Erased payments: ${all.erased.length}`;
    return all.refused.length === 0 ? counted : `${counted}\nThese keep their data:\n${refused}`;
  });
  return all.refused.length > 0 ? 1 : undefined;
}
