/** The brands, networks and currencies that forms of the panel offer, with their names. */
import { NETWORK_NAMES, networkTitle } from '../../../lib/cards/networks.ts';
import { BRAND_LABELS } from '../../../rules/brands.ts';
import { CURRENCIES } from '../../../rules/currencies.ts';
import { languageTag, panelTexts } from '../locales/index.ts';
import { methodName } from './methods.ts';

type Choices = [value: string, label: string][];

export const brandChoices = (): Choices => BRAND_LABELS.map((label) => [label, methodName(label)]);

export const networkChoices = (): Choices =>
  NETWORK_NAMES.map((network) => [network, networkTitle(network) ?? panelTexts.settings.list.otherCards]);

export function currencyChoices(): Choices {
  const names = new Intl.DisplayNames(languageTag(), { type: 'currency' });
  return Object.keys(CURRENCIES)
    .toSorted()
    .map((code) => [code, `${code} – ${names.of(code) ?? code}`]);
}
