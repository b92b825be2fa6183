/** Routes for providers: verifies signed notifications, stores them, and acknowledges them. */
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import { applyChallengeResult } from '../../core/payments/challenge.ts';
import { readNotification, receiveNotification } from '../../core/payments/notifications.ts';
import { isUuid } from '../../lib/id.ts';
import { Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';

const EMPTY = Buffer.alloc(0);

const RESULT_RESPONSE = { messageType: 'RRes', resultsStatus: '01' } as const;
const UNKNOWN_TRANSACTION = {
  messageType: 'Erro',
  errorComponent: 'S',
  errorMessageType: 'RReq',
  errorCode: '301',
  errorDescription: 'Transaction ID not recognised.',
  errorDetail: 'threeDSServerTransID, acsTransID',
} as const;

export function inboundRoutes(app: FastifyInstance, gateway: Gateway): void {
  // The signature covers the raw bytes, so it is verified before they are parsed.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes));

  app.post('/inbound/3ds', { bodyLimit: LIMITS.notificationBytes }, async (request) => {
    request.action = '3ds result';
    const result = gateway.threeDs?.readResult(
      request.headers,
      (request.body as Buffer | undefined) ?? EMPTY,
      Date.now(),
    );
    if (!result) throw new Refusal('wrongSignature');
    if (isUuid(result.transId)) request.paymentId = result.transId;
    const isApplied = await applyChallengeResult(gateway, result);
    request.outcome = isApplied ? 'applied' : 'unknown';
    const { transId, acsTransId, authentication } = result;
    const ids = { threeDSServerTransID: transId, acsTransID: acsTransId, dsTransID: authentication.dsTransId };
    return {
      messageVersion: authentication.protocolVersion,
      ...ids,
      ...(isApplied ? RESULT_RESPONSE : UNKNOWN_TRANSACTION),
    };
  });

  app.post<{ Params: { connector: string } }>(
    '/inbound/:connector',
    { bodyLimit: LIMITS.notificationBytes },
    async (request) => {
      request.action = 'notification';
      const { connector } = request.params;
      if (!Object.hasOwn(gateway.connectors, connector)) throw new Refusal('unknownRoute');
      const notification = readNotification(
        gateway,
        connector,
        request.headers,
        (request.body as Buffer | undefined) ?? EMPTY,
      );
      if (!notification) throw new Refusal('wrongSignature');
      if (isUuid(notification.reference)) request.paymentId = notification.reference;
      await receiveNotification(gateway, connector, notification);
      request.outcome = 'kept';
      return { result: 'SUCCESS' };
    },
  );
}
