/** What the pages on prices share: the path of a plan, who may change it, and its lines in words. */
import { findPlan } from '../../../core/prices/prices.ts';
import { isUuid } from '../../../lib/crypto/id.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { CONNECTORS, type ConnectorName } from '../../../rules/connectors.ts';
import { Refusal } from '../../../rules/errors.ts';
import { LINE_CHOICES, LINE_LISTS, type LineList } from '../../../rules/price-plans.ts';
import type { PriceLine } from '../../../rules/pricing.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { providerName } from '../connections/provider-name.ts';
import type { Column } from '../frame/parts.ts';
import type { PanelRequest } from '../frame/route.ts';
import { languageTag, panelTexts } from '../locales/index.ts';
import { brandChoices, currencyChoices, networkChoices } from '../payments/choices.ts';

const text = panelTexts.prices;

export const PRICES = '/admin/prices';
export const planPath = (planId: string): string => `${PRICES}/${planId}`;

/** Prices concern the whole installation: a restricted operator sees those of its accounts. */
export const mayManage = ({ session: { principal } }: PanelRequest): boolean =>
  isAllowed(principal.role, 'prices.manage') && principal.mids === null;

/** The plan of the path with its versions, if the operator may see it. */
export const requirePlan = ({ gateway, session, params: { planId = '' } }: PanelRequest) => {
  if (!isUuid(planId)) throw new Refusal('noSuchPricePlan');
  return findPlan(gateway, session.principal, planId.toLowerCase());
};

/** A number as an operator types it: with a comma or a point. */
export const typedNumber = (typed: string | undefined): string =>
  (typed ?? '').trim().replace(/^(\d+),(\d+)$/, '$1.$2');

const connectorName = (name: string): string =>
  Object.hasOwn(CONNECTORS, name) ? CONNECTORS[name as ConnectorName].title : providerName(name);

/** The values of a list of a line, with their names. */
export function listChoices(list: LineList): [value: string, label: string][] {
  if (list === 'brands') return brandChoices();
  if (list === 'networks') return networkChoices();
  if (list === 'currencies') return currencyChoices();
  return LINE_CHOICES.connectors.map((name) => [name, connectorName(name)]);
}

export const listLabel = (list: LineList): string =>
  list === 'connectors' ? text.connectors : panelTexts.connections[list];

/** A number as people of the language write it; it has no more digits than it was typed with. */
function shown(number: string): string {
  const digits = number.split('.')[1]?.length ?? 0;
  return Number(number).toLocaleString(languageTag(), { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** What a line applies to. */
function conditions(line: PriceLine): string {
  const { minAmount, maxAmount } = line;
  const named = LINE_LISTS.flatMap((list) => {
    if (line[list].length === 0) return [];
    const names = new Map(list === 'currencies' ? [] : listChoices(list));
    return line[list].map((value) => names.get(value) ?? value).join(', ');
  });
  const bounds = [
    ...(minAmount === null ? [] : [`${panelTexts.connections.minAmount} ${shown(minAmount)}`]),
    ...(maxAmount === null ? [] : [`${panelTexts.connections.maxAmount} ${shown(maxAmount)}`]),
  ];
  return [...named, ...bounds].join(' · ') || text.everything;
}

/** The price of a line: `2.9 % + 0.30 EUR · At least 0.50 EUR`. */
export function priceText({ percent, fixed, minimum, maximum, currencies: [currency = ''] }: PriceLine): string {
  const amount = (number: string): string => `${shown(number)} ${currency}`;
  const sum = [...(percent === null ? [] : [`${shown(percent)} %`]), ...(fixed === null ? [] : [amount(fixed)])].join(
    ' + ',
  );
  const bounds = [
    ...(minimum === null ? [] : [`${text.minimum} ${amount(minimum)}`]),
    ...(maximum === null ? [] : [`${text.maximum} ${amount(maximum)}`]),
  ];
  return [sum, ...bounds].filter((part) => part !== '').join(' · ') || text.free;
}

export const lineColumns = (): Column<PriceLine & { number: number }>[] => [
  { label: text.line, isNumber: true, cell: ({ number }) => number },
  { label: text.event, cell: ({ event }) => text.events[event] },
  { label: text.appliesTo, cell: conditions },
  { label: text.price, cell: (line): Html => html`<strong>${priceText(line)}</strong>` },
];
