/** The card form: a saved card and its code, or a card that the payer types. */
import type { SavedCard } from '../../core/vault.ts';
import { hasNumber, NETWORKS } from '../../lib/card.ts';
import { type Html, html } from '../../lib/html.ts';
import type { Page } from '../layout.ts';
import type { Locale } from '../locale.ts';
import type { Messages } from '../locales/index.ts';
import type { Form } from './fields.ts';
import { type Input, inputOf } from './inputs.ts';
import { cancelLink, checkAgain, declinedBefore, following, ICONS, type PageView, summary, titleOf } from './view.ts';

/** How payers know the networks of cards. */
const NETWORK_NAMES: Readonly<Record<string, string>> = {
  visa: 'Visa',
  mastercard: 'Mastercard',
  amex: 'Amex',
  discover: 'Discover',
  jcb: 'JCB',
  unionpay: 'UnionPay',
};

/** The same table as on the server, for the script. */
const NETWORK_DATA = JSON.stringify(NETWORKS.map(([network, prefix]) => [NETWORK_NAMES[network], prefix.source]));

const TYPED = ['card_number', 'card_expiry', 'card_cvv', 'card_holder'] as const;
type TypedName = (typeof TYPED)[number];

/** The choice that means a card which is typed. */
const NEW = 'new';

const isKnownProblem = (kind: string, messages: Messages): kind is keyof Messages['cardProblems'] =>
  Object.hasOwn(messages.cardProblems, kind);

export function cardPage(view: PageView, { method, answers, problems }: Form): Page {
  const { payment, locale, methods, savedCards } = view;
  const { messages, translate, amount } = locale;
  const usable = savedCards.find(({ isExpired }) => !isExpired);
  const chosen = answers.get('saved_card') ?? usable?.id ?? NEW;
  const isSaved = savedCards.some(({ id }) => id === chosen);
  const problemOf = (name: string): string | undefined => {
    const kind = problems.find(({ field }) => placeOf(field, isSaved) === name)?.sentence;
    if (kind === 'number' && !answers.get(name)?.trim()) return messages.cardProblems.noNumber;
    return kind === undefined
      ? undefined
      : isKnownProblem(kind, messages)
        ? messages.cardProblems[kind]
        : messages.looksWrong;
  };
  const focused = TYPED.find(problemOf);
  const typed = (name: TypedName, input: Pick<Input, 'label' | 'autocomplete'> & Partial<Input>): Html =>
    inputOf({ id: name, name, value: '', problem: problemOf(name), isFocused: name === focused, ...input });
  /** What was typed before; a number in the wrong field is not written back into the page, either. */
  const again = (name: TypedName): string => {
    const value = answers.get(name) ?? '';
    return hasNumber(value) ? '' : value;
  };
  const check = (kind: 'number' | 'expiry' | 'cvv' | 'holder', more?: Html): Html =>
    html` data-check="${kind}" data-wrong="${messages.cardProblems[kind]}"${more}`;
  return {
    title: titleOf(view, messages.payByCard, problems.length),
    ...following(view),
    body: html`${summary(view)}
<section class="card">
<h1>${messages.payByCard}</h1>
${declinedBefore(view)}
${checkAgain(problems.length, locale)}
<div class="wallets" id="wallets"></div>
<form method="post" action="${view.path}" novalidate data-busy="${messages.paying}" data-blank="${messages.fillIn}">
<input type="hidden" name="method" value="${method.label}">
${savedCards.length > 0 && savedChoices(savedCards, chosen, problemOf('saved_card'), locale)}
${typed('card_number', {
  label: messages.cardNumber,
  autocomplete: 'cc-number',
  inputmode: 'numeric',
  kind: 'number fresh',
  traits: check(
    'number',
    html` dir="ltr" maxlength="24" data-blank="${messages.cardProblems.noNumber}" data-networks="${NETWORK_DATA}"`,
  ),
  beside: html`<span class="network" id="network" aria-live="polite"></span>`,
})}
<div class="pair">
${typed('card_expiry', {
  label: messages.cardExpiry,
  autocomplete: 'cc-exp',
  inputmode: 'numeric',
  kind: 'fresh',
  value: again('card_expiry'),
  traits: check('expiry', html` dir="ltr" maxlength="9"`),
})}
${typed('card_cvv', {
  label: messages.cardCvv,
  autocomplete: 'cc-csc',
  inputmode: 'numeric',
  hint: messages.cardCvvHint,
  traits: check('cvv', html` dir="ltr" maxlength="4"`),
})}
</div>
${typed('card_holder', {
  label: messages.cardHolder,
  autocomplete: 'cc-name',
  kind: 'fresh',
  value: again('card_holder'),
  traits: check('holder'),
})}
<button>${translate(messages.pay, { amount: amount(payment) })}</button>
</form>
<p class="safe">${ICONS.lock}<span>${messages.cardSafe}</span></p>
${methods.length > 1 && html`<a class="quiet" href="?">${messages.otherWays}</a>`}
${cancelLink(view)}
</section>`,
  };
}

/** Of a saved card only the code is typed, so whatever else is wrong is wrong with the choice. */
const placeOf = (field: string, isSaved: boolean): string => (isSaved && field !== 'card_cvv' ? 'saved_card' : field);

function savedChoices(
  cards: readonly SavedCard[],
  chosen: string,
  problem: string | undefined,
  { messages, translate }: Locale,
): Html {
  const choice = (value: string, text: string, more: string | undefined, isDisabled = false): Html =>
    html`<label class="saved"><input type="radio" name="saved_card" value="${value}"${
      value === chosen && !isDisabled && html` checked${problem && html` autofocus`}`
    }${isDisabled && html` disabled`}><span>${text}${more && html`<span class="soft small">${more}</span>`}</span></label>`;
  return html`<fieldset${problem && html` aria-describedby="saved_card-error"`}>
<legend>${messages.savedCards}</legend>
${cards.map(({ id, masked, network, expiry, isExpired }) => {
  const name = translate(messages.savedCard, {
    network: NETWORK_NAMES[network] ?? messages.card,
    digits: masked.slice(-4),
  });
  return choice(
    id,
    name,
    isExpired ? messages.savedExpired : translate(messages.savedUntil, { date: expiry }),
    isExpired,
  );
})}
${choice(NEW, messages.anotherCard, undefined)}
${problem && html`<p class="error" id="saved_card-error">${problem}</p>`}
</fieldset>`;
}
