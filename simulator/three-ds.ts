/** The directory of 3-D Secure: asks the bank of a card whether, and how, its payer is to be authenticated. */
import type { FastifyInstance } from 'fastify';
import { newId } from '../src/lib/id.ts';
import { type Areq, Erro, MESSAGE_VERSION, readAreq } from './areq.ts';
import type { Authentication } from './card-ledger.ts';
import { keptOf, rowOf, type ThreeDS } from './cards.ts';
import { CURRENCY_OF } from './currencies.ts';
import { eciOf } from './eci.ts';
import { answer, DIRECTORY_MODES } from './faults.ts';
import type { Simulator } from './payments.ts';
import { isProven } from './proof.ts';

/** Faults that are ordered for this name befall the directory. */
const BRAND = '3ds';

export function directory(app: FastifyInstance, simulator: Simulator): void {
  app.setErrorHandler<Error & { statusCode?: number }>((error, _request, reply) => {
    if (error instanceof Erro) return reply.code(error.statusCode).send(error.toJSON());
    // A body that cannot be read; what else goes wrong is for the world to tell.
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

/** The same transaction again is the same authentication. */
function recordAuthentication({ ledger }: Simulator, areq: Areq): Authentication {
  const expiry = areq.cardExpiryDate.replace(/^(..)(..)$/, '$2/$1');
  if (!rowOf(expiry).threeDS) throw new Erro(305, 'acctNumber', { ...areq });
  return ledger.addAuthentication({
    threeDSServerTransID: areq.threeDSServerTransID,
    acsTransID: newId(),
    dsTransID: newId(),
    threeDSServerURL: areq.threeDSServerURL,
    notificationURL: areq.notificationURL,
    merchant: areq.merchantName,
    amount: areq.purchaseAmount,
    currency: CURRENCY_OF.get(areq.purchaseCurrency) as string,
    ...keptOf(areq.acctNumber, expiry),
    sessionData: null,
    attempts: 0,
    result: null,
    createdAt: Date.now(),
  });
}

function aresOf(simulator: Simulator, { threeDSServerTransID, dsTransID, acsTransID, first6, expiry }: Authentication) {
  const threeDS = rowOf(expiry).threeDS as ThreeDS;
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
    ...(isProven(threeDS.transStatus) && { authenticationValue: simulator.proofOf(acsTransID) }),
    ...(threeDS.transStatus === 'C'
      ? { acsURL: simulator.link('/3ds/acs'), acsChallengeMandated: 'Y', authenticationType: '02' }
      : { eci: eciOf(first6, threeDS.transStatus) }),
  };
}
