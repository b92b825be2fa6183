/** The card form: a saved card with its security code, or a new card. */
import type { SavedCard } from '../../core/vault.ts';
import { hasNumber } from '../../lib/card.ts';
import { BY_PREFIX, CARD_NETWORKS, isKnownNetwork, networkOf, networkTitle, rulesOf } from '../../lib/card-networks.ts';
import { type Html, html } from '../../lib/html.ts';
import type { Page } from '../layout.ts';
import type { Locale } from '../locale.ts';
import type { Messages } from '../locales/index.ts';
import type { MethodForm } from './fields.ts';
import { type Input, renderInput } from './inputs.ts';
import { CODE_MARK, markOf, markRow } from './network-marks.ts';
import { RECEIPT_EMAIL, receiptInput } from './receipt-input.ts';
import { savingTerms } from './saving.ts';
import { CONSENT, seriesTerms } from './series.ts';
import { toLatinDigits } from './submission.ts';
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

/** The value of `saved_card` for a card that is not saved. */
const NEW_CARD = 'new';

const isCardProblem = (kind: string, messages: Messages): kind is keyof Messages['cardProblems'] =>
  Object.hasOwn(messages.cardProblems, kind);

export function cardPage(view: PageView, { method, answers, problems }: MethodForm): Page {
  const { payment, locale, methods, savedCards, networks, now } = view;
  const { messages, formatMessage, formatAmount } = locale;
  const { cardForm, cardCvvHint } = messages;
  const usable = savedCards.find(({ isExpired }) => !isExpired);
  const selected = answers.get('saved_card') ?? usable?.id ?? NEW_CARD;
  const saved = savedCards.find(({ id }) => id === selected);
  const isSaved = saved !== undefined;
  const network = saved ? saved.network : networkOf(toLatinDigits(answers.get('card_number') ?? '').replace(/\D/g, ''));
  const { codeLength } = rulesOf(network);
  /** The texts about a code of this length; 0 if the length is not known. */
  const codeHints = { 0: cardCvvHint, 3: cardForm.code3, 4: cardForm.code4 };
  const wrongCode = (length: 0 | 3 | 4): string =>
    length === 0 ? messages.cardProblems.cvv : formatMessage(cardForm.wrongCode, { count: String(length) });
  const problemOf = (name: string): string | undefined => {
    const kind = problems.find(({ field }) => inputNameOf(field, isSaved) === name)?.sentence;
    if (kind === 'number' && !answers.get(name)?.trim()) return messages.cardProblems.noNumber;
    if (kind === 'network')
      return formatMessage(cardForm.notAccepted, { network: networkTitle(network) ?? messages.card });
    if (kind === 'cvv') return wrongCode(codeLength ?? 0);
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
    html` dir="ltr" maxlength="24" data-blank="${messages.cardProblems.noNumber}" data-refused="${cardForm.notAccepted}" data-networks="${networks ? networkData(networks) : ALL_NETWORKS}"`,
  ),
  badge: html`<span class="network"><svg aria-hidden="true"><use/></svg><span id="network" aria-live="polite"></span></span>`,
})}
${markRow(networks?.filter(isKnownNetwork) ?? WORLDWIDE, cardForm.accepted)}
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
      (length) => html` data-hint-${length}="${codeHints[length]}" data-wrong-${length}="${wrongCode(length)}"`,
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
${receiptInput(
  view,
  answers,
  problems.some(({ field }) => field === RECEIPT_EMAIL),
)}
${savingTerms(view, answers)}
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
  const choice = (value: string, text: string, card?: SavedCard): Html => {
    const { network = '', expiry = '', isExpired = false } = card ?? {};
    const hint = isExpired ? messages.savedExpired : formatMessage(messages.savedUntil, { date: expiry });
    const { codeLength } = card ? rulesOf(network) : {};
    return html`<label class="saved"${codeLength && html` data-code="${codeLength}"`}><input type="radio" name="saved_card" value="${value}"${
      value === selected && !isExpired && html` checked${problem && html` autofocus`}`
    }${isExpired && html` disabled`}><span>${text}${card && html`<span class="soft small">${hint}</span>`}</span>${isKnownNetwork(network) && markOf(network)}</label>`;
  };
  return html`<fieldset${problem && html` aria-describedby="saved_card-error"`}>
<legend>${messages.savedCards}</legend>
${cards.map((card) => {
  const network = networkTitle(card.network) ?? messages.card;
  return choice(card.id, formatMessage(messages.savedCard, { network, digits: card.masked.slice(-4) }), card);
})}
${choice(NEW_CARD, messages.anotherCard)}
${problem && html`<p class="error" id="saved_card-error">${problem}</p>`}
</fieldset>`;
}
