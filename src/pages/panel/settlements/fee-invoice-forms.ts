/** The forms of fee invoices: who issues them, making one of settlements, and taking one back by a credit note. */
import { correctFeeInvoice, type Issuer, makeFeeInvoice, setIssuer } from '../../../core/settlements/fee-invoices.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import type { Problem } from '../../../rules/errors.ts';
import { formToken } from '../frame/layout.ts';
import { choiceField, field, notice } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest } from '../frame/route.ts';
import { PATHS } from '../ledger/parts.ts';
import { panelTexts } from '../locales/index.ts';
import { changed, errorsOf, typed, typedCut } from './account.ts';

const text = panelTexts.feeInvoices;
const shared = panelTexts.payouts;

/** What the forms of a page refused. */
export interface Refused {
  make?: readonly Problem[];
  issuer?: readonly Problem[];
}

type Again = (request: PanelRequest, refused: Refused) => Promise<PanelAnswer>;

export function makeForm(
  { session, form, query }: PanelRequest,
  names: ReadonlyMap<string, string>,
  problems: readonly Problem[],
): Html {
  const errorOf = errorsOf(problems);
  const missing = Object.entries(text.missing).flatMap(([name, sentence]) =>
    problems.some((problem) => problem.field === name) ? sentence : [],
  );
  return html`<details class="card narrow"${problems.length > 0 && html` open`}><summary>${text.make}</summary><p class="soft">${text.makeHint}</p>${missing.map((sentence) => notice(sentence, 'bad'))}<form method="post" action="${PATHS.feeInvoices}">${formToken(session)}
${choiceField({ name: 'mid', label: text.account, value: form.get('mid') ?? query.mid, error: errorOf('mid') }, [...names])}
${field({ name: 'currency', label: shared.currency, value: form.get('currency'), error: errorOf('currency'), attributes: html`required maxlength="3" size="5" autocomplete="off" autocapitalize="characters"` })}
${field({ name: 'until', label: text.until, type: 'date', value: form.get('until'), hint: text.untilHint, error: errorOf('until') })}
<div class="actions"><button>${text.make}</button></div></form></details>`;
}

/** What was typed, or what is set. */
export function issuerForm(
  { session, form }: PanelRequest,
  issuer: Issuer | undefined,
  problems: readonly Problem[],
): Html {
  const errorOf = errorsOf(problems);
  const value = (name: string, set: string | undefined): string => form.get(name) ?? set ?? '';
  return html`<details class="card narrow"${(problems.length > 0 || !issuer) && html` open`}><summary>${text.setIssuer}</summary><p class="soft">${text.issuerHint}</p><form method="post" action="${PATHS.feeInvoices}/issuer">${formToken(session)}
${field({ name: 'name', label: text.name, value: value('name', issuer?.name), error: errorOf('name'), attributes: html`required maxlength="100" autocomplete="organization"` })}
${field(
  { name: 'address', label: text.address, hint: text.addressHint, error: errorOf('address') },
  (attributes) =>
    html`<textarea ${attributes} required rows="4" autocomplete="street-address">${value('address', issuer?.address.join('\n'))}</textarea>`,
)}
${field({ name: 'tax_number', label: text.taxNumber, value: value('tax_number', issuer?.taxNumber), error: errorOf('tax_number'), attributes: html`maxlength="40" autocomplete="off"` })}
${field({ name: 'prefix', label: text.prefix, value: value('prefix', issuer?.prefix), hint: text.prefixHint, error: errorOf('prefix'), attributes: html`required maxlength="20" autocomplete="off"` })}
<div class="actions"><button>${text.setIssuer}</button></div></form></details>`;
}

export function correctForm({ session, form }: PanelRequest, path: string, problems: readonly Problem[]): Html {
  return html`<details class="card narrow no-print"${problems.length > 0 && html` open`}><summary>${text.takeBack}</summary><p class="soft">${text.takeBackHint}</p><form method="post" action="${path}/correct">${formToken(session)}
${field({ name: 'reason', label: text.reason, value: form.get('reason'), error: errorsOf(problems)('reason'), attributes: html`required autocomplete="off"` })}
<div class="actions"><button>${text.takeBack}</button></div></form></details>`;
}

export const make =
  (again: Again) =>
  (request: PanelRequest): Promise<PanelAnswer> => {
    const { gateway, session, caller } = request;
    const input = typedCut(request);
    const change = async (): Promise<string> => {
      const { feeInvoiceId } = await makeFeeInvoice(gateway, session.principal, caller, input);
      return `${PATHS.feeInvoices}/${feeInvoiceId}?done=made`;
    };
    return changed(change, (problems) => again(request, { make: problems }), ['invalidData', 'feeInvoiceNotPossible']);
  };

/** Each line of the address is a line of the invoice; lines without text are left out. */
export const changeIssuer =
  (again: Again) =>
  (request: PanelRequest): Promise<PanelAnswer> => {
    const { gateway, caller } = request;
    const lines = (typed(request, 'address') ?? '').split('\n').map((line) => line.trim());
    const input = {
      name: typed(request, 'name'),
      address: lines.filter((line) => line !== ''),
      tax_number: typed(request, 'tax_number'),
      prefix: typed(request, 'prefix'),
    };
    const change = async (): Promise<string> => {
      await setIssuer(gateway, caller, input);
      return `${PATHS.feeInvoices}?done=issuer`;
    };
    return changed(change, (problems) => again(request, { issuer: problems }));
  };

export const correct =
  (again: (request: PanelRequest, problems: readonly Problem[]) => Promise<PanelAnswer>) =>
  (request: PanelRequest): Promise<PanelAnswer> => {
    const { gateway, session, caller, params } = request;
    const input = { reason: typed(request, 'reason') };
    const change = async (): Promise<string> => {
      const note = await correctFeeInvoice(gateway, session.principal, caller, params.feeInvoiceId ?? '', input);
      return `${PATHS.feeInvoices}/${note.feeInvoiceId}?done=takenBack`;
    };
    return changed(change, (problems) => again(request, problems));
  };
