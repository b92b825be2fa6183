/** Admin calls on the operator's data for risk rules: card ranges, and countries of IP networks. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { BinRange, Gateway } from '../../../core/context.ts';
import { importBins, importNetworks } from '../../../core/risk/data.ts';
import { fraudRateView } from '../../../core/risk/fraud-rates.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { needs } from '../../bearer.ts';
import { anyText, page, pageSize, readQuery } from '../input.ts';
import { listFile, wholly } from '../list-file.ts';
import { bytesOf, CSV_ROWS_MOST, sendCsv, withFiles } from './csv.ts';

const view = ({ firstNumber, lastNumber, network, country, funding, issuer }: BinRange) => ({
  from: firstNumber.toString().padStart(12, '0'),
  to: lastNumber.toString().padStart(12, '0'),
  network,
  country,
  funding,
  issuer,
});

const readNumber = (text: string): bigint | undefined => (/^\d{1,12}$/.test(text) ? BigInt(text) : undefined);

export function dataRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.get('/risk/bins', needs('risk.import', 'installation'), async (request) => {
    const { limit, cursor } = readQuery(request.query, { limit: pageSize, cursor: readNumber });
    const size = limit ?? LIMITS.adminPageSize;
    const rows = await gateway.riskData.bins(size + 1, cursor);
    return page(rows, size, ({ firstNumber }) => firstNumber.toString(), view);
  });

  app.get('/risk/bins.csv', needs('risk.import', 'installation'), async (_request, reply) => {
    const rows = (await gateway.riskData.bins(10 * CSV_ROWS_MOST)).map(view);
    return sendCsv(
      reply,
      'bins.csv',
      ['from', 'to', 'network', 'country', 'funding', 'issuer'],
      rows.map((row) => [row.from, row.to, row.network, row.country, row.funding, row.issuer]),
    );
  });

  app.get('/risk/ip-countries', needs('risk.import', 'installation'), async (request) => {
    const { limit, cursor } = readQuery(request.query, { limit: pageSize, cursor: anyText });
    const size = limit ?? LIMITS.adminPageSize;
    const rows = await gateway.riskData.networks(size + 1, cursor);
    return page(
      rows,
      size,
      ({ network }) => network,
      (row) => row,
    );
  });

  app.get('/risk/ip-countries.csv', needs('risk.import', 'installation'), async (_request, reply) => {
    const rows = await gateway.riskData.networks(10 * CSV_ROWS_MOST);
    return sendCsv(
      reply,
      'ip-countries.csv',
      ['network', 'country'],
      rows.map((row) => [row.network, row.country]),
    );
  });

  app.get('/risk/fraud-rates', needs('risk.view', 'installation'), () => fraudRateView(gateway));

  listFile(
    app,
    gateway,
    '/risk/fraud-rates',
    wholly({
      guard: ['risk.view', 'installation'],
      name: 'fraud-rates',
      columns: ['connector', 'quarter', 'currency', 'captured', 'fraud', 'percent', 'computed_at'],
      read: async () => (await fraudRateView(gateway)).items,
    }),
  );

  withFiles(app, (uploads) => {
    const options = { ...needs('risk.import', 'installation'), bodyLimit: LIMITS.riskFileBytes };
    const importing =
      (importAll: typeof importBins) =>
      async ({ caller, body }: FastifyRequest) => ({ rows: await importAll(gateway, caller, bytesOf(body)) });
    uploads.post('/risk/bins', options, importing(importBins));
    uploads.post('/risk/ip-countries', options, importing(importNetworks));
  });
}
