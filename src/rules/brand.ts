/** An entry of the table of brands, and how entries are written. */
import type { Field } from './fields.ts';
import { LIMITS } from './limits.ts';
import type { MethodKind, MethodTraits } from './method-kinds.ts';

export interface Brand extends MethodTraits {
  /** The name that payers know, the same in every language; without it, the method is named by its kind. */
  name?: string;
  /** The name of the connector. */
  connector: string;
  /** The provider returns the outcome at once, without an action of the payer. */
  isImmediate?: true;
  /** Supports recurring sales, which need no payer; `byProvider`: at the providers whose entries say so. */
  recurs?: true | 'byProvider';
  /** A payout: money is sent to the named person instead of collected from a payer. */
  isPayout?: true;
  /** How long after the sale the payer may pay, also while the payment is pending; then it is declined. */
  payerTimeMs?: number;
  /** How long after the sale a payment that the provider accepted waits for its outcome; then it is declined. */
  pendingMs?: number;
  /** How long a QR code is displayed. */
  codeTimeMs?: number;
  /** A status request queries the provider while the outcome is open. */
  isQueriedOnStatus?: true;
  /** A script creates a payment token on the payer's device; there is no form for the brand. */
  needsToken?: true;
  /** The sub-methods of the provider's page; each is offered when all its fields were sent. */
  methods?: readonly string[];
  /** The fields of this brand, in addition to the common ones of a sale. */
  fields: readonly Field[];
  /** The description in the docs. */
  about: string;
}

/** A brand that a provider processes over HTTP. */
export const upstream = (
  kind: MethodKind,
  about: string,
  fields: readonly Field[],
  traits: Partial<Brand> = {},
): Brand => ({
  connector: 'upstream',
  kind,
  about,
  fields,
  // Banks may take weeks for a payout. A payer who has not paid after a week is not expected to pay.
  pendingMs: (traits.isPayout ? 30 : 7) * LIMITS.dayMs,
  ...traits,
});

/** A field that is sent as `parameters[name]`. */
export const p = (name: string): string => `parameters[${name}]`;
