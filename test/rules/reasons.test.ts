/** What payers read about the causes of declines, and the table of them in the docs. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DECLINE_CAUSES, type DeclineCause, payerCauseOf } from '../../src/rules/reasons.ts';

const HIDDEN: Partial<Record<DeclineCause, string | undefined>> = {
  lostOrStolen: 'refusedByBank',
  revoked: 'refusedByBank',
  duplicate: 'refusedByBank',
  suspectedFraud: 'refusedByBank',
  methodUnavailable: 'providerRefused',
  outOfTime: undefined,
};

test.each(Object.keys(DECLINE_CAUSES) as DeclineCause[])('%s', (cause) => {
  expect(payerCauseOf(DECLINE_CAUSES[cause].reason)).toBe(cause in HIDDEN ? HIDDEN[cause] : cause);
});

test.each(['', 'Do not honour', 'insufficient funds.', 'constructor'])('no cause is known for %j', (reason) => {
  expect(payerCauseOf(reason)).toBeUndefined();
});

test('the docs list the texts that have a sentence for the payer', async () => {
  const doc = await readFile(join(import.meta.dirname, '../../docs/provider-api.md'), 'utf8');
  const [, section = ''] = doc.split('### Decline reasons\n');
  const listed = [...(section.split(/\n#/)[0] ?? '').matchAll(/^\| `([^`]+\.)`/gm)].map(([, text]) => text);
  expect(listed.toSorted()).toEqual(
    Object.values(DECLINE_CAUSES)
      .map(({ reason }) => reason)
      .toSorted(),
  );
});
