/** The card networks that the payment page accepts: by the setting of the account, and by its routes. */
import { expect, test } from 'vitest';
import { acceptedNetworks } from '../../../src/core/connections/route.ts';
import type { Account, AccountRoute, Gateway } from '../../../src/core/context.ts';

const PAYMENT = { brand: 'card', currency: 'EUR', amount: 1000n, details: { description: '', payer: {} } };
const route = (fields: Partial<AccountRoute>): AccountRoute =>
  ({
    ...{ connectionId: 'x', brands: [], networks: [], currencies: [], countries: [], bins: [] },
    ...{ minAmount: null, maxAmount: null, share: 100, connection: { methods: { card: {} } }, ...fields },
  }) as unknown as AccountRoute;
const accepted = (routes: AccountRoute[], card_networks: string[] = [], connectors: object = {}) =>
  acceptedNetworks({ connectors } as Gateway, { routes, settings: { card_networks } } as unknown as Account, PAYMENT);

const VISA = route({ networks: ['visa', 'amex'] });
const TROY = route({ networks: ['troy', 'visa'] });
const ANY = route({});

test.each<[string, readonly string[] | undefined, readonly string[] | undefined]>([
  ['all, with an own provider', accepted([VISA], [], { upstream: {} }), undefined],
  ['all, with a route for any network', accepted([VISA, ANY]), undefined],
  ['those of all routes, once each', accepted([VISA, TROY]), ['visa', 'amex', 'troy']],
  [
    'not those of a route for another currency',
    accepted([VISA, route({ networks: ['jcb'], currencies: ['USD'] })]),
    ['visa', 'amex'],
  ],
  ['not those of a route without a share', accepted([VISA, route({ networks: ['jcb'], share: 0 })]), ['visa', 'amex']],
  ['those of a route for some numbers', accepted([route({ networks: ['jcb'], bins: ['353011'] })]), ['jcb']],
  ['those of the setting, in its order', accepted([ANY], ['troy', 'visa']), ['troy', 'visa']],
  ['those of the setting that a route takes', accepted([VISA], ['troy', 'amex']), ['amex']],
])('%s', (_, found, expected) => {
  expect(found).toEqual(expected);
});
