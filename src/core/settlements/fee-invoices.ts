/** Fee invoices: makes them of settlements, by hand and at the beginning of a month, and takes them back by credit notes. */
import { isUuid, newId } from '../../lib/crypto/id.ts';
import { addressLines } from '../../rules/billing-settings.ts';
import { invalidField, type Problem, Refusal } from '../../rules/errors.ts';
import { feeInvoiceNumber, type InvoiceParty, PREFIX, takenBack, totalsOf } from '../../rules/fee-invoices.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { FeeInvoice, FeeInvoiceFilter, Issuer, NewFeeInvoice } from '../../store/settlements/fee-invoices.ts';
import { findAccount } from '../accounts/accounts.ts';
import type { Account, Gateway } from '../context.ts';
import { catchUp } from '../installation/catch-up.ts';
import { withCompleteLedger } from '../ledger/fold.ts';
import { invalid, readCurrency, readMid, readText } from '../ledger/input.ts';
import { isMerchantView } from '../ledger/ledger.ts';
import { auditEntry, type Caller, type Principal } from '../operators/principal.ts';
import { CYCLE } from './cuts.ts';
import { OPERATOR, readUntil } from './settlements.ts';

export type { FeeInvoice, Issuer } from '../../store/settlements/fee-invoices.ts';

export type ListedFeeInvoice = FeeInvoice & { correctedBy: string | null };

/** As the caller sent it. */
export const ISSUER_FIELDS = ['name', 'address', 'tax_number', 'prefix'] as const;
export type IssuerInput = Readonly<Record<(typeof ISSUER_FIELDS)[number], unknown>>;

export const findIssuer = (gateway: Gateway): Promise<Issuer | undefined> => gateway.feeInvoices.issuer();

/** Sets who issues later invoices, and what their numbers begin with. */
export async function setIssuer(gateway: Gateway, by: Caller, input: IssuerInput): Promise<Issuer> {
  const { address, prefix, tax_number: taxNumber = '' } = input;
  const name = readText(input.name, 'name', 'The name of the operator, with at most 100 characters.');
  if (name.length > 100) throw invalid('name', 'The name of the operator, with at most 100 characters.');
  const isAddress = addressLines.check(address) === undefined;
  if (!isAddress || (address as string[]).length === 0)
    throw invalid('address', `From 1 to 8 lines: ${addressLines.expects}.`);
  if (typeof taxNumber !== 'string' || taxNumber.length > 40) throw invalid('tax_number', 'At most 40 characters.');
  if (typeof prefix !== 'string' || !PREFIX.test(prefix))
    throw invalid('prefix', 'From 1 to 20 letters, digits, - and /, of which the last is no digit, such as FEE-2026-.');
  const issuer = { name, address: address as string[], taxNumber, prefix, changedAt: gateway.clock.now() };
  const before = await findIssuer(gateway);
  const audited = ({ changedAt: _, ...rest }: Issuer) => rest;
  await gateway.feeInvoices.setIssuer(
    issuer,
    auditEntry(gateway, by, 'fee_invoices.set_issuer', {
      before: before ? audited(before) : null,
      after: audited(issuer),
    }),
  );
  return issuer;
}

/** Who issues the invoices of an account, and to whom; refuses with what is missing. */
async function partiesOf(gateway: Gateway, { name, settings }: Account) {
  const issuer = await findIssuer(gateway);
  const problems: Problem[] = [
    ...(issuer ? [] : [{ field: 'issuer', sentence: 'Nobody is set who issues fee invoices.' }]),
    ...(settings['billing.address'].length > 0
      ? []
      : [{ field: 'billing.address', sentence: 'The account has no address for invoices.' }]),
  ];
  if (!issuer || problems.length > 0) throw new Refusal('feeInvoiceNotPossible', problems);
  const recipient: InvoiceParty = {
    name: settings['billing.name'] || name,
    address: settings['billing.address'],
    taxNumber: settings['billing.tax_number'],
  };
  return { issuer, recipient };
}

const partyOf = ({ name, address, taxNumber }: InvoiceParty): InvoiceParty => ({ name, address, taxNumber });

const auditOf =
  (gateway: Gateway, by: Caller, action: string) =>
  (invoice: FeeInvoice): ReturnType<typeof auditEntry> =>
    auditEntry(gateway, by, action, {
      mid: invoice.mid,
      subject: invoice.feeInvoiceId,
      after: { number: feeInvoiceNumber(invoice), total: String(invoice.net + invoice.tax) },
    });

/** Null if there are no fees until then that are not invoiced. */
async function invoiceUntil(
  gateway: Gateway,
  by: Caller,
  account: Account,
  currency: string,
  until: number,
): Promise<FeeInvoice | null> {
  const { mid } = account;
  const { issuer, recipient } = await partiesOf(gateway, account);
  return withCompleteLedger(gateway, (historyNumber) =>
    gateway.feeInvoices.make(
      { mid, currency },
      until,
      historyNumber,
      (found) => {
        const { net, tax } = totalsOf(found.lines);
        return {
          ...{ mid, currency, ...found, net, tax, recipient },
          feeInvoiceId: newId(),
          prefix: issuer.prefix,
          kind: net + tax < 0n ? 'credit_note' : 'invoice',
          issuer: partyOf(issuer),
          corrects: null,
          reason: null,
          issuedBy: by.name,
          issuedAt: gateway.clock.now(mid),
        };
      },
      auditOf(gateway, by, 'fee_invoices.make'),
    ),
  );
}

/** Invoices the fees of the settlements that are approved and not invoiced yet. */
export async function makeFeeInvoice(
  gateway: Gateway,
  principal: Principal,
  by: Caller,
  input: { mid: unknown; currency: unknown; until: unknown },
): Promise<ListedFeeInvoice> {
  const mid = await readMid(gateway, principal, input.mid);
  const currency = readCurrency(input.currency);
  const now = gateway.clock.now(mid);
  const until = readUntil(input.until, now) ?? now + 1;
  const account = (await findAccount(gateway, mid)) as Account;
  const invoice = await invoiceUntil(gateway, by, account, currency, until);
  if (!invoice)
    throw invalidField('currency', 'There are no fees to invoice.', {
      expected: 'Fees of settlements that are approved and have no invoice.',
    });
  return { ...invoice, correctedBy: null };
}

/** Newest first. */
export async function listFeeInvoices(
  gateway: Gateway,
  { mids }: Pick<Principal, 'mids'>,
  filter: Omit<FeeInvoiceFilter, 'mids'>,
  limit: number,
  before?: string,
): Promise<ListedFeeInvoice[]> {
  const found = mids?.length === 0 ? [] : await gateway.feeInvoices.list({ ...filter, mids }, limit, before);
  return isMerchantView({ mids }) ? found.map((invoice) => ({ ...invoice, issuedBy: OPERATOR })) : found;
}

export async function findFeeInvoice(gateway: Gateway, principal: Principal, id: string): Promise<ListedFeeInvoice> {
  const feeInvoiceId = id.toLowerCase();
  const [found] = isUuid(id) ? await listFeeInvoices(gateway, principal, { feeInvoiceId }, 1) : [];
  if (!found) throw new Refusal('noSuchFeeInvoice');
  return found;
}

/** Takes an invoice back by a credit note; its settlements can be invoiced again, with the addresses of then. */
export async function correctFeeInvoice(
  gateway: Gateway,
  principal: Principal,
  by: Caller,
  id: string,
  input: { reason: unknown },
): Promise<ListedFeeInvoice> {
  const { correctedBy, sequence: _, ...corrected } = await findFeeInvoice(gateway, principal, id);
  const reason = readText(input.reason, 'reason', 'Why the invoice is taken back, in words.');
  if (correctedBy !== null || corrected.corrects !== null) throw new Refusal('feeInvoiceCorrected');
  const { feeInvoiceId, mid, lines, net, tax } = corrected;
  const note: NewFeeInvoice = {
    ...corrected,
    feeInvoiceId: newId(),
    kind: net + tax < 0n ? 'invoice' : 'credit_note',
    lines: takenBack(lines),
    net: -net,
    tax: -tax,
    corrects: feeInvoiceId,
    reason,
    issuedBy: by.name,
    issuedAt: gateway.clock.now(mid),
  };
  const written = await gateway.feeInvoices.correct(
    { ...corrected, sequence: 0 },
    note,
    auditOf(gateway, by, 'fee_invoices.correct'),
  );
  if (!written) throw new Refusal('feeInvoiceCorrected');
  return { ...written, correctedBy: null };
}

/** The beginning of a month in UTC. */
function monthStart(at: number): number {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}

/** Invoices the fees of the months before, until nothing is due. What cannot be invoiced is tried again a day later. */
export async function processDueFeeInvoices(gateway: Gateway, isStopped: () => boolean): Promise<void> {
  while (!isStopped()) {
    const due = await gateway.feeInvoices.due(LIMITS.settlementsAtATime);
    if (due.length === 0) return;
    await catchUp(gateway, due, 0);
    for (const owner of due) {
      const { mid, currency } = owner;
      const now = gateway.clock.now(mid);
      try {
        const account = await findAccount(gateway, mid);
        if (account) await invoiceUntil(gateway, CYCLE, account, currency, monthStart(now));
      } catch (error) {
        gateway.log.warn({ err: error, mid, currency }, 'fees were not invoiced');
      }
      await gateway.feeInvoices.postpone(owner, now, now + LIMITS.dayMs);
    }
  }
}
