/** Admin calls on the sandbox clock: read it and advance it. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { findAccount } from '../../core/accounts/accounts.ts';
import type { Gateway } from '../../core/context.ts';
import { advanceClock } from '../../core/sandbox/clock.ts';
import { wireDate } from '../../lib/time/clock.ts';
import { invalidField } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { needs, requireSeen } from '../bearer.ts';
import { objectBody, readQuery, uuidText } from './input.ts';

export function clockRoutes(app: FastifyInstance, gateway: Gateway): void {
  const view = (mid: string | undefined) => ({
    now: wireDate(gateway.clock.now(mid)),
    offset_seconds: gateway.clock.offset(mid) / 1000,
    mid: mid ?? null,
  });

  const requireAccount = async (request: FastifyRequest, mid: string | undefined): Promise<string | undefined> => {
    if (mid !== undefined) requireSeen(request, (await findAccount(gateway, mid))?.mid, 'noSuchAccount');
    return mid;
  };

  app.get('/clock', needs('sandbox.use', 'accounts'), async (request) =>
    view(await requireAccount(request, readQuery(request.query, { mid: uuidText }).mid)),
  );

  app.post('/clock', needs('sandbox.use', 'installation without mid'), async (request) => {
    const { advance_seconds: seconds, mid: midValue } = objectBody(request.body);
    const mid = typeof midValue === 'string' ? uuidText(midValue) : undefined;
    if (mid === undefined && midValue !== undefined && midValue !== null)
      throw invalidField('mid', SENTENCES.notUuid, { expected: uuidText.expected });
    await advanceClock(gateway, request.caller, seconds, await requireAccount(request, mid));
    return view(mid);
  });
}
