/** The directory server (DS) of 3-D Secure: answers authentication requests (AReq). */
import type { FastifyInstance } from 'fastify';
import { newId } from '../src/lib/crypto/id.ts';
import { CURRENCY_OF } from '../src/lib/money/iso-4217.ts';
import { type Areq, Erro, MESSAGE_VERSION, readAreq } from './areq.ts';
import { hasAuthenticationValue } from './authentication-value.ts';
import type { Authentication } from './card-ledger.ts';
import { cardBehaviour, maskCard, type ThreeDS } from './cards.ts';
import { eciOf } from './eci.ts';
import { answer, DIRECTORY_MODES } from './faults.ts';
import type { Simulator } from './payments.ts';

/** The brand name for faults of the directory server. */
const BRAND = '3ds';

export function directoryRoutes(app: FastifyInstance, simulator: Simulator): void {
  app.setErrorHandler<Error & { statusCode?: number }>((error, _request, reply) => {
    if (error instanceof Erro) return reply.code(error.statusCode).send(error.toJSON());
    // The error handler of the server reports internal errors; any other error means that the body is not JSON.
    if ((error.statusCode ?? 500) >= 500) throw error;
    return reply.code(400).send(new Erro(101, 'The body is not JSON.').toJSON());
  });

  app.post('/areq', async (request, reply) => {
    const areq = readAreq(request.body);
    return answer(simulator.ledger, request, reply, { mid: null, brand: BRAND }, DIRECTORY_MODES, () =>
      aresOf(simulator, recordAuthentication(simulator, areq)),
    );
  });
}

/** Creates the authentication of a transaction; a repeat returns the existing one. */
function recordAuthentication({ ledger }: Simulator, areq: Areq): Authentication {
  const expiry = areq.cardExpiryDate.replace(/^(..)(..)$/, '$2/$1');
  if (!cardBehaviour(expiry).threeDS) throw new Erro(305, 'acctNumber', { ...areq });
  return ledger.addAuthentication({
    threeDSServerTransID: areq.threeDSServerTransID,
    acsTransID: newId(),
    dsTransID: newId(),
    threeDSServerURL: areq.threeDSServerURL,
    notificationURL: areq.notificationURL,
    merchant: areq.merchantName,
    amount: areq.purchaseAmount,
    currency: CURRENCY_OF.get(areq.purchaseCurrency) as string,
    ...maskCard(areq.acctNumber, expiry),
    sessionData: null,
    attempts: 0,
    result: null,
    createdAt: Date.now(),
  });
}

function aresOf(simulator: Simulator, { threeDSServerTransID, dsTransID, acsTransID, first6, expiry }: Authentication) {
  const threeDS = cardBehaviour(expiry).threeDS as ThreeDS;
  return {
    messageType: 'ARes',
    messageVersion: MESSAGE_VERSION,
    threeDSServerTransID,
    dsTransID,
    acsTransID,
    dsReferenceNumber: 'TURNPIKE-SANDBOX-DS',
    acsReferenceNumber: 'TURNPIKE-SANDBOX-ACS',
    transStatus: threeDS.transStatus,
    ...('transStatusReason' in threeDS && { transStatusReason: threeDS.transStatusReason }),
    ...(hasAuthenticationValue(threeDS.transStatus) && {
      authenticationValue: simulator.authenticationValueOf(acsTransID),
    }),
    ...(threeDS.transStatus === 'C'
      ? { acsURL: simulator.link('/3ds/acs'), acsChallengeMandated: 'Y', authenticationType: '02' }
      : { eci: eciOf(first6, threeDS.transStatus) }),
  };
}
