/** Admin calls on statements: of a settlement and of a month, as JSON and as CSV. */
import type { FastifyInstance } from 'fastify';
import { requireAccount } from '../../core/accounts/require-account.ts';
import type { Gateway } from '../../core/context.ts';
import { statementCsv, statementJson, statementMonthsCsv, statementMonthView } from '../../core/exports/statements.ts';
import { listStatements, monthStatement, settlementStatement } from '../../core/settlements/statements.ts';
import { needs } from '../bearer.ts';
import { anyText, readQuery } from './input.ts';
import { asFile, fileSender } from './send-download.ts';

interface OfAccount {
  Params: { mid: string };
}
interface OfMonth {
  Params: { mid: string; month: string };
}
interface OfSettlement {
  Params: { settlementId: string };
}

export function statementRoutes(app: FastifyInstance, gateway: Gateway): void {
  const sendFile = fileSender(gateway);
  const view = asFile('settlements.view', 'accounts');

  for (const [ending, write] of [
    ['', statementJson],
    ['.csv', statementCsv],
  ] as const) {
    app.get<OfSettlement>(`/settlements/:settlementId/statement${ending}`, view, async (request, reply) => {
      readQuery(request.query, {});
      const statement = await settlementStatement(gateway, request.principal, request.params.settlementId);
      return sendFile(reply, write(statement), request.id);
    });

    app.get<OfMonth>(`/accounts/:mid/statements/:month${ending}`, view, async (request, reply) => {
      const { currency } = readQuery(request.query, { currency: anyText });
      const statement = await monthStatement(gateway, request.principal, { ...request.params, currency });
      return sendFile(reply, write(statement), request.id);
    });
  }

  app.get<OfAccount>('/accounts/:mid/statements', needs('settlements.view', 'accounts'), async (request) => {
    const { mid } = await requireAccount(gateway, request.principal, request.params.mid);
    return { items: (await listStatements(gateway, mid)).map(statementMonthView), next_cursor: null };
  });

  app.get<OfAccount>('/accounts/:mid/statements.csv', view, async (request, reply) => {
    const { mid } = await requireAccount(gateway, request.principal, request.params.mid);
    return sendFile(reply, statementMonthsCsv(await listStatements(gateway, mid)), request.id);
  });
}
