/** The card form: a saved card with its security code, a new card, or the card of the attempt that was declined. */
import type { SavedCard } from '../../core/cards/vault.ts';
import { LEFT } from '../../core/payments/leave.ts';
import { maskedNumber } from '../../lib/cards/card.ts';
import {
  BY_PREFIX,
  CARD_NETWORKS,
  isKnownNetwork,
  networkOf,
  networkTitle,
  rulesOf,
} from '../../lib/cards/networks.ts';
import { hasNumber } from '../../lib/cards/search.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { attemptInput, sendAttributes } from './attempt.ts';
import { type Input, renderInput } from './inputs.ts';
import { KEPT_CARD, NEW_CARD } from './kept-input.ts';
import { CODE_MARK, markRow } from './network-marks.ts';
import { noticeBox } from './notices.ts';
import { type MethodForm, networkIn, problemTexts, wrongCode } from './problems.ts';
import { RECEIPT_EMAIL, receiptInput } from './receipt-input.ts';
import { savingTerms } from './saving.ts';
import { CONSENT, seriesTerms } from './series.ts';
import { ICONS, type PageView } from './view.ts';

/** The networks that the page names if it accepts all of them; the others appear when a number is entered. */
const WORLDWIDE = ['visa', 'mastercard', 'amex', 'maestro', 'diners', 'discover', 'jcb', 'unionpay'] as const;

/** The network table for the script: a line for each network, the last one for numbers of no network. */
const networkData = (accepted: readonly string[]): string =>
  [...BY_PREFIX, 'other']
    .map((name) => {
      const { lengths, codeLength = 0, gaps } = rulesOf(name);
      const [title, prefixes] = isKnownNetwork(name) ? [networkTitle(name), CARD_NETWORKS[name].prefixes] : [];
      const isRefused = isKnownNetwork(name) && !accepted.includes(name);
      return [name, title, prefixes, lengths, codeLength, gaps, isRefused ? 1 : ''].join('|');
    })
    .join('\n');

const ALL_NETWORKS = networkData(BY_PREFIX);

const CARD_INPUTS = ['card_number', 'card_expiry', 'card_cvv', 'card_holder'] as const;
type CardInput = (typeof CARD_INPUTS)[number];

/** The card that is chosen in a form, or `new`: at first the saved card that can be used. */
export function selectedCard({ savedCards, kept }: PageView, answers: ReadonlyMap<string, string>): string {
  const chosen = answers.get('saved_card') ?? savedCards.find(({ isExpired }) => !isExpired)?.id ?? NEW_CARD;
  return chosen === KEPT_CARD && !kept?.number ? NEW_CARD : chosen;
}

/** The form after a decline, as it was sent. A payer who left the attempt wants another card. */
export const keptAnswers = ({ kept, payment }: PageView): ReadonlyMap<string, string> =>
  new Map(
    kept && [
      ['saved_card', kept.number && payment.declineReason !== LEFT ? KEPT_CARD : NEW_CARD],
      ['card_expiry', kept.expiry],
      ['card_holder', kept.holder],
    ],
  );

export function cardFields(view: PageView, form: MethodForm): Html {
  const { payment, locale, savedCards, kept, networks, now } = view;
  const { messages, formatMessage, formatAmount } = locale;
  const { cardForm, cardCvvHint } = messages;
  const { method, answers } = form;
  const selected = selectedCard(view, answers);
  const { codeLength } = rulesOf(networkIn(view, answers, selected));
  /** The texts about a code of this length; 0 if the length is not known. */
  const codeHints = { 0: cardCvvHint, 3: cardForm.code3, 4: cardForm.code4 };
  const problems = problemTexts(view, form, selected);
  const focused = CARD_INPUTS.find((name) => problems.has(name));
  const cardInput = (name: CardInput, input: Pick<Input, 'label' | 'autocomplete'> & Partial<Input>): Html =>
    renderInput({ id: name, name, value: '', problem: problems.get(name), isFocused: name === focused, ...input });
  /** The value that was submitted; a card number in the wrong field is not repeated in the page. */
  const submittedValue = (name: CardInput): string => {
    const value = answers.get(name) ?? '';
    return hasNumber(value) ? '' : value;
  };
  /** The attributes by which the script validates an input. */
  const validation = (kind: 'number' | 'expiry' | 'cvv' | 'holder', more?: Html): Html =>
    html` data-check="${kind}" data-wrong="${messages.cardProblems[kind]}"${more}`;
  return html`<form method="post" action="${view.path}" novalidate${sendAttributes(view, messages.paying)} data-blank="${messages.fillIn}">
${noticeBox(view, problems.size)}
<input type="hidden" name="method" value="${method.label}">
<input type="hidden" name="browser" value="">
${attemptInput(view)}
${
  (savedCards.length > 0 || kept?.number || problems.has('saved_card')) &&
  cardChoices(view, selected, problems.get('saved_card'))
}
${cardInput('card_number', {
  label: messages.cardNumber,
  autocomplete: 'cc-number',
  inputmode: 'numeric',
  className: 'number fresh',
  attributes: validation(
    'number',
    html` dir="ltr" maxlength="24" data-blank="${messages.cardProblems.noNumber}" data-refused="${cardForm.notAccepted}" data-networks="${networks ? networkData(networks) : ALL_NETWORKS}"`,
  ),
  badge: html`<span class="network" id="network" aria-live="polite"></span>`,
})}
${markRow(view, networks?.filter(isKnownNetwork) ?? WORLDWIDE)}
<div class="pair">
${cardInput('card_expiry', {
  label: messages.cardExpiry,
  autocomplete: 'cc-exp',
  inputmode: 'numeric',
  className: 'fresh',
  value: submittedValue('card_expiry'),
  attributes: validation(
    'expiry',
    html` dir="ltr" maxlength="9" data-now="${new Date(now).toISOString().replace(/^20(..)-(..).*/, '$1$2')}" data-expired="${messages.cardProblems.expired}"`,
  ),
})}
${cardInput('card_cvv', {
  label: messages.cardCvv,
  autocomplete: 'cc-csc',
  inputmode: 'numeric',
  hint: codeHints[codeLength ?? 0],
  badge: CODE_MARK,
  attributes: validation(
    'cvv',
    html` dir="ltr" maxlength="4" data-length="${codeLength ?? 0}"${([0, 3, 4] as const).map(
      (length) => html` data-hint-${length}="${codeHints[length]}" data-wrong-${length}="${wrongCode(locale, length)}"`,
    )}`,
  ),
})}
</div>
${cardInput('card_holder', {
  label: messages.cardHolder,
  autocomplete: 'cc-name',
  className: 'fresh',
  value: submittedValue('card_holder'),
  attributes: validation('holder'),
})}
${receiptInput(view, answers, problems.has(RECEIPT_EMAIL))}
${savingTerms(view, answers)}
${seriesTerms(view, problems.has(CONSENT))}
<button>${formatMessage(messages.pay, { amount: formatAmount(payment) })}</button>
</form>
<p class="safe">${ICONS.lock}<span>${messages.cardSafe}</span></p>`;
}

function cardChoices(
  { savedCards, kept, locale: { messages, formatMessage } }: PageView,
  selected: string,
  problem: string | undefined,
): Html {
  const nameOf = (network: string, masked: string): string =>
    formatMessage(messages.savedCard, { network: networkTitle(network) ?? messages.card, digits: masked.slice(-4) });
  const choice = (value: string, text: string, network = '', card?: SavedCard): Html => {
    const { expiry = '', isExpired = false } = card ?? {};
    const hint = isExpired ? messages.savedExpired : formatMessage(messages.savedUntil, { date: expiry });
    const { codeLength } = network ? rulesOf(network) : {};
    return html`<label class="saved"${codeLength && html` data-code="${codeLength}"`}><input type="radio" name="saved_card" value="${value}"${
      value === selected && !isExpired && html` checked${problem && html` autofocus`}`
    }${isExpired && html` disabled`}><span>${text}${card && html`<span class="soft small">${hint}</span>`}</span></label>`;
  };
  const keptChoice = (number: string): Html => {
    const network = networkOf(number);
    return choice(KEPT_CARD, nameOf(network, maskedNumber(number)), network);
  };
  return html`<fieldset aria-describedby="saved_card-error">
<legend>${savedCards.length > 0 ? messages.savedCards : messages.card}</legend>
${kept?.number && keptChoice(kept.number.reveal())}
${savedCards.map((card) => choice(card.id, nameOf(card.network, card.masked), card.network, card))}
${choice(NEW_CARD, messages.anotherCard)}
<p class="error" id="saved_card-error"${!problem && html` hidden`}>${problem}</p>
</fieldset>`;
}
