/** Admin calls on the sandbox clock: read it and advance it. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { findAccount } from '../../core/accounts.ts';
import { moveClock } from '../../core/clock.ts';
import type { Gateway } from '../../core/context.ts';
import { wireDate } from '../../lib/clock.ts';
import { invalidField } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { needs, requireSeen, requireUnrestricted } from '../bearer.ts';
import { objectBody, readQuery, uuidText } from './input.ts';

/** Dates of the API have a four-digit year. */
const LAST_DAY = Date.UTC(9999, 0, 1);
const MAX_OFFSET_SECONDS = 100 * 366 * 24 * 3600;

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

  app.get('/clock', needs('sandbox.use'), async (request) =>
    view(await requireAccount(request, readQuery(request.query, { mid: uuidText }).mid)),
  );

  app.post('/clock', needs('sandbox.use'), async (request) => {
    const { advance_seconds: seconds, mid: midValue } = objectBody(request.body);
    if (typeof seconds !== 'number' || !(seconds >= 0 && seconds <= MAX_OFFSET_SECONDS)) {
      throw invalidField('advance_seconds', `This value should be a number from 0 to ${MAX_OFFSET_SECONDS}.`);
    }
    const mid = typeof midValue === 'string' ? uuidText(midValue) : undefined;
    if (mid === undefined && midValue !== undefined && midValue !== null) throw invalidField('mid', SENTENCES.notUuid);
    if (mid === undefined) requireUnrestricted(request);
    const byMs = Math.round(seconds * 1000);
    if (gateway.clock.offset(await requireAccount(request, mid)) + byMs > MAX_OFFSET_SECONDS * 1000) {
      throw invalidField('advance_seconds', `The clock should not run more than ${MAX_OFFSET_SECONDS} seconds ahead.`);
    }
    if (gateway.clock.now(mid) + seconds * 1000 > LAST_DAY)
      throw invalidField('advance_seconds', 'The year would be past 9999.');
    await moveClock(gateway, byMs, mid);
    return view(mid);
  });
}
