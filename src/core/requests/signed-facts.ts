/** What the recipe `reversed_md5` covers of a payment in later requests and in callbacks. */
import { CARD } from '../../rules/brands.ts';
import { cardDigits, type PaymentKind } from '../../rules/hash-recipes.ts';
import type { PaymentWithDetails } from '../../store/payments/payments.ts';

export const kindOf = ({ brand }: Pick<PaymentWithDetails, 'brand'>): PaymentKind => (brand === CARD ? 'card' : 'apm');

/** The e-mail address and the card of a payment, as its operations and callbacks sign them. */
export const signedFacts = ({ details: { payer, card } }: PaymentWithDetails): { email: string; card: string } => ({
  email: payer.email ?? '',
  card: cardDigits(card?.masked ?? ''),
});
