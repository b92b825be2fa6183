/** The card form: a saved card with its security code, or a new card. */
import type { SavedCard } from '../../core/vault.ts';
import { hasNumber, NETWORKS } from '../../lib/card.ts';
import { type Html, html } from '../../lib/html.ts';
import type { Page } from '../layout.ts';
import type { Locale } from '../locale.ts';
import type { Messages } from '../locales/index.ts';
import type { MethodForm } from './fields.ts';
import { type Input, renderInput } from './inputs.ts';
import { RECEIPT_EMAIL, receiptInput } from './receipt-input.ts';
import { CONSENT, seriesTerms } from './series.ts';
import {
  cancelLink,
  declineNotice,
  ICONS,
  orderSummary,
  type PageView,
  pageTitle,
  statusPolling,
  validationNotice,
} from './view.ts';
import { walletAdditions, walletButtons } from './wallets.ts';

/** Display names of the card networks. */
export const NETWORK_NAMES: Readonly<Record<string, string>> = {
  visa: 'Visa',
  mastercard: 'Mastercard',
  amex: 'Amex',
  discover: 'Discover',
  jcb: 'JCB',
  unionpay: 'UnionPay',
};

/** The network table of the server, for the script. */
const NETWORK_DATA = JSON.stringify(NETWORKS.map(([network, prefix]) => [NETWORK_NAMES[network], prefix.source]));

const CARD_INPUTS = ['card_number', 'card_expiry', 'card_cvv', 'card_holder'] as const;
type CardInput = (typeof CARD_INPUTS)[number];

/** The value of `saved_card` for a card that is not saved. */
const NEW_CARD = 'new';

const isCardProblem = (kind: string, messages: Messages): kind is keyof Messages['cardProblems'] =>
  Object.hasOwn(messages.cardProblems, kind);

export function cardPage(view: PageView, { method, answers, problems }: MethodForm): Page {
  const { payment, locale, methods, savedCards } = view;
  const { messages, formatMessage, formatAmount } = locale;
  const usable = savedCards.find(({ isExpired }) => !isExpired);
  const selected = answers.get('saved_card') ?? usable?.id ?? NEW_CARD;
  const isSaved = savedCards.some(({ id }) => id === selected);
  const problemOf = (name: string): string | undefined => {
    const kind = problems.find(({ field }) => inputNameOf(field, isSaved) === name)?.sentence;
    if (kind === 'number' && !answers.get(name)?.trim()) return messages.cardProblems.noNumber;
    return kind === undefined
      ? undefined
      : isCardProblem(kind, messages)
        ? messages.cardProblems[kind]
        : messages.looksWrong;
  };
  const title = view.wallets.length > 0 ? messages.complete : messages.payByCard;
  const focused = CARD_INPUTS.find(problemOf);
  const cardInput = (name: CardInput, input: Pick<Input, 'label' | 'autocomplete'> & Partial<Input>): Html =>
    renderInput({ id: name, name, value: '', problem: problemOf(name), isFocused: name === focused, ...input });
  /** The value that was submitted; a card number in the wrong field is not repeated in the page. */
  const submittedValue = (name: CardInput): string => {
    const value = answers.get(name) ?? '';
    return hasNumber(value) ? '' : value;
  };
  /** The attributes by which the script validates an input. */
  const validation = (kind: 'number' | 'expiry' | 'cvv' | 'holder', more?: Html): Html =>
    html` data-check="${kind}" data-wrong="${messages.cardProblems[kind]}"${more}`;
  return {
    title: pageTitle(view, title, problems.length),
    ...statusPolling(view),
    additions: walletAdditions(view),
    body: html`${orderSummary(view)}
<section class="card">
<h1>${title}</h1>
${declineNotice(view)}
${validationNotice(problems.length, locale)}
${walletButtons(view, 'or')}
<form method="post" action="${view.path}" novalidate data-busy="${messages.paying}" data-blank="${messages.fillIn}">
<input type="hidden" name="method" value="${method.label}">
<input type="hidden" name="browser" value="">
${savedCards.length > 0 && savedCardChoices(savedCards, selected, problemOf('saved_card'), locale)}
${cardInput('card_number', {
  label: messages.cardNumber,
  autocomplete: 'cc-number',
  inputmode: 'numeric',
  className: 'number fresh',
  attributes: validation(
    'number',
    html` dir="ltr" maxlength="24" data-blank="${messages.cardProblems.noNumber}" data-networks="${NETWORK_DATA}"`,
  ),
  badge: html`<span class="network" id="network" aria-live="polite"></span>`,
})}
<div class="pair">
${cardInput('card_expiry', {
  label: messages.cardExpiry,
  autocomplete: 'cc-exp',
  inputmode: 'numeric',
  className: 'fresh',
  value: submittedValue('card_expiry'),
  attributes: validation('expiry', html` dir="ltr" maxlength="9"`),
})}
${cardInput('card_cvv', {
  label: messages.cardCvv,
  autocomplete: 'cc-csc',
  inputmode: 'numeric',
  hint: messages.cardCvvHint,
  attributes: validation('cvv', html` dir="ltr" maxlength="4"`),
})}
</div>
${cardInput('card_holder', {
  label: messages.cardHolder,
  autocomplete: 'cc-name',
  className: 'fresh',
  value: submittedValue('card_holder'),
  attributes: validation('holder'),
})}
${receiptInput(
  view,
  answers,
  problems.some(({ field }) => field === RECEIPT_EMAIL),
)}
${seriesTerms(
  view,
  problems.some(({ field }) => field === CONSENT),
)}
<button>${formatMessage(messages.pay, { amount: formatAmount(payment) })}</button>
</form>
<p class="safe">${ICONS.lock}<span>${messages.cardSafe}</span></p>
${methods.length > 1 && html`<a class="quiet" href="?">${messages.otherWays}</a>`}
${cancelLink(view)}
</section>`,
  };
}

/** With a saved card the payer enters only the security code; any other problem belongs to the choice of the card. */
const inputNameOf = (field: string, isSaved: boolean): string =>
  isSaved && field !== 'card_cvv' && field !== RECEIPT_EMAIL ? 'saved_card' : field;

function savedCardChoices(
  cards: readonly SavedCard[],
  selected: string,
  problem: string | undefined,
  { messages, formatMessage }: Locale,
): Html {
  const choice = (value: string, text: string, hint: string | undefined, isDisabled = false): Html =>
    html`<label class="saved"><input type="radio" name="saved_card" value="${value}"${
      value === selected && !isDisabled && html` checked${problem && html` autofocus`}`
    }${isDisabled && html` disabled`}><span>${text}${hint && html`<span class="soft small">${hint}</span>`}</span></label>`;
  return html`<fieldset${problem && html` aria-describedby="saved_card-error"`}>
<legend>${messages.savedCards}</legend>
${cards.map(({ id, masked, network, expiry, isExpired }) => {
  const name = formatMessage(messages.savedCard, {
    network: NETWORK_NAMES[network] ?? messages.card,
    digits: masked.slice(-4),
  });
  return choice(
    id,
    name,
    isExpired ? messages.savedExpired : formatMessage(messages.savedUntil, { date: expiry }),
    isExpired,
  );
})}
${choice(NEW_CARD, messages.anotherCard, undefined)}
${problem && html`<p class="error" id="saved_card-error">${problem}</p>`}
</fieldset>`;
}
