/** The account settings for clients of other gateways of the family; all of them are off by default. */
import type { HashDigest } from '../lib/crypto/hash.ts';
import type { HashRecipe } from './hash-recipes.ts';
import { choice, flag, isTexts, kind, row } from './setting-kinds.ts';

/** Schemes that browsers and operating systems act upon by themselves; none of them leads to an app of the merchant. */
const TAKEN_SCHEMES: readonly string[] = ['http', 'https', 'javascript', 'data', 'blob', 'file', 'about', 'vbscript'];
const schemes = kind(
  'a list of URL schemes of apps such as myapp, in lower case and without ://',
  (value) => isTexts(value, (scheme) => /^[a-z][a-z\d+.-]{1,63}$/.test(scheme) && !TAKEN_SCHEMES.includes(scheme)),
  'list',
);

export const DIALECT_SETTINGS = {
  'dialect.card_sales': row(
    false,
    flag,
    'Whether the account takes card sales over /post: the merchant’s own systems then handle card numbers. In production only an owner switches it on, with confirm_card_data.',
  ),
  'dialect.hash': row<HashRecipe>(
    'specified',
    choice('specified', 'reversed_md5'),
    'The hash recipe of requests to /post and of their callbacks. With reversed_md5, requests with a specified hash are accepted as well.',
  ),
  'dialect.digest': row<HashDigest>(
    'md5',
    choice('md5', 'sha256'),
    'The digest of the signed text in requests and callbacks. With sha256, hashes with MD5 are refused.',
  ),
  'dialect.final_callbacks_only': row(
    false,
    flag,
    'Whether callbacks for the steps of a payment in between, such as a 3DS challenge or a redirect, are left out.',
  ),
  'dialect.number_amounts': row(
    false,
    flag,
    'Whether amounts in Checkout requests may be JSON numbers; the hash covers the number as it is written in the body. Includes amounts without fraction digits.',
  ),
  'dialect.session_callback_url': row(
    false,
    flag,
    'Whether a Checkout session may name a callback_url for its payment, in place of the one of the account.',
  ),
  return_schemes: row<string[]>(
    [],
    schemes,
    'The URL schemes of apps, such as myapp, that success_url and cancel_url of a session may have besides https.',
  ),
} as const;
