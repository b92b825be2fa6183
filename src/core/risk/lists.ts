/** Risk lists: creates them, and adds, imports and removes their entries. */
import { hasCardNumber } from '../../lib/cards/search.ts';
import { isUuid, newId } from '../../lib/crypto/id.ts';
import { isText } from '../../lib/text/json.ts';
import { dateTime as readDateTime } from '../../lib/time/date-time.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import { type ListKindName, listKindOf } from '../../rules/risk/list-kinds.ts';
import type { ListEntry, ListedRiskList, RiskList } from '../../store/risk/lists.ts';
import { openCard } from '../cards/vault.ts';
import type { Gateway } from '../context.ts';
import { requirePayment } from '../operators/actions.ts';
import { auditEntry, type Caller, type Principal, sees } from '../operators/principal.ts';
import { type CsvRow, rowsOfCsv } from './data.ts';
import { cardFingerprint } from './facts.ts';

type Viewer = Pick<Principal, 'mids'>;

/** Whether the caller may see what belongs to an account, or to the installation. */
export const seesOwner = (principal: Viewer, mid: string | null): boolean =>
  mid === null ? principal.mids === null : sees(principal, mid);

export function readName(value: unknown): string {
  if (!isText(value, LIMITS.riskNameLength) || value.trim() === '')
    throw invalidField('name', value === undefined ? SENTENCES.blank : SENTENCES.invalid, {
      expected: `A text of 1 to ${LIMITS.riskNameLength} characters.`,
    });
  if (hasCardNumber(value)) throw invalidField('name', SENTENCES.cardNumber);
  return value.trim();
}

/** Refuses an account that does not exist, or that the caller may not see; null is the installation. */
export async function requireOwner(gateway: Gateway, principal: Viewer, mid: unknown): Promise<string | null> {
  if (mid === null) {
    if (principal.mids !== null) throw new Refusal('forbidden');
    return null;
  }
  if (typeof mid !== 'string' || !isUuid(mid))
    throw invalidField('mid', mid === undefined ? SENTENCES.blank : SENTENCES.notUuid, {
      expected: 'The mid of an account, or null for the installation.',
    });
  const account = sees(principal, mid.toLowerCase()) ? await gateway.accounts.find(mid.toLowerCase()) : undefined;
  if (account?.environment !== gateway.environment) throw new Refusal('noSuchAccount');
  return account.mid;
}

export async function createList(
  gateway: Gateway,
  by: Caller,
  { mid, name, kind }: { mid: string | null; name: string; kind: ListKindName },
): Promise<RiskList> {
  const list: RiskList = { listId: newId(), mid, name, kind, createdAt: gateway.clock.real() };
  const audit = auditEntry(gateway, by, 'risk.create_list', { mid, subject: list.listId, after: { name, kind } });
  await gateway.riskLists.insert(list, audit);
  return list;
}

export const listLists = (
  gateway: Gateway,
  filter: { mid?: string | undefined; mids: readonly string[] | null },
  limit: number,
  before?: string,
): Promise<ListedRiskList[]> =>
  filter.mid !== undefined && !sees(filter, filter.mid)
    ? Promise.resolve([])
    : gateway.riskLists.list(filter, limit, before);

export async function requireList(gateway: Gateway, principal: Viewer, listId: string): Promise<RiskList> {
  const list = isUuid(listId) ? await gateway.riskLists.find(listId.toLowerCase()) : undefined;
  if (!list || !seesOwner(principal, list.mid)) throw new Refusal('noSuchRiskList');
  return list;
}

export async function deleteList(gateway: Gateway, principal: Viewer, by: Caller, listId: string): Promise<void> {
  const { mid, name, listId: subject } = await requireList(gateway, principal, listId);
  const user = await gateway.riskRules.userOf(subject);
  if (user !== undefined)
    throw new Refusal('riskListInUse', [{ field: 'list_id', sentence: `The rule ${user} uses it.` }]);
  const audit = auditEntry(gateway, by, 'risk.delete_list', { mid, subject, before: { name } });
  if (!(await gateway.riskLists.remove(subject, audit))) throw new Refusal('noSuchRiskList');
}

/** An entry as it was sent; a card is named by one of its payments. */
export interface NewEntry {
  /** Where the entry is, for refusals. */
  path: string;
  value?: string | undefined;
  paymentId?: string | undefined;
  reason?: string | undefined;
  expiresAt?: number | undefined;
}

export async function addEntries(
  gateway: Gateway,
  principal: Viewer,
  by: Caller,
  listId: string,
  given: readonly NewEntry[],
): Promise<ListEntry[]> {
  const list = await requireList(gateway, principal, listId);
  const entries = await entriesOf(gateway, principal, by, list, given);
  return gateway.riskLists.addEntries(list.listId, entries, auditOfEntries(gateway, by, list, entries.length));
}

/** The entries as they are stored, each value once. */
async function entriesOf(
  gateway: Gateway,
  principal: Viewer,
  by: Caller,
  list: RiskList,
  given: readonly NewEntry[],
): Promise<ListEntry[]> {
  const now = gateway.clock.real();
  const entries = new Map<string, ListEntry>();
  for (const { path, value, paymentId, reason, expiresAt } of given) {
    if (expiresAt !== undefined && expiresAt <= gateway.clock.now(list.mid ?? undefined))
      throw invalidField(`${path}.expires_at`, 'This value should be in the future.');
    if (reason !== undefined && !isText(reason, LIMITS.riskReasonLength))
      throw invalidField(`${path}.reason`, SENTENCES.invalid, {
        expected: `A text of ${LIMITS.riskReasonLength} characters or less.`,
      });
    if (reason !== undefined && hasCardNumber(reason)) throw invalidField(`${path}.reason`, SENTENCES.cardNumber);
    const text =
      paymentId === undefined ? readValue(list, value, path) : await cardOf(gateway, principal, list, paymentId, path);
    entries.set(text, {
      entryId: newId(),
      value: text,
      reason: reason || null,
      expiresAt: expiresAt ?? null,
      createdBy: by.name,
      createdAt: now,
    });
  }
  return [...entries.values()];
}

const auditOfEntries = (gateway: Gateway, by: Caller, { mid, listId }: RiskList, entries: number) =>
  auditEntry(gateway, by, 'risk.add_entries', { mid, subject: listId, after: { entries } });

export const ENTRY_COLUMNS = ['value', 'reason', 'expires_at'] as const;

/** Adds the entries of a CSV file, or none, in portions; a refusal names the line. */
export async function importEntries(
  gateway: Gateway,
  principal: Viewer,
  by: Caller,
  listId: string,
  bytes: Buffer,
): Promise<number> {
  const list = await requireList(gateway, principal, listId);
  async function* portions(): AsyncGenerator<ListEntry[]> {
    let given: NewEntry[] = [];
    for await (const row of rowsOfCsv(bytes, ENTRY_COLUMNS, ['reason', 'expires_at'])) {
      given.push(entryOf(row));
      if (given.length < LIMITS.riskEntriesAtATime) continue;
      yield entriesOf(gateway, principal, by, list, given);
      given = [];
    }
    if (given.length > 0) yield entriesOf(gateway, principal, by, list, given);
  }
  const audit = (entries: number) => auditOfEntries(gateway, by, list, entries);
  return gateway.riskLists.importEntries(list.listId, portions(), audit);
}

function entryOf({ line, cells: { value, reason, expires_at } }: CsvRow<(typeof ENTRY_COLUMNS)[number]>): NewEntry {
  const path = `line ${line}`;
  const expiresAt = expires_at === '' ? undefined : readDateTime(expires_at);
  if (expires_at !== '' && expiresAt === undefined)
    throw invalidField(`${path}.expires_at`, SENTENCES.invalid, {
      expected: 'A date and time, such as 2026-12-31T12:00:00Z.',
    });
  return { path, value, reason, expiresAt };
}

function readValue({ kind }: RiskList, value: string | undefined, path: string): string {
  const { read, expects } = listKindOf(kind);
  const text = value === undefined ? undefined : read(value);
  if (text === undefined)
    throw invalidField(`${path}.value`, value === undefined ? SENTENCES.blank : SENTENCES.invalid, {
      expected: expects,
    });
  return text;
}

/** The fingerprint of a payment's card: in all accounts while it is known, else within its account. */
async function cardOf(
  gateway: Gateway,
  principal: Viewer,
  list: RiskList,
  paymentId: string,
  path: string,
): Promise<string> {
  if (list.kind !== 'card') throw invalidField(`${path}.payment_id`, 'Only a list of cards has entries by payment.');
  const payment = await requirePayment(gateway, principal, paymentId);
  if (list.mid !== null && payment.mid !== list.mid) throw new Refusal('noSuchPayment');
  const { mid, details } = payment;
  const keys = await gateway.riskDecisions.keys(payment);
  if (keys?.card !== undefined) return keys.card;
  const card = details.card && (await openCard(gateway, mid, details.card.id));
  if (card) return cardFingerprint(gateway, card.number.reveal());
  const stored = details.card && (await gateway.cards.findFingerprint(mid, details.card.id));
  if (stored === undefined) throw invalidField(`${path}.payment_id`, 'This payment has no card.');
  return stored;
}

export async function listEntries(
  gateway: Gateway,
  principal: Viewer,
  listId: string,
  limit: number,
  before?: string,
): Promise<ListEntry[]> {
  const list = await requireList(gateway, principal, listId);
  return gateway.riskLists.entries(list.listId, limit, before);
}

export async function removeEntry(
  gateway: Gateway,
  principal: Viewer,
  by: Caller,
  listId: string,
  entryId: string,
): Promise<void> {
  const { mid, listId: subject } = await requireList(gateway, principal, listId);
  if (!isUuid(entryId)) throw new Refusal('noSuchRiskEntry');
  const audit = auditEntry(gateway, by, 'risk.delete_entry', {
    mid,
    subject,
    before: { entry_id: entryId.toLowerCase() },
  });
  if (!(await gateway.riskLists.removeEntry(subject, entryId.toLowerCase(), audit)))
    throw new Refusal('noSuchRiskEntry');
}
