/** The challenge request (CReq) that the payer's browser posts to the card issuer (EMV 3-D Secure 2). */

/** The sizes of the window in which the challenge is shown: 390 × 400 and 500 × 600 pixels, and the whole screen. */
export const CHALLENGE_SIZES = ['02', '03', '05'] as const;
export type ChallengeSize = (typeof CHALLENGE_SIZES)[number];

/** The value of the form field `creq`: JSON in base64url, without padding. */
export const creqOf = (transId: string, acsTransId: string, version: string, size: ChallengeSize = '05'): string =>
  Buffer.from(
    JSON.stringify({
      messageType: 'CReq',
      messageVersion: version,
      threeDSServerTransID: transId,
      acsTransID: acsTransId,
      challengeWindowSize: size,
    }),
  ).toString('base64url');
