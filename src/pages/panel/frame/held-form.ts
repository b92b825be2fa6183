/** A form that was sent without a recent proof of who the operator is: kept on a page that asks for the proof. */
import type { Gateway } from '../../../core/context.ts';
import { openValue, sealValue } from '../../../core/operators/sealed-values.ts';
import type { Session } from '../../../core/operators/sessions.ts';
import { html } from '../../../lib/text/html.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { panelTexts } from '../locales/index.ts';
import { formToken } from './layout.ts';
import { confirmPath, type PanelAnswer, type PanelRoute } from './route.ts';

const text = panelTexts.heldForm;
/** The page to which the confirmation in the new tab leads. */
const CONFIRMED = '/admin/confirmed';

const purposeOf = ({ operator: { operatorId } }: Session, url: string): string => `held form ${operatorId} ${url}`;

/** The form is sealed, because it may contain keys, which are not sent back to the browser. */
export function heldFormPage(
  gateway: Gateway,
  session: Session,
  { url, form, cancel }: { url: string; form: ReadonlyMap<string, string>; cancel: string },
): Extract<PanelAnswer, { body: unknown }> {
  const held = sealValue(gateway, purposeOf(session, url), [...form], LIMITS.operatorIdleMs);
  return {
    title: panelTexts.signIn.confirmTitle,
    body: html`<div class="card narrow"><h1>${panelTexts.signIn.confirmTitle}</h1><p>${text.intro}</p>
<ol><li class="field"><a class="button" href="${confirmPath(CONFIRMED)}" target="_blank">${text.confirm}</a></li>
<li class="field"><form method="post" action="${url}">${formToken(session)}<input type="hidden" name="held" value="${held}"><button>${text.goOn}</button></form></li></ol>
<p><a href="${cancel}">${text.cancel}</a></p></div>`,
  };
}

/** The form that was kept, or the form itself; undefined if it was kept for too long, or for another page. */
export function openHeldForm(
  gateway: Gateway,
  session: Session,
  url: string,
  form: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> | undefined {
  const held = form.get('held');
  if (held === undefined) return form;
  const opened = openValue<[string, string][]>(gateway, purposeOf(session, url), held);
  return opened && new Map(opened.value);
}

export const confirmedPages: readonly PanelRoute[] = [
  {
    method: 'GET',
    path: CONFIRMED,
    permission: 'any',
    scope: 'accounts',
    confirmFirst: true,
    handle: async () => ({
      title: text.confirmed,
      body: html`<div class="card narrow"><h1>${text.confirmed}</h1><p>${text.backToForm}</p></div>`,
    }),
  },
];
