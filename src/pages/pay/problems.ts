/** What the payer reads about each input that was refused, by the id of the input. */
import type { Method } from '../../core/payments/choose.ts';
import { networkOf, networkTitle, rulesOf } from '../../lib/cards/networks.ts';
import type { Problem } from '../../rules/errors.ts';
import { type Field, SENTENCES } from '../../rules/fields.ts';
import { bic } from '../../rules/formats.ts';
import type { Locale } from '../locale.ts';
import type { Messages } from '../locales/index.ts';
import { KEPT_CARD } from './kept-input.ts';
import { RECEIPT_EMAIL } from './receipt-input.ts';
import { CONSENT } from './series.ts';
import { toLatinDigits } from './submission.ts';
import type { PageView } from './view.ts';

/** The chosen payment method, with the submitted values and their problems. */
export interface MethodForm {
  method: Method;
  answers: ReadonlyMap<string, string>;
  problems: readonly Problem[];
}

/** The id of the input of a field. */
export const inputIdOf = (name: string): string => name.replace(/\W+/g, '-');

/** Two letters, two check digits, and an account number: longer than any code of a bank. */
const IBAN = /^[a-z]{2}\d{2}[a-z0-9]{11,30}$/i;

/** Translates the message of a field check for the payer; `value` is what was entered. */
export function explainProblem(
  message: string,
  { messages, formatMessage }: Locale,
  field?: Field,
  value = '',
): string {
  const count = /\d+/.exec(message)?.[0] ?? '';
  if (field?.check === bic.check && IBAN.test(value.replaceAll(' ', ''))) return messages.ibanHere;
  switch (message) {
    case SENTENCES.blank:
      return messages.fillIn;
    case SENTENCES.notAChoice:
      return messages.notAChoice;
    case SENTENCES.notUrl:
      return messages.notUrl;
    case SENTENCES.spaces:
      return messages.spaces;
    case SENTENCES.tooLong(Number(count)):
      return formatMessage(messages.tooLong, { count });
    case SENTENCES.tooShort(Number(count)):
      return formatMessage(messages.tooShort, { count });
    default:
      return messages.looksWrong;
  }
}

/** The network of the card in a form: that of the saved card, or of the number that was kept or entered. */
export function networkIn(
  { savedCards, kept }: PageView,
  answers: ReadonlyMap<string, string>,
  selected: string,
): string {
  const saved = savedCards.find(({ id }) => id === selected);
  if (saved) return saved.network;
  if (selected === KEPT_CARD) return networkOf(kept?.number?.reveal() ?? '');
  return networkOf(toLatinDigits(answers.get('card_number') ?? '').replace(/\D/g, ''));
}

/** The text about a security code of this length; 0 if the length is not known. */
export const wrongCode = ({ messages, formatMessage }: Locale, length: number): string =>
  length === 0 ? messages.cardProblems.cvv : formatMessage(messages.cardForm.wrongCode, { count: String(length) });

const isCardProblem = (kind: string, messages: Messages): kind is keyof Messages['cardProblems'] =>
  Object.hasOwn(messages.cardProblems, kind);

function explainCardProblem(kind: string, view: PageView, { answers }: MethodForm, selected: string): string {
  const { messages, formatMessage } = view.locale;
  const network = networkIn(view, answers, selected);
  if (kind === 'number' && !answers.get('card_number')?.trim()) return messages.cardProblems.noNumber;
  if (kind === 'network') {
    return formatMessage(messages.cardForm.notAccepted, { network: networkTitle(network) ?? messages.card });
  }
  if (kind === 'cvv') return wrongCode(view.locale, rulesOf(network).codeLength ?? 0);
  return isCardProblem(kind, messages) ? messages.cardProblems[kind] : messages.looksWrong;
}

/** The inputs that are hidden while a card is chosen; their problems belong to the choice of the card. */
const isHidden = (field: string, isSaved: boolean, selected: string): boolean =>
  isSaved ? field !== 'card_cvv' : selected === KEPT_CARD && field === 'card_number';

/** The texts about the problems of a form; `selected` is the saved card that is chosen in a card form. */
export function problemTexts(view: PageView, form: MethodForm, selected?: string): ReadonlyMap<string, string> {
  const { locale, savedCards } = view;
  const isSaved = savedCards.some(({ id }) => id === selected);
  return new Map(
    form.problems.map(({ field, sentence }): [string, string] => {
      if (field === CONSENT) return [CONSENT, locale.messages.agreeFirst];
      if (field === RECEIPT_EMAIL) return [RECEIPT_EMAIL, locale.messages.looksWrong];
      if (selected !== undefined) {
        const input = isHidden(field, isSaved, selected) ? 'saved_card' : field;
        return [input, explainCardProblem(sentence, view, form, selected)];
      }
      const asked = form.method.fields.find(({ name }) => name === field);
      return [inputIdOf(field), explainProblem(sentence, locale, asked, form.answers.get(field))];
    }),
  );
}
