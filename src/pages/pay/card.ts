/** The card form: a saved card and its code, or a card that the payer types. */
import type { SavedCard } from '../../core/vault.ts';
import { hasNumber, NETWORKS } from '../../lib/card.ts';
import { type Html, html } from '../../lib/html.ts';
import type { Page } from '../layout.ts';
import type { Speech } from '../speech.ts';
import type { Words } from '../words/index.ts';
import type { Form } from './fields.ts';
import { type Input, inputOf } from './inputs.ts';
import { cancelLink, checkAgain, declinedBefore, following, ICONS, type Shown, summary, titleOf } from './shown.ts';

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

const isKnownProblem = (kind: string, words: Words): kind is keyof Words['cardProblems'] =>
  Object.hasOwn(words.cardProblems, kind);

export function cardPage(shown: Shown, { method, answers, problems }: Form): Page {
  const { payment, speech, methods, savedCards } = shown;
  const { words, say, amount } = speech;
  const usable = savedCards.find(({ isExpired }) => !isExpired);
  const chosen = answers.get('saved_card') ?? usable?.id ?? NEW;
  const isSaved = savedCards.some(({ id }) => id === chosen);
  const problemOf = (name: string): string | undefined => {
    const kind = problems.find(({ field }) => placeOf(field, isSaved) === name)?.sentence;
    if (kind === 'number' && !answers.get(name)?.trim()) return words.cardProblems.noNumber;
    return kind === undefined ? undefined : isKnownProblem(kind, words) ? words.cardProblems[kind] : words.looksWrong;
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
    html` data-check="${kind}" data-wrong="${words.cardProblems[kind]}"${more}`;
  return {
    title: titleOf(shown, words.payByCard, problems.length),
    ...following(shown),
    body: html`${summary(shown)}
<section class="card">
<h1>${words.payByCard}</h1>
${declinedBefore(shown)}
${checkAgain(problems.length, speech)}
<div class="wallets" id="wallets"></div>
<form method="post" action="${shown.path}" novalidate data-busy="${words.paying}" data-blank="${words.fillIn}">
<input type="hidden" name="method" value="${method.label}">
${savedCards.length > 0 && savedChoices(savedCards, chosen, problemOf('saved_card'), speech)}
${typed('card_number', {
  label: words.cardNumber,
  autocomplete: 'cc-number',
  inputmode: 'numeric',
  kind: 'number fresh',
  traits: check(
    'number',
    html` dir="ltr" maxlength="24" data-blank="${words.cardProblems.noNumber}" data-networks="${NETWORK_DATA}"`,
  ),
  beside: html`<span class="network" id="network" aria-live="polite"></span>`,
})}
<div class="pair">
${typed('card_expiry', {
  label: words.cardExpiry,
  autocomplete: 'cc-exp',
  inputmode: 'numeric',
  kind: 'fresh',
  value: again('card_expiry'),
  traits: check('expiry', html` dir="ltr" maxlength="9"`),
})}
${typed('card_cvv', {
  label: words.cardCvv,
  autocomplete: 'cc-csc',
  inputmode: 'numeric',
  hint: words.cardCvvHint,
  traits: check('cvv', html` dir="ltr" maxlength="4"`),
})}
</div>
${typed('card_holder', {
  label: words.cardHolder,
  autocomplete: 'cc-name',
  kind: 'fresh',
  value: again('card_holder'),
  traits: check('holder'),
})}
<button>${say(words.pay, { amount: amount(payment) })}</button>
</form>
<p class="safe">${ICONS.lock}<span>${words.cardSafe}</span></p>
${methods.length > 1 && html`<a class="quiet" href="?">${words.otherWays}</a>`}
${cancelLink(shown)}
</section>`,
  };
}

/** Of a saved card only the code is typed, so whatever else is wrong is wrong with the choice. */
const placeOf = (field: string, isSaved: boolean): string => (isSaved && field !== 'card_cvv' ? 'saved_card' : field);

function savedChoices(
  cards: readonly SavedCard[],
  chosen: string,
  problem: string | undefined,
  { words, say }: Speech,
): Html {
  const choice = (value: string, text: string, more: string | undefined, isDisabled = false): Html =>
    html`<label class="saved"><input type="radio" name="saved_card" value="${value}"${
      value === chosen && !isDisabled && html` checked${problem && html` autofocus`}`
    }${isDisabled && html` disabled`}><span>${text}${more && html`<span class="soft small">${more}</span>`}</span></label>`;
  return html`<fieldset${problem && html` aria-describedby="saved_card-error"`}>
<legend>${words.savedCards}</legend>
${cards.map(({ id, masked, network, expiry, isExpired }) => {
  const name = say(words.savedCard, { network: NETWORK_NAMES[network] ?? words.card, digits: masked.slice(-4) });
  return choice(id, name, isExpired ? words.savedExpired : say(words.savedUntil, { date: expiry }), isExpired);
})}
${choice(NEW, words.anotherCard, undefined)}
${problem && html`<p class="error" id="saved_card-error">${problem}</p>`}
</fieldset>`;
}
