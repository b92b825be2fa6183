/** The bank accounts to which merchants are paid, and those from which the installation pays. */
import { boundTo } from '../../lib/crypto/seal.ts';
import { isBic, isIban } from '../../lib/text/identifiers.ts';
import { Refusal } from '../../rules/errors.ts';
import { BANK_HOLD_MS, type BankDetails } from '../../rules/payouts.ts';
import type { BankAccount, PayoutAccount } from '../../store/settlements/bank-accounts.ts';
import type { Gateway } from '../context.ts';
import { invalid, readCurrency, readText } from '../ledger/input.ts';
import { auditEntry, type Caller, isAuthor } from '../operators/principal.ts';

export const BANK_FIELDS = ['currency', 'holder', 'iban', 'account_number', 'bank_code', 'country'] as const;
export const PAYOUT_ACCOUNT_FIELDS = ['currency', 'holder', 'iban', 'bic'] as const;

/** As the caller sent it. */
export type BankInput = Readonly<Partial<Record<(typeof BANK_FIELDS)[number] | 'bic', unknown>>>;

/** A bank account as it is shown: its number is masked. */
export interface ShownAccount {
  currency: string;
  holder: string;
  masked: string;
  changedAt: number;
  heldUntil: number | null;
}

/** With who has changed it, who may not confirm it. */
export type ShownBankAccount = ShownAccount & Pick<BankAccount, 'authorKind' | 'authorId'>;

const boundAccount = ({ mid, currency }: Pick<BankAccount, 'mid' | 'currency'>): string =>
  boundTo('bank_accounts', 'sealed', `${mid} ${currency}`);
const boundPayout = (currency: string): string => boundTo('payout_accounts', 'sealed', currency);

export const detailsOf = ({ seal }: Pick<Gateway, 'seal'>, account: BankAccount): BankDetails =>
  JSON.parse(seal.open(account.sealed, boundAccount(account)));
export const payoutDetailsOf = ({ seal }: Pick<Gateway, 'seal'>, account: PayoutAccount): BankDetails =>
  JSON.parse(seal.open(account.sealed, boundPayout(account.currency)));

const EXPECTED_IBAN = 'An IBAN, such as DE89370400440532013000: its country, length and check digits are checked.';
const compact = (value: unknown): string => (typeof value === 'string' ? value.replace(/\s/g, '').toUpperCase() : '');

function readHolder(value: unknown): string {
  const holder = readText(value, 'holder', 'The name of the holder, with at most 70 characters.');
  if (holder.length > 70) throw invalid('holder', 'The name of the holder, with at most 70 characters.');
  return holder;
}

function readIban(value: unknown): string {
  const iban = compact(value);
  if (isIban(iban)) return iban;
  throw invalid('iban', EXPECTED_IBAN);
}

/** An IBAN, or the number of the account with the code of the bank and its country. */
function readDetails(input: BankInput): BankDetails {
  const details = { holder: readHolder(input.holder), iban: null, bic: null };
  const none = { accountNumber: null, bankCode: null, country: null };
  const others = (['account_number', 'bank_code', 'country'] as const).filter((field) => input[field] !== undefined);
  if (input.iban !== undefined || others.length === 0) {
    if (others[0] !== undefined) throw invalid(others[0], 'Either iban, or account_number, bank_code and country.');
    return { ...details, ...none, iban: readIban(input.iban) };
  }
  const country = compact(input.country);
  if (!/^[A-Z]{2}$/.test(country)) throw invalid('country', 'The code of a country, such as US.');
  const accountNumber = compact(input.account_number);
  if (!/^[A-Z0-9-]{3,34}$/.test(accountNumber)) throw invalid('account_number', 'From 3 to 34 letters and digits.');
  const bankCode = compact(input.bank_code);
  if (!/^[A-Z0-9-]{3,20}$/.test(bankCode)) throw invalid('bank_code', 'From 3 to 20 letters and digits.');
  return { ...details, accountNumber, bankCode, country };
}

/** The country and the last four characters. */
const mask = ({ iban, country, accountNumber }: BankDetails): string =>
  iban === null ? `${country} ••••${accountNumber?.slice(-4)}` : `${iban.slice(0, 2)}•• •••• ${iban.slice(-4)}`;

const shownOf = (gateway: Gateway, account: BankAccount): ShownBankAccount => ({
  ...account,
  holder: detailsOf(gateway, account).holder,
});

export const listBankAccounts = async (gateway: Gateway, mid: string): Promise<ShownBankAccount[]> =>
  (await gateway.bankAccounts.ofAccount(mid)).map((account) => shownOf(gateway, account));

/** Sets the bank account of a currency. A change of an existing one holds payouts for a day. */
export async function setBankAccount(
  gateway: Gateway,
  by: Caller,
  mid: string,
  input: BankInput,
): Promise<ShownAccount> {
  const currency = readCurrency(input.currency);
  const details = readDetails(input);
  const account = await gateway.bankAccounts.change(mid, currency, (current) => {
    const now = gateway.clock.now(mid);
    const masked = mask(details);
    return {
      change: {
        mid,
        currency,
        version: (current?.version ?? 0) + 1,
        sealed: gateway.seal.seal(JSON.stringify(details), boundAccount({ mid, currency })),
        masked,
        changedAt: now,
        heldUntil: current ? now + BANK_HOLD_MS : null,
        authorKind: by.kind,
        authorId: by.id,
        authorName: by.name,
      },
      audit: auditEntry(gateway, by, 'settlements.set_bank_account', {
        mid,
        before: current ? { currency, account: current.masked } : null,
        after: { currency, account: masked },
      }),
    };
  });
  return shownOf(gateway, account);
}

/** Ends the hold after a change, by another person than the one who changed the account. */
export async function confirmBankAccount(
  gateway: Gateway,
  by: Caller,
  mid: string,
  input: Pick<BankInput, 'currency'>,
): Promise<ShownAccount> {
  const currency = readCurrency(input.currency);
  const account = await gateway.bankAccounts.change(mid, currency, (current) => {
    if (!current) throw new Refusal('noSuchBankAccount');
    if (isAuthor(current, by)) throw new Refusal('ownBankAccount');
    const after = { currency, account: current.masked };
    return {
      change: { ...current, heldUntil: null },
      audit: auditEntry(gateway, by, 'settlements.confirm_bank_account', { mid, after }),
    };
  });
  return shownOf(gateway, account);
}

const shownPayout = (gateway: Gateway, account: PayoutAccount): ShownAccount & { bic: string | null } => {
  const { holder, bic } = payoutDetailsOf(gateway, account);
  return { ...account, holder, bic, heldUntil: null };
};

export const listPayoutAccounts = async (gateway: Gateway) =>
  (await gateway.bankAccounts.payoutAccounts()).map((account) => shownPayout(gateway, account));

/** Sets the account of the installation from which payouts of a currency go. */
export async function setPayoutAccount(gateway: Gateway, by: Caller, input: BankInput) {
  const currency = readCurrency(input.currency);
  const bic = input.bic === undefined || input.bic === null ? null : compact(input.bic);
  if (bic !== null && !isBic(bic)) throw invalid('bic', 'A BIC, such as COBADEFFXXX.');
  const none = { accountNumber: null, bankCode: null, country: null };
  const details: BankDetails = { holder: readHolder(input.holder), iban: readIban(input.iban), bic, ...none };
  const account: PayoutAccount = {
    currency,
    sealed: gateway.seal.seal(JSON.stringify(details), boundPayout(currency)),
    masked: mask(details),
    changedAt: gateway.clock.now(),
  };
  const after = { currency, account: account.masked };
  await gateway.bankAccounts.changePayoutAccount(
    account,
    auditEntry(gateway, by, 'settlements.set_payout_account', { after }),
  );
  return shownPayout(gateway, account);
}
