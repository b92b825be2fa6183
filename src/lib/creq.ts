/** The message that a payer's browser carries to the bank of a card (EMV 3-D Secure 2). */

/** As the form field wants it: JSON in base64url, without padding. */
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
