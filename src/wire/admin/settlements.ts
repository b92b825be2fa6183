/** Admin calls on settlements: terms and bank accounts of accounts, cuts, payouts, and payments of providers. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { requireAccount } from '../../core/accounts/require-account.ts';
import type { Gateway } from '../../core/context.ts';
import { entriesCsv, entryView } from '../../core/exports/ledger.ts';
import {
  bankAccountView,
  listedPayoutView,
  payoutAccountView,
  payoutsCsv,
  payoutView,
  providerPaymentsCsv,
  providerPaymentView,
  settlementsCsv,
  settlementView,
  termsView,
  transferView,
} from '../../core/exports/settlements.ts';
import {
  BANK_FIELDS,
  confirmBankAccount,
  listBankAccounts,
  listPayoutAccounts,
  PAYOUT_ACCOUNT_FIELDS,
  setBankAccount,
  setPayoutAccount,
} from '../../core/settlements/bank-accounts.ts';
import { listHolidays, setHolidays } from '../../core/settlements/holidays.ts';
import {
  decidePayout,
  findPayout,
  listPayouts,
  makePayout,
  payoutFile,
  recordTransfer,
} from '../../core/settlements/payouts.ts';
import {
  listProviderPayments,
  PROVIDER_PAYMENT_FIELDS,
  recordProviderPayment,
} from '../../core/settlements/provider-payments.ts';
import {
  cutByHand,
  decideSettlement,
  findSettlement,
  listSettlements,
  settlementEntries,
} from '../../core/settlements/settlements.ts';
import { listTerms, setTerms, TERMS_FIELDS } from '../../core/settlements/terms.ts';
import { isUuid } from '../../lib/crypto/id.ts';
import { LIMITS } from '../../rules/limits.ts';
import { SETTLEMENT_STATES } from '../../rules/settlements.ts';
import { needs } from '../bearer.ts';
import { epochMs, oneOf, page, pageSize, readBody, readQuery, uuidText } from './input.ts';
import { wholeList } from './list-file.ts';
import { asFile, fileSender } from './send-download.ts';

interface OfAccount {
  Params: { mid: string };
}
interface OfSettlement {
  Params: { settlementId: string };
}
interface OfPayout {
  Params: { payoutId: string };
}

const FILTERS = { mid: uuidText, state: oneOf(SETTLEMENT_STATES) };
const PAGE = { limit: pageSize, cursor: uuidText };

const TERMS_COLUMNS = [
  ...['currency', 'cycle', 'weekday', 'day', 'time_zone', 'cut_off', 'business_days', 'delay_days', 'minimum'],
  ...['reserve_percent', 'reserve_days', 'hold', 'valid_from'],
];

/** The time and the id of the last entry of a page. */
function readPosition(text: string) {
  const [time = '', entryId = ''] = text.split('.');
  const postedAt = epochMs(time);
  return postedAt !== undefined && isUuid(entryId) ? { postedAt, entryId } : undefined;
}

export function settlementRoutes(app: FastifyInstance, gateway: Gateway): void {
  const sendFile = fileSender(gateway);

  const midOfPath = async ({ principal, params }: FastifyRequest<OfAccount>): Promise<string> =>
    (await requireAccount(gateway, principal, params.mid)).mid;

  wholeList(app, gateway, '/accounts/:mid/settlement-terms', {
    guard: ['settlements.view', 'accounts'],
    name: 'settlement-terms',
    columns: TERMS_COLUMNS,
    read: async (request) => (await listTerms(gateway, await midOfPath(request))).map(termsView),
    cells: ({ reserve, ...terms }) => ({ ...terms, reserve_percent: reserve?.percent, reserve_days: reserve?.days }),
  });

  app.put<OfAccount>('/accounts/:mid/settlement-terms', needs('settlements.set_terms', 'accounts'), async (request) => {
    const mid = await midOfPath(request);
    return termsView(await setTerms(gateway, request.caller, mid, readBody(request.body, TERMS_FIELDS)));
  });

  wholeList(app, gateway, '/accounts/:mid/bank-account', {
    guard: ['settlements.view', 'accounts'],
    name: 'bank-accounts',
    columns: ['currency', 'holder', 'account', 'changed_at', 'held_until'],
    read: async (request) => (await listBankAccounts(gateway, await midOfPath(request))).map(bankAccountView),
  });

  app.put<OfAccount>('/accounts/:mid/bank-account', needs('settlements.set_terms', 'accounts'), async (request) => {
    const mid = await midOfPath(request);
    return bankAccountView(await setBankAccount(gateway, request.caller, mid, readBody(request.body, BANK_FIELDS)));
  });

  app.post<OfAccount>(
    '/accounts/:mid/bank-account/confirm',
    needs('settlements.manage', 'accounts'),
    async (request) => {
      const mid = await midOfPath(request);
      const input = readBody(request.body, ['currency']);
      return bankAccountView(await confirmBankAccount(gateway, request.caller, mid, input));
    },
  );

  wholeList(app, gateway, '/holidays', {
    guard: ['settlements.view', 'installation'],
    name: 'holidays',
    columns: ['day', 'name'],
    read: () => listHolidays(gateway),
  });

  app.put('/holidays', needs('settlements.set_terms', 'installation'), async ({ caller, body }) => ({
    items: await setHolidays(gateway, caller, readBody(body, ['holidays'])),
    next_cursor: null,
  }));

  wholeList(app, gateway, '/payout-account', {
    guard: ['settlements.view', 'installation'],
    name: 'payout-accounts',
    columns: ['currency', 'holder', 'account', 'bic', 'changed_at'],
    read: async () => (await listPayoutAccounts(gateway)).map(payoutAccountView),
  });

  app.put('/payout-account', needs('settlements.set_terms', 'installation'), async ({ caller, body }) =>
    payoutAccountView(await setPayoutAccount(gateway, caller, readBody(body, PAYOUT_ACCOUNT_FIELDS))),
  );

  app.post('/settlements', needs('settlements.manage', 'accounts'), async ({ principal, caller, body }, reply) => {
    const input = readBody(body, ['mid', 'currency', 'until']);
    const { settlement, isNew } = await cutByHand(gateway, principal, caller, input);
    reply.code(isNew ? 201 : 200);
    return settlementView(settlement);
  });

  app.get('/settlements', needs('settlements.view', 'accounts'), async ({ principal, query }) => {
    const { limit: size = LIMITS.adminPageSize, cursor, ...filter } = readQuery(query, { ...FILTERS, ...PAGE });
    const rows = await listSettlements(gateway, principal, filter, size + 1, cursor);
    return page(rows, size, ({ settlementId }) => settlementId, settlementView);
  });

  app.get('/settlements.csv', asFile('settlements.view', 'accounts'), async ({ principal, query, id }, reply) => {
    const filter = readQuery(query, FILTERS);
    const read = (limit: number, before?: string) => listSettlements(gateway, principal, filter, limit, before);
    return sendFile(reply, await settlementsCsv(gateway, read), id);
  });

  app.get<OfSettlement>(
    '/settlements/:settlementId',
    needs('settlements.view', 'accounts'),
    async ({ principal, params }) => settlementView(await findSettlement(gateway, principal, params.settlementId)),
  );

  app.get<OfSettlement>(
    '/settlements/:settlementId/entries',
    needs('settlements.view', 'accounts'),
    async ({ principal, params, query }) => {
      const settlement = await findSettlement(gateway, principal, params.settlementId);
      const { limit: size = LIMITS.adminPageSize, cursor } = readQuery(query, {
        limit: pageSize,
        cursor: readPosition,
      });
      const rows = await settlementEntries(gateway, principal, settlement, size + 1, cursor);
      return page(rows, size, ({ postedAt, entryId }) => `${postedAt}.${entryId}`, entryView);
    },
  );

  app.get<OfSettlement>(
    '/settlements/:settlementId/entries.csv',
    asFile('settlements.view', 'accounts'),
    async ({ principal, params, id }, reply) => {
      const settlement = await findSettlement(gateway, principal, params.settlementId);
      const file = await entriesCsv(
        gateway,
        (limit, last) => settlementEntries(gateway, principal, settlement, limit, last),
        `settlement-${settlement.number}-${settlement.currency}`,
      );
      return sendFile(reply, file, id);
    },
  );

  for (const [name, state] of [
    ['approve', 'approved'],
    ['void', 'void'],
  ] as const) {
    app.post<OfSettlement>(
      `/settlements/:settlementId/${name}`,
      needs('settlements.manage', 'accounts'),
      async ({ principal, caller, params }) =>
        settlementView(await decideSettlement(gateway, principal, caller, params.settlementId, state)),
    );
  }

  app.post('/payouts', needs('settlements.manage', 'installation'), async ({ caller, body }, reply) => {
    const payout = await makePayout(gateway, caller, readBody(body, ['settlement_ids', 'format']));
    reply.code(201);
    return payoutView(payout);
  });

  app.get('/payouts', needs('settlements.view', 'installation'), async ({ query }) => {
    const { limit: size = LIMITS.adminPageSize, cursor } = readQuery(query, PAGE);
    return page(await listPayouts(gateway, size + 1, cursor), size, ({ payoutId }) => payoutId, listedPayoutView);
  });

  app.get('/payouts.csv', asFile('settlements.view', 'installation'), async ({ query, id }, reply) => {
    readQuery(query, {});
    return sendFile(reply, await payoutsCsv(gateway, (limit, before) => listPayouts(gateway, limit, before)), id);
  });

  app.get<OfPayout>('/payouts/:payoutId', needs('settlements.view', 'installation'), async ({ params }) =>
    payoutView(await findPayout(gateway, params.payoutId)),
  );

  app.get<OfPayout>('/payouts/:payoutId/file', asFile('settlements.manage', 'installation'), async (request, reply) => {
    const { payoutId } = request.params;
    const { format, text } = await payoutFile(gateway, payoutId);
    const [type, ending] = format === 'csv' ? ['text/csv', 'csv'] : ['application/xml', 'xml'];
    reply.type(`${type}; charset=utf-8`);
    reply.header('content-disposition', `attachment; filename="payout-${payoutId.toLowerCase()}.${ending}"`);
    return text;
  });

  for (const [name, state] of [
    ['approve', 'approved'],
    ['refuse', 'refused'],
  ] as const) {
    app.post<OfPayout>(
      `/payouts/:payoutId/${name}`,
      needs('settlements.manage', 'installation'),
      async ({ caller, params }) => payoutView(await decidePayout(gateway, caller, params.payoutId, state)),
    );
  }

  app.post<{ Params: { payoutId: string; transferId: string } }>(
    '/payouts/:payoutId/transfers/:transferId',
    needs('settlements.manage', 'installation'),
    async ({ caller, params: { payoutId, transferId }, body }) =>
      transferView(await recordTransfer(gateway, caller, payoutId, transferId, readBody(body, ['state', 'reason']))),
  );

  app.post('/provider-payments', needs('settlements.manage', 'installation'), async ({ caller, body }, reply) => {
    const input = readBody(body, PROVIDER_PAYMENT_FIELDS);
    const { payment, isNew } = await recordProviderPayment(gateway, caller, input);
    reply.code(isNew ? 201 : 200);
    return providerPaymentView(payment);
  });

  app.get('/provider-payments', needs('settlements.view', 'installation'), async ({ query }) => {
    const { limit: size = LIMITS.adminPageSize, cursor } = readQuery(query, PAGE);
    const rows = await listProviderPayments(gateway, size + 1, cursor);
    return page(rows, size, ({ providerPaymentId }) => providerPaymentId, providerPaymentView);
  });

  app.get('/provider-payments.csv', asFile('settlements.view', 'installation'), async ({ query, id }, reply) => {
    readQuery(query, {});
    const read = (limit: number, before?: string) => listProviderPayments(gateway, limit, before);
    return sendFile(reply, await providerPaymentsCsv(gateway, read), id);
  });
}
