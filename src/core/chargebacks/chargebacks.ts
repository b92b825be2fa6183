/** Chargebacks: the list of each account, the deadline to respond, a note, and files that are kept as evidence. */
import { hasCardNumber } from '../../lib/cards/search.ts';
import { isUuid, newId } from '../../lib/crypto/id.ts';
import { boundTo } from '../../lib/crypto/seal.ts';
import { fileType } from '../../lib/files/file-type.ts';
import { type ChargebackState, EVIDENCE_ENDINGS, EVIDENCE_LIMITS } from '../../rules/chargebacks.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import type {
  ChargebackCursor,
  ChargebackFilter,
  Evidence,
  ListedChargeback,
} from '../../store/chargebacks/chargebacks.ts';
import type { Gateway } from '../context.ts';
import { auditEntry, type Caller, type Principal, sees } from '../operators/principal.ts';
import { readNote } from '../payments/resolve.ts';

/** Newest first. */
export const listChargebacks = (
  gateway: Gateway,
  filter: ChargebackFilter,
  limit: number,
  before?: ChargebackCursor,
): Promise<ListedChargeback[]> =>
  filter.mid !== undefined && !sees(filter, filter.mid)
    ? Promise.resolve([])
    : gateway.chargebacks.list(filter, limit, before);

/** Refuses a chargeback that does not exist, or that the caller may not see. */
export async function requireChargeback(
  gateway: Gateway,
  { mids }: Pick<Principal, 'mids'>,
  paymentId: string,
): Promise<ListedChargeback> {
  const [found] = isUuid(paymentId)
    ? await gateway.chargebacks.list({ mids, paymentId: paymentId.toLowerCase() }, 1)
    : [];
  if (!found) throw new Refusal('noSuchChargeback');
  return found;
}

export interface ChargebackChanges {
  state?: ChargebackState | undefined;
  note?: string | undefined;
}

export async function changeChargeback(
  gateway: Gateway,
  principal: Pick<Principal, 'mids'>,
  by: Caller,
  paymentId: string,
  { state, note }: ChargebackChanges,
): Promise<ListedChargeback> {
  const found = await requireChargeback(gateway, principal, paymentId);
  const { mid, paymentId: subject } = found;
  const change = { ...(state && { state }), ...(note !== undefined && { note: readNote(note) }) };
  if (Object.keys(change).length === 0) return found;
  const changed = await gateway.chargebacks.change(found, gateway.clock.now(mid), (row) => {
    const before = { state: row.state, note: row.note };
    const after = { ...before, ...change };
    return { change, audit: auditEntry(gateway, by, 'chargebacks.change', { mid, subject, before, after }) };
  });
  return { ...found, ...changed };
}

const boundOf = ({ mid, paymentId, evidenceId }: Pick<Evidence, 'mid' | 'paymentId' | 'evidenceId'>): string =>
  boundTo('chargeback_evidence', 'sealed', `${mid} ${paymentId} ${evidenceId}`);

/** The last part of a path, without characters that a file name should not have. */
const fileName = (name: string): string => (name.split(/[/\\]/).at(-1) ?? '').replace(/\p{Cc}|["<>:|?*]/gu, '').trim();

/** Stores a file, sealed; its content decides its type. */
export async function addEvidence(
  gateway: Gateway,
  principal: Pick<Principal, 'mids'>,
  by: Caller,
  paymentId: string,
  file: { name: string; bytes: Buffer },
): Promise<Evidence> {
  const { mid, paymentId: subject } = await requireChargeback(gateway, principal, paymentId);
  const name = fileName(file.name);
  if (name === '') throw invalidField('name', SENTENCES.blank);
  if (hasCardNumber(name)) throw invalidField('name', SENTENCES.cardNumber);
  if (name.length > EVIDENCE_LIMITS.nameLength) {
    throw invalidField('name', SENTENCES.tooLong(EVIDENCE_LIMITS.nameLength));
  }
  const ending = /\.([a-z][a-z0-9]*)$/i.exec(name)?.[1]?.toLowerCase();
  if (ending !== undefined && !EVIDENCE_ENDINGS.some((one) => one === ending)) {
    throw invalidField(
      'name',
      `The name should end in ${EVIDENCE_ENDINGS.map((one) => `.${one}`).join(', ')} or nothing.`,
    );
  }
  if (file.bytes.length > EVIDENCE_LIMITS.bytes) {
    throw invalidField('file', `The file is too large. It should have ${EVIDENCE_LIMITS.bytes} bytes or less.`);
  }
  const mediaType = fileType(file.bytes);
  if (!mediaType) throw invalidField('file', 'The file should be a PDF, a PNG, a JPEG or a text in UTF-8.');
  const evidence: Evidence = {
    mid,
    paymentId: subject,
    evidenceId: newId(),
    name,
    mediaType,
    sizeBytes: file.bytes.length,
    addedBy: by.name,
    createdAt: gateway.clock.now(mid),
  };
  const sealed = gateway.seal.seal(file.bytes.toString('base64'), boundOf(evidence));
  const after = { evidence_id: evidence.evidenceId, name, media_type: mediaType, size: evidence.sizeBytes };
  const entry = auditEntry(gateway, by, 'chargebacks.add_evidence', { mid, subject, after });
  if (await gateway.chargebacks.addEvidence(evidence, sealed, EVIDENCE_LIMITS.files, entry)) return evidence;
  throw invalidField('file', `A chargeback should have ${EVIDENCE_LIMITS.files} files or less.`);
}

export async function listEvidence(
  gateway: Gateway,
  principal: Pick<Principal, 'mids'>,
  paymentId: string,
): Promise<Evidence[]> {
  return gateway.chargebacks.evidence(await requireChargeback(gateway, principal, paymentId));
}

async function requireEvidence(
  gateway: Gateway,
  principal: Pick<Principal, 'mids'>,
  paymentId: string,
  evidenceId: string,
): Promise<Evidence> {
  const all = await listEvidence(gateway, principal, paymentId);
  const found = all.find((one) => one.evidenceId === evidenceId.toLowerCase());
  if (!found) throw new Refusal('noSuchEvidence');
  return found;
}

/** A file with its content. */
export async function readEvidence(
  gateway: Gateway,
  principal: Pick<Principal, 'mids'>,
  paymentId: string,
  evidenceId: string,
): Promise<{ evidence: Evidence; bytes: Buffer }> {
  const evidence = await requireEvidence(gateway, principal, paymentId, evidenceId);
  const sealed = await gateway.chargebacks.readEvidence(evidence);
  if (!sealed) throw new Refusal('noSuchEvidence');
  return { evidence, bytes: Buffer.from(gateway.seal.open(sealed, boundOf(evidence)), 'base64') };
}

export async function deleteEvidence(
  gateway: Gateway,
  principal: Pick<Principal, 'mids'>,
  by: Caller,
  paymentId: string,
  evidenceId: string,
): Promise<void> {
  const { mid, name, ...found } = await requireEvidence(gateway, principal, paymentId, evidenceId);
  const before = { evidence_id: found.evidenceId, name };
  const entry = auditEntry(gateway, by, 'chargebacks.delete_evidence', { mid, subject: found.paymentId, before });
  const key = { mid, paymentId: found.paymentId, evidenceId: found.evidenceId };
  if (!(await gateway.chargebacks.deleteEvidence(key, entry))) throw new Refusal('noSuchEvidence');
}
