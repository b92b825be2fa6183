/** The files of payouts, and the states of payouts and transfers. */

import { amountText } from '../lib/money/money.ts';
import { type CsvValue, csvRows } from '../lib/text/csv.ts';
import { exponentOf } from './currencies.ts';

export const PAYOUT_FORMATS = ['csv', 'pain.001'] as const;
export type PayoutFormat = (typeof PAYOUT_FORMATS)[number];

export const PAYOUT_STATES = ['waiting', 'approved', 'refused'] as const;
export type PayoutState = (typeof PAYOUT_STATES)[number];

export const TRANSFER_STATES = ['waiting', 'in_transit', 'paid', 'returned', 'refused'] as const;
export type TransferState = (typeof TRANSFER_STATES)[number];

/** After a change of a merchant's bank account nothing is paid for so long, unless another person confirms it. */
export const BANK_HOLD_MS = 24 * 3_600_000;

/** The most transfers of a payout. */
export const TRANSFERS_MOST = 10_000;

/** A bank account: an IBAN, or a number with the code of the bank in a country. */
export interface BankDetails {
  holder: string;
  iban: string | null;
  bic: string | null;
  accountNumber: string | null;
  bankCode: string | null;
  country: string | null;
}

export interface FileTransfer {
  transferId: string;
  amount: bigint;
  to: BankDetails;
  /** What the merchant reads on its statement. */
  text: string;
}

export interface PayoutFile {
  payoutId: string;
  currency: string;
  madeAt: number;
  /** From which the money goes. */
  from: BankDetails;
  transfers: readonly FileTransfer[];
}

export const sumOf = (transfers: readonly { amount: bigint }[]): bigint =>
  transfers.reduce((sum, { amount }) => sum + amount, 0n);

const HEADER = [
  ...['transfer_id', 'holder', 'iban', 'account_number', 'bank_code', 'country', 'amount', 'currency', 'text'],
];

export const payoutCsv = ({ currency, transfers }: Pick<PayoutFile, 'currency' | 'transfers'>): string =>
  csvRows([
    HEADER,
    ...transfers.map(({ transferId, amount, to, text }): CsvValue[] => [
      transferId,
      to.holder,
      to.iban,
      to.accountNumber,
      to.bankCode,
      to.country,
      amountText(amount, exponentOf(currency)),
      currency,
      text,
    ]),
  ]);

const LETTERS: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', Æ: 'AE', œ: 'oe', Œ: 'OE', ø: 'o', Ø: 'O', đ: 'd', Đ: 'D', ł: 'l', Ł: 'L', þ: 'th', Þ: 'Th' },
  ...{ ä: 'ae', ö: 'oe', ü: 'ue', Ä: 'Ae', Ö: 'Oe', Ü: 'Ue', ı: 'i', '&': '+', _: '-', '’': "'" },
};

/** A text in the characters that banks accept, as the guidelines for credit transfers in euro map them. */
export function bankText(text: string, most: number): string {
  const mapped = [...text.normalize('NFC')].map((letter) => LETTERS[letter] ?? letter).join('');
  const plain = mapped.normalize('NFD').replace(/\p{M}/gu, '');
  const known = plain.replace(/[^A-Za-z0-9/\-?:().,'+ ]/g, '.').replace(/ +/g, ' ');
  // A text does not begin or end with a slash, nor contain two of them.
  const slashed = known.replace(/\/{2,}/g, '/').replace(/^[/ ]+|[/ ]+$/g, '');
  return slashed.slice(0, most).replace(/[/ ]+$/, '') || '.';
}

/** The name of the holder of an account. */
export const bankName = (holder: string): string => bankText(holder, 70);

/** Ids have 35 characters at most. */
const bankId = (id: string): string => id.replaceAll('-', '');

const element = (name: string, content: string, attributes = ''): string =>
  `<${name}${attributes}>${content}</${name}>`;
/** The characters of `bankText` need no escapes, apart from the apostrophe, which is allowed in a text. */
const party = (name: string, { holder }: BankDetails): string => element(name, element('Nm', bankName(holder)));

const accountOf = (name: string, { iban, accountNumber }: BankDetails): string => {
  const other = element('Othr', element('Id', bankText(accountNumber ?? '', 34)));
  return element(name, element('Id', iban === null ? other : element('IBAN', iban)));
};

function bankOf(name: string, { bic, bankCode }: BankDetails): string {
  const id =
    bic !== null
      ? element('BICFI', bic)
      : bankCode !== null
        ? element('ClrSysMmbId', element('MmbId', bankText(bankCode, 35)))
        : element('Othr', element('Id', 'NOTPROVIDED'));
  return element(name, element('FinInstnId', id));
}

/** A credit transfer initiation, ISO 20022 pain.001.001.09, with one payment information. */
export function payoutXml({ payoutId, currency, madeAt, from, transfers }: PayoutFile): string {
  const amountOf = (amount: bigint): string => amountText(amount, exponentOf(currency));
  const sums = element('NbOfTxs', String(transfers.length)) + element('CtrlSum', amountOf(sumOf(transfers)));
  const time = new Date(madeAt).toISOString();
  const id = bankId(payoutId);
  const isSepa = currency === 'EUR' && transfers.every(({ to }) => to.iban !== null);
  const transfersXml = transfers.map(({ transferId, amount, to, text }) =>
    element(
      'CdtTrfTxInf',
      element('PmtId', element('InstrId', bankId(transferId)) + element('EndToEndId', bankId(transferId))) +
        element('Amt', element('InstdAmt', amountOf(amount), ` Ccy="${currency}"`)) +
        (to.iban === null || to.bic !== null ? bankOf('CdtrAgt', to) : '') +
        party('Cdtr', to) +
        accountOf('CdtrAcct', to) +
        element('RmtInf', element('Ustrd', bankText(text, 140))),
    ),
  );
  const information = [
    element('PmtInfId', id),
    element('PmtMtd', 'TRF'),
    sums,
    isSepa ? element('PmtTpInf', element('SvcLvl', element('Cd', 'SEPA'))) : '',
    element('ReqdExctnDt', element('Dt', time.slice(0, 10))),
    party('Dbtr', from),
    accountOf('DbtrAcct', from),
    bankOf('DbtrAgt', from),
    element('ChrgBr', isSepa ? 'SLEV' : 'SHAR'),
    ...transfersXml,
  ];
  const header = element('GrpHdr', element('MsgId', id) + element('CreDtTm', time) + sums + party('InitgPty', from));
  const body = element('CstmrCdtTrfInitn', `${header}\n${element('PmtInf', information.filter(Boolean).join('\n'))}`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element('Document', body, ' xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"')}\n`;
}
