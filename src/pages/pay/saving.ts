/** What the payer is told about saving the card, and the box by which the payer chooses it. */
import { displayName } from '../../core/accounts/accounts.ts';
import { type Html, html } from '../../lib/text/html.ts';
import type { PageView } from './view.ts';

const SAVE = 'save_card';

/** The texts: for the choice, for a card that is saved in any case, and what saving means. */
function textsOf({ account, locale: { messages, formatMessage } }: PageView) {
  const merchant = displayName(account);
  const { save, saved, saveHow } = messages.cardForm;
  return {
    choice: formatMessage(save, { merchant }),
    notice: formatMessage(saved, { merchant }),
    terms: formatMessage(saveHow, { merchant }),
  };
}

/** What the payer agreed to by ticking the box, as one text for the record; undefined without a choice or a tick. */
export function savingConsent(view: PageView, answers: ReadonlyMap<string, string>): string | undefined {
  const { wantsToken, needsTokenConsent } = view.payment.details.session ?? {};
  if (!wantsToken || !needsTokenConsent || answers.get(SAVE) !== 'Y') return undefined;
  const { choice, terms } = textsOf(view);
  return `${choice}. ${terms}`;
}

/** The box, or a notice where the merchant requires that the card is saved; nothing if it is not saved. */
export function savingTerms(view: PageView, answers: ReadonlyMap<string, string>): Html | false {
  const { wantsToken, needsTokenConsent } = view.payment.details.session ?? {};
  if (!wantsToken) return false;
  const { choice, notice, terms } = textsOf(view);
  return needsTokenConsent
    ? html`<label class="saved fresh"><input type="checkbox" name="${SAVE}" value="Y"${answers.get(SAVE) === 'Y' && html` checked`}><span>${choice}<span class="soft small">${terms}</span></span></label>`
    : html`<p class="saving soft small fresh">${notice}</p>`;
}
