/** Sections of the docs that refusals link to; a test checks that each of them exists. */
import type { ErrorName } from './errors.ts';

export const DOCS = {
  keys: '/docs/merchant/errors#wrong-key-http-400',
  forms: '/docs/merchant/sign-requests#form-requests-to-post',
  json: '/docs/merchant/sign-requests#json-requests-to-checkout',
  mustNotBeSent: '/docs/merchant/sign-requests#data-that-must-not-be-sent',
  computeHash: '/docs/merchant/sign-requests#compute-the-hash',
  hash: '/docs/merchant/sign-requests#hash-errors',
  amounts: '/docs/merchant/sign-requests#amounts',
  orderNumbers: '/docs/merchant/idempotency#order-numbers',
  operationIds: '/docs/merchant/idempotency#operation-ids',
  settings: '/docs/settings',
  family: '/docs/merchant/same-family',
  tokens: '/docs/operator/access',
  reference: '/docs/reference',
  proxies: '/docs/operator/accounts#addresses-behind-a-proxy',
} as const;

/** The section about an error: cause and cure. */
export const docsOfError = (error: ErrorName): string => `/docs/errors#${error.toLowerCase()}`;

/** The sections about entries of certain errors and fields, in place of the one of the call. */
export const DOCS_OF_ERROR: Partial<Record<ErrorName, string>> = {
  wrongEnvironment: DOCS.keys,
  wrongHash: DOCS.hash,
  duplicatePayment: DOCS.orderNumbers,
  duplicateOperation: DOCS.operationIds,
};

export const DOCS_OF_FIELD: Readonly<Record<string, string>> = {
  client_key: DOCS.keys,
  merchant_key: DOCS.keys,
  hash: DOCS.computeHash,
};

/** The fields of an action of `/post`. */
export const docsOfAction = (action: string): string => `/docs/reference/merchants#${action.toLowerCase()}`;

/** The fields of a path of Checkout. */
export const docsOfPath = (path: string): string => {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return `/docs/reference/checkout#checkout${name.charAt(0).toUpperCase()}${name.slice(1)}`;
};

export const docsOfBrand = (label: string): string => `/docs/brands/${label}`;

/** A call of the admin or sandbox API in the reference. */
export const docsOfCall = (tag: string, operationId: string): string => `/docs/reference/${tag}#${operationId}`;
