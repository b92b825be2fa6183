/** The ledger of cards and authentications; it contains no card numbers, security codes or authentication values. */
import type { MaskedCard } from './cards.ts';
import { columns, type Statements } from './statements.ts';

/** An authentication request, and the state of its challenge. */
export interface Authentication extends MaskedCard {
  threeDSServerTransID: string;
  acsTransID: string;
  dsTransID: string;
  threeDSServerURL: string;
  notificationURL: string;
  merchant: string;
  amount: string;
  currency: string;
  /** Sent with the CReq and returned with the CRes. */
  sessionData: string | null;
  attempts: number;
  /** The result of the challenge; null while it is open. */
  result: 'Y' | 'N' | null;
  createdAt: number;
}

export const CARD_SCHEMA = `
  create table if not exists cards (
    reference text primary key references payments, first6 text not null, last4 text not null, expiry text not null
  );
  create table if not exists authentications (
    threeDSServerTransID text primary key, acsTransID text not null unique, dsTransID text not null,
    threeDSServerURL text not null, notificationURL text not null, merchant text not null, amount text not null,
    currency text not null, first6 text not null, last4 text not null, expiry text not null, sessionData text,
    attempts integer not null, result text, createdAt integer not null
  );
`;

export function cardLedger({ get, run }: Statements) {
  const insertCard = run(`insert into cards ${columns('reference, first6, last4, expiry')}`);
  const cardOf = get<MaskedCard>('select first6, last4, expiry from cards where reference = :reference');

  const insertAuthentication = run(
    `insert or ignore into authentications ${columns(
      `threeDSServerTransID, acsTransID, dsTransID, threeDSServerURL, notificationURL, merchant, amount, currency,
     first6, last4, expiry, sessionData, attempts, result, createdAt`,
    )}`,
  );
  const authenticationByTransId = get<Authentication>(
    'select * from authentications where threeDSServerTransID = :threeDSServerTransID',
  );
  const authenticationByAcs = get<Authentication>('select * from authentications where acsTransID = :acsTransID');
  const updateSessionData = run(
    'update authentications set sessionData = :sessionData where acsTransID = :acsTransID and result is null',
  );
  const updateAttempt = run(
    'update authentications set attempts = :attempts, result = :result where acsTransID = :acsTransID and result is null',
  );

  return {
    addCard: (card: MaskedCard & { reference: string }): boolean => insertCard({ ...card }),
    card: (reference: string) => cardOf({ reference }),

    /** Returns the stored authentication: this one, or an earlier one with the same id. */
    addAuthentication(authentication: Authentication): Authentication {
      insertAuthentication({ ...authentication });
      return authenticationByTransId({ threeDSServerTransID: authentication.threeDSServerTransID }) as Authentication;
    },
    authenticationByAcs: (acsTransID: string) => authenticationByAcs({ acsTransID }),
    setSessionData: (acsTransID: string, sessionData: string | null): boolean =>
      updateSessionData({ acsTransID, sessionData }),
    /** Returns false if the challenge has already ended. */
    setAttempt: (attempt: Pick<Authentication, 'acsTransID' | 'attempts' | 'result'>): boolean =>
      updateAttempt({ ...attempt }),
  };
}
