/** Every brand that a sale can name, one row each: who processes it and which fields it needs. */
import { type Field, listedIn, must } from './fields.ts';

export interface Brand {
  /** The connector that speaks to the provider. */
  connector: string;
  /** A brand for tries that must not pass for money in production. */
  isSandboxOnly?: true;
  /** The fields this brand needs besides the common ones of a sale. */
  fields: readonly Field[];
  about: string;
}

export const BRANDS: Readonly<Record<string, Brand>> = {
  vcard: {
    connector: 'vcard',
    isSandboxOnly: true,
    fields: [must('identifier', listedIn('vcard.success', 'vcard.decline'))],
    about: 'The test brand: the identifier selects the outcome.',
  },
};

/** The brand that a sale means: its label, or an alias that the account set for it. */
export function brandLabel(
  name: string,
  account: { brands: readonly string[]; brand_aliases: Readonly<Record<string, string>> },
  environment: 'sandbox' | 'production',
): string | undefined {
  const label = Object.hasOwn(account.brand_aliases, name) ? account.brand_aliases[name] : name;
  if (label === undefined || !Object.hasOwn(BRANDS, label)) return undefined;
  const isOffered = environment === 'sandbox' || !BRANDS[label]?.isSandboxOnly;
  return isOffered && (account.brands.length === 0 || account.brands.includes(label)) ? label : undefined;
}
