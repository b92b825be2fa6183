/** Generates docs/provider-events.md: the events and statuses of providers that the gateway does not handle. */
import type { Unhandled } from '../../src/connectors/events.ts';
import { DEFINITIONS } from '../../src/connectors/index.ts';
import { code, page, table } from './markdown.ts';

const EFFECTS: Readonly<Record<Unhandled['effect'], string>> = {
  attention: 'attention list',
  ignored: 'no effect',
  open: 'stays open',
};

const nameText = (name: string): string => (name.startsWith('any ') ? name : code(name));

/** The connectors by what they do not handle: those of one provider share their table. */
const byTable = (): [string[], readonly Unhandled[]][] =>
  [...Map.groupBy(Object.entries(DEFINITIONS), ([, { unhandled }]) => unhandled)]
    .filter(([unhandled]) => unhandled.length > 0)
    .map(([unhandled, entries]) => [entries.map(([name]) => name), unhandled]);

export function providerEvents(): string {
  return page(
    'Events and statuses of providers',
    'src/connectors',
    `
This page lists, for each [connector](connectors.md), the events of webhooks and the statuses of payments that the gateway
does not act on, with the reason. \`*\` stands for all other names that begin
so. _Attention list_: the payment is marked \`unresolved\` ([Attention list](operator/attention-list.md)), and its provider calls
name it. _Stays open_: the outcome is not known yet, and the gateway queries the provider. The names of events are those of the SDKs
of Stripe and Adyen, and of the documentation of PayPal and Checkout.com.`,
    ...byTable().flatMap(([names, unhandled]) => [
      `## ${names.join(', ')}`,
      table(
        ['Event or status', 'What happens', 'Why'],
        unhandled.map(({ name, effect, because }) => [nameText(name), EFFECTS[effect], because]),
      ),
    ]),
  );
}
