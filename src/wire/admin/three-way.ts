/** Admin calls on the three-way reconciliation: the comparison, and how long providers take to pay. */
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import { providerTermsView, threeWayCsv, threeWayView } from '../../core/exports/three-way.ts';
import { compareThreeWays, listProviderTerms, setProviderTerms } from '../../core/reconciliations/three-way.ts';
import { THREE_WAY_STATES } from '../../rules/three-way.ts';
import { needs } from '../bearer.ts';
import { anyText, expecting, oneOf, readBody, readQuery } from './input.ts';
import { wholeList } from './list-file.ts';
import { asFile, fileSender } from './send-download.ts';

const day = expecting('A day, such as 2026-11-15.', (text: string) =>
  /^\d{4}-\d\d-\d\d$/.test(text) ? text : undefined,
);
const FILTERS = { connector: anyText, currency: anyText, state: oneOf(THREE_WAY_STATES), from: day };

export function threeWayRoutes(app: FastifyInstance, gateway: Gateway): void {
  const sendFile = fileSender(gateway);

  app.get('/ledger/three-way', needs('ledger.view', 'installation'), async ({ query }) => {
    const { rows, isComplete } = await compareThreeWays(gateway, readQuery(query, FILTERS));
    return { complete: isComplete, items: rows.map(threeWayView), next_cursor: null };
  });

  app.get('/ledger/three-way.csv', asFile('ledger.view', 'installation'), async ({ query, id }, reply) => {
    const { rows } = await compareThreeWays(gateway, readQuery(query, FILTERS));
    return sendFile(reply, threeWayCsv(rows), id);
  });

  wholeList(app, gateway, '/provider-terms', {
    guard: ['ledger.view', 'installation'],
    name: 'provider-terms',
    columns: ['connector', 'days', 'changed_at'],
    read: async () => (await listProviderTerms(gateway)).map(providerTermsView),
  });

  app.put('/provider-terms', needs('settlements.set_terms', 'installation'), async ({ caller, body }) =>
    providerTermsView(await setProviderTerms(gateway, caller, readBody(body, ['connector', 'days']))),
  );
}
