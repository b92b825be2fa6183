/** What providers get of the payer and of the merchant's name: only values that they accept, since each one is optional. */

import { cut } from '../lib/text/cut.ts';
import type { Submission } from './connector.ts';

export interface CleanPayer {
  firstName?: string | undefined;
  lastName?: string | undefined;
  email?: string | undefined;
  phone?: string | undefined;
  /** The same in digits with its country code, such as +351912345678, if it has one. */
  mobile?: string | undefined;
  /** The street without the number of the house, if the merchant sent them apart. */
  street?: string | undefined;
  houseNumber?: string | undefined;
  /** Street and number. */
  address?: string | undefined;
  city?: string | undefined;
  state?: string | undefined;
  zip?: string | undefined;
  /** Two letters in upper case. */
  country?: string | undefined;
}

const EMAIL = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[\da-z](?:[\da-z.-]{0,250}[\da-z])?\.[a-z]{2,63}$/i;
const LENGTH = 200;

/** The payer's data without what a provider would refuse the payment for. */
export function cleanPayer({ payer }: Pick<Submission, 'payer'>): CleanPayer {
  const text = (name: string): string | undefined => cut(payer[name]?.trim() ?? '', LENGTH) || undefined;
  const matching = (name: string, pattern: RegExp): string | undefined => {
    const value = payer[name]?.trim() ?? '';
    return pattern.test(value) ? value : undefined;
  };
  const [street, houseNumber] = [text('address'), text('house_number')];
  const phone = matching('phone', /^[+\d][\d ()./-]{3,29}$/);
  return {
    firstName: text('first_name'),
    lastName: text('last_name'),
    email: matching('email', EMAIL),
    phone,
    mobile: phone?.startsWith('+') ? `+${phone.replaceAll(/\D/g, '')}` : undefined,
    street,
    houseNumber,
    address: street && [street, houseNumber].filter(Boolean).join(' '),
    city: text('city'),
    state: text('state'),
    zip: text('zip'),
    country: matching('country', /^[a-z]{2}$/i)?.toUpperCase(),
  };
}

/** The submission without the payer's data; undefined if it has none. */
function withoutPayer(submission: Submission): Submission | undefined {
  const { ip, ...sent } = submission.payer;
  const isBare = submission.recurringOf !== undefined || Object.keys(sent).length === 0;
  return isBare ? undefined : { ...submission, payer: ip === undefined ? {} : { ip } };
}

/**
 * Sends a submission, and once more without the payer's data if the provider may have refused it because of that data: a call
 * that needs an idempotency key of its own.
 */
export async function sendOrBare<Answer>(
  submission: Submission,
  mayBePayer: (error: unknown) => boolean,
  send: (sent: Submission, isBare: boolean) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await send(submission, false);
  } catch (error) {
    const bare = mayBePayer(error) ? withoutPayer(submission) : undefined;
    if (!bare) throw error;
    return send(bare, true);
  }
}

/** The account that a direct debit takes the money from, without the spaces that people write. */
export const ibanOf = (parameters: Readonly<Record<string, unknown>>): string =>
  String(parameters.iban ?? '')
    .replaceAll(/\s/g, '')
    .toUpperCase();

/** The text on the payer's statement, in the characters and the length that a provider takes; undefined if nothing is left. */
export function statementText(
  { descriptor }: Pick<Submission, 'descriptor'>,
  refused: RegExp,
  length: number,
): string | undefined {
  const latin = descriptor.normalize('NFKD').replaceAll(/[^ -~]/g, '');
  const text = latin.replaceAll(refused, ' ').replaceAll(/ +/g, ' ').trim().slice(0, length).trim();
  return /[a-z]/i.test(text) ? text : undefined;
}
