/** The proof that a payer was authenticated: it follows from the transaction, so that no file has to hold it. */
import { createHmac } from 'node:crypto';

const PROOF_BYTES = 20;

export type ProofOf = (acsTransID: string) => string;

export const proofMaker =
  (secret: string): ProofOf =>
  (acsTransID) =>
    createHmac('sha256', secret).update(acsTransID).digest().subarray(0, PROOF_BYTES).toString('base64');

export const isProven = (transStatus: unknown): boolean => transStatus === 'Y' || transStatus === 'A';

/** A message as it is sent: a result that needs a proof gets it now. */
export function withProof(body: string, proofOf: ProofOf): string {
  const message = JSON.parse(body);
  if (message.messageType !== 'RReq' || !isProven(message.transStatus)) return body;
  return JSON.stringify({ ...message, authenticationValue: proofOf(message.acsTransID) });
}
