/** The names of payment methods in the panel: those of their kinds, with the label that requests use beside them. */
import { type Html, html } from '../../../lib/text/html.ts';
import { BRAND_LABELS, brandOf, CARD, NO_BRAND_YET } from '../../../rules/brands.ts';
import { completeSettings } from '../../../rules/settings.ts';
import { localeFor } from '../../locale.ts';
import { methodNames } from '../../pay/method-names.ts';
import { languageTag, panelTexts } from '../locales/index.ts';

/** Those that payers see. */
export const FOR_PAYERS: readonly string[] = BRAND_LABELS.filter((label) => !brandOf(label)?.isPayout);

const NO_ACCOUNT = { settings: completeSettings({}) };

/** The name of a method, different for each; a session whose payer has not chosen yet has none. */
export function methodName(label: string): string {
  if (label === NO_BRAND_YET) return panelTexts.notChosenYet;
  return methodNames(BRAND_LABELS, NO_ACCOUNT, localeFor(languageTag(), undefined))(label) || label;
}

/** The name and the label. */
export const methodCell = (label: string): Html =>
  label === NO_BRAND_YET || label === CARD
    ? html`${methodName(label)}`
    : html`${methodName(label)} <code class="soft">${label}</code>`;
