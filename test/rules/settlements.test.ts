/** What a settlement pays, and the files of payouts. */
import { describe, expect, test } from 'vitest';
import { bankText, payoutCsv, payoutXml } from '../../src/rules/payouts.ts';
import { payoutOf } from '../../src/rules/settlements.ts';

const at = (text: string): number => Date.parse(text);

describe('a payout', () => {
  const NO_TERMS = { minimum: null, hold: null };
  test.each([
    [100n, 0n, 0n, NO_TERMS, 100n, []],
    [100n, 40n, 10n, NO_TERMS, 50n, ['pending 40', 'earlier 10']],
    [-5n, 0n, 0n, NO_TERMS, 0n, ['negative -5']],
    [0n, 100n, 0n, NO_TERMS, 0n, ['pending 100', 'negative -100']],
    // Fees that are larger than their sales are not paid out as if they were due to the merchant.
    [100n, -3n, 0n, NO_TERMS, 100n, []],
    [100n, 0n, 0n, { minimum: 101n, hold: null }, 0n, ['minimum 100']],
    [100n, 0n, 0n, { minimum: 100n, hold: null }, 100n, []],
    [100n, 30n, 0n, { minimum: 500n, hold: 'Documents' }, 0n, ['pending 30', 'hold 70']],
  ])('of %s with %s pending and %s earlier', (closing, pending, earlier, terms, expected, reasons) => {
    const { payout, withheld } = payoutOf(closing, { pending, earlier, underWay: 0n }, terms);
    expect(payout).toBe(expected);
    expect(withheld.map(({ reason, amount }) => `${reason} ${amount}`)).toEqual(reasons);
    expect(withheld.reduce((sum, { amount }) => sum + amount, payout)).toBe(closing);
  });
});

test('a payout leaves what refunds that are under way will take', () => {
  const terms = { minimum: null, hold: null };
  const of = (closing: bigint) => payoutOf(closing, { pending: -5n, earlier: 0n, underWay: 40n }, terms);
  expect(of(100n)).toEqual({ payout: 60n, withheld: [{ reason: 'pending', amount: 40n }] });
  expect(of(30n).payout).toBe(0n);
  expect(of(30n).withheld.reduce((sum, { amount }) => sum + amount, 0n)).toBe(30n);
});

describe('files', () => {
  const none = { accountNumber: null, bankCode: null, country: null };
  const file = {
    payoutId: '019a0000-0000-7000-8000-000000000001',
    currency: 'EUR',
    madeAt: at('2026-11-17T13:00:00Z'),
    from: { holder: 'Operator <Ltd>', iban: 'GB82WEST12345698765432', bic: 'COBADEFFXXX', ...none },
    transfers: [
      {
        transferId: '019a0000-0000-7000-8000-000000000002',
        amount: 12_345n,
        to: { holder: 'Müller & Söhne', iban: 'DE89370400440532013000', bic: null, ...none },
        text: 'Settlement 1 EUR',
      },
      {
        transferId: '019a0000-0000-7000-8000-000000000003',
        amount: 55n,
        to: {
          holder: '=Łódź // Ελλάδα',
          iban: null,
          bic: null,
          accountNumber: '12345678',
          bankCode: '021000021',
          country: 'US',
        },
        text: 'Settlement 2 EUR',
      },
    ],
  };

  test('pain.001 has its elements in the order of the schema, and sums that agree', () => {
    const xml = payoutXml(file);
    const names = [...xml.matchAll(/<(\w+)[ >]/g)].map(([, name]) => name);
    expect(names).toEqual([
      ...['Document', 'CstmrCdtTrfInitn', 'GrpHdr', 'MsgId', 'CreDtTm', 'NbOfTxs', 'CtrlSum', 'InitgPty', 'Nm'],
      ...['PmtInf', 'PmtInfId', 'PmtMtd', 'NbOfTxs', 'CtrlSum', 'ReqdExctnDt', 'Dt', 'Dbtr', 'Nm'],
      ...['DbtrAcct', 'Id', 'IBAN', 'DbtrAgt', 'FinInstnId', 'BICFI', 'ChrgBr'],
      ...['CdtTrfTxInf', 'PmtId', 'InstrId', 'EndToEndId', 'Amt', 'InstdAmt', 'Cdtr', 'Nm'],
      ...['CdtrAcct', 'Id', 'IBAN', 'RmtInf', 'Ustrd'],
      ...['CdtTrfTxInf', 'PmtId', 'InstrId', 'EndToEndId', 'Amt', 'InstdAmt'],
      ...['CdtrAgt', 'FinInstnId', 'ClrSysMmbId', 'MmbId', 'Cdtr', 'Nm'],
      ...['CdtrAcct', 'Id', 'Othr', 'Id', 'RmtInf', 'Ustrd'],
    ]);
    expect([...xml.matchAll(/<CtrlSum>(.*?)<.CtrlSum>/g)].map(([, sum]) => sum)).toEqual(['124.00', '124.00']);
    expect([...xml.matchAll(/<NbOfTxs>(.*?)<.NbOfTxs>/g)].map(([, count]) => count)).toEqual(['2', '2']);
    for (const [, id] of xml.matchAll(/<(?:MsgId|PmtInfId|InstrId|EndToEndId)>(.*?)</g))
      expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(xml).toContain('<Nm>Operator .Ltd.</Nm>');
    expect(xml).toContain('<InstdAmt Ccy="EUR">123.45</InstdAmt>');
  });

  test('names are written in the characters that banks accept', () => {
    expect(bankText('Müller & Söhne', 70)).toBe('Mueller + Soehne');
    expect(bankText('Café “Łódź”', 70)).toBe('Cafe .Lodz.');
    expect(bankText('/a//b/', 70)).toBe('a/b');
    expect(bankText('x'.repeat(80), 70)).toHaveLength(70);
    expect(bankText('', 70)).toBe('.');
  });

  test('CSV has a line for each transfer', () => {
    expect(payoutCsv(file).trim().split(/\r?\n/)).toHaveLength(3);
    expect(payoutCsv(file)).toContain('DE89370400440532013000');
  });
});
