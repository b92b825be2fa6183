/** What the gateway writes into the metadata of objects at Stripe, by which they are recognised as ours. */
import type { Submission } from '../connector.ts';

export const METADATA = {
  reference: 'turnpike_reference',
  connector: 'turnpike_connector',
  operation: 'turnpike_operation',
} as const;

export const metadataOf = (
  { reference }: Pick<Submission, 'reference'>,
  connector: string,
): Record<string, string> => ({
  [METADATA.reference]: reference,
  [METADATA.connector]: connector,
});
