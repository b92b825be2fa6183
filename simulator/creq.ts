/** Reads the CReq that the payer's browser posts to the access control server. */
import { isObject, isText } from '../src/lib/text/json.ts';
import { MESSAGE_VERSION } from './areq.ts';
import { BadRequest } from './payment-request.ts';

const SESSION_DATA_MOST = 1024;
const CREQ_MOST = 4096;

export interface Creq {
  acsTransID: string;
  threeDSServerTransID: string;
  sessionData: string | null;
}

function refuseUnless(isValid: boolean, sentence: string): asserts isValid {
  if (!isValid) throw new BadRequest(sentence);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function readCreq(form: unknown): Creq {
  const { creq, threeDSSessionData = null } = isObject(form) ? form : {};
  refuseUnless(isText(creq, CREQ_MOST) && creq !== '', 'The form has no creq.');
  refuseUnless(!creq.includes('='), 'The creq is padded: base64url of 3-D Secure has no = at its end.');
  const bytes = Buffer.from(creq, 'base64url');
  refuseUnless(bytes.toString('base64url') === creq, 'The creq is not base64url.');
  const message = parseJson(bytes.toString());
  refuseUnless(isObject(message), 'The creq is not a JSON object.');
  const { messageType, messageVersion, acsTransID, threeDSServerTransID, challengeWindowSize } = message;
  refuseUnless(messageType === 'CReq', 'The creq is not a CReq: its messageType is another.');
  refuseUnless(messageVersion === MESSAGE_VERSION, `The messageVersion of the CReq is not ${MESSAGE_VERSION}.`);
  refuseUnless(typeof acsTransID === 'string', 'The CReq has no acsTransID.');
  refuseUnless(typeof threeDSServerTransID === 'string', 'The CReq has no threeDSServerTransID.');
  refuseUnless(
    challengeWindowSize === undefined || /^0[1-5]$/.test(String(challengeWindowSize)),
    'The challengeWindowSize of the CReq is not one of 01 to 05.',
  );
  refuseUnless(
    threeDSSessionData === null || isText(threeDSSessionData, SESSION_DATA_MOST),
    `The threeDSSessionData are longer than ${SESSION_DATA_MOST} characters.`,
  );
  return { acsTransID, threeDSServerTransID, sessionData: threeDSSessionData };
}
