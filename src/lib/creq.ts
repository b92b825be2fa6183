/** The challenge request (CReq) that the payer's browser posts to the card issuer (EMV 3-D Secure 2). */

/** The value of the form field `creq`: JSON in base64url, without padding. */
export const creqOf = (transId: string, acsTransId: string, version: string): string =>
  Buffer.from(
    JSON.stringify({
      messageType: 'CReq',
      messageVersion: version,
      threeDSServerTransID: transId,
      acsTransID: acsTransId,
      challengeWindowSize: '05',
    }),
  ).toString('base64url');
