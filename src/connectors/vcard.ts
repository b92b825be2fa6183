/** The test connector: nobody is behind it, the identifier of the sale selects the outcome. */
import type { Connector, Outcome, Submission } from './connector.ts';

function outcome({ identifier, authoriseOnly, list }: Submission): Outcome {
  if (list('vcard.success').includes(identifier)) return { kind: authoriseOnly ? 'authorised' : 'settled' };
  return { kind: 'declined', reason: 'Declined by the test connector.' };
}

export const vcard: Connector = {
  submit: outcome,
  // The outcome follows from the submission alone, so it can be told at any later time as well.
  query: outcome,
};
