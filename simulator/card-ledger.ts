/** The pages of the books for cards and authentications, without any number, code or proof. */
import type { KeptCard } from './cards.ts';
import { columns, type Statements } from './statements.ts';

/** What the directory was asked, and how far the payer got. */
export interface Authentication extends KeptCard {
  threeDSServerTransID: string;
  acsTransID: string;
  dsTransID: string;
  threeDSServerURL: string;
  notificationURL: string;
  merchant: string;
  amount: string;
  currency: string;
  /** What came with the CReq and goes back with the CRes. */
  sessionData: string | null;
  attempts: number;
  /** How the challenge ended. */
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

export function cardBooks({ one, run }: Statements) {
  const insertCard = run(`insert into cards ${columns('reference, first6, last4, expiry')}`);
  const cardOf = one<KeptCard>('select first6, last4, expiry from cards where reference = :reference');

  const insertAuthentication = run(
    `insert or ignore into authentications ${columns(
      `threeDSServerTransID, acsTransID, dsTransID, threeDSServerURL, notificationURL, merchant, amount, currency,
     first6, last4, expiry, sessionData, attempts, result, createdAt`,
    )}`,
  );
  const authenticationByTransId = one<Authentication>(
    'select * from authentications where threeDSServerTransID = :threeDSServerTransID',
  );
  const authenticationByAcs = one<Authentication>('select * from authentications where acsTransID = :acsTransID');
  const setSessionData = run(
    'update authentications set sessionData = :sessionData where acsTransID = :acsTransID and result is null',
  );
  const setAttempt = run(
    'update authentications set attempts = :attempts, result = :result where acsTransID = :acsTransID and result is null',
  );

  return {
    addCard: (card: KeptCard & { reference: string }): boolean => insertCard({ ...card }),
    card: (reference: string) => cardOf({ reference }),

    /** The one that is in the books afterwards: this one, or an earlier one of the same id. */
    addAuthentication(authentication: Authentication): Authentication {
      insertAuthentication({ ...authentication });
      return authenticationByTransId({ threeDSServerTransID: authentication.threeDSServerTransID }) as Authentication;
    },
    authenticationByAcs: (acsTransID: string) => authenticationByAcs({ acsTransID }),
    keepSessionData: (acsTransID: string, sessionData: string | null): boolean =>
      setSessionData({ acsTransID, sessionData }),
    /** False when the challenge has ended before. */
    keepAttempt: (attempt: Pick<Authentication, 'acsTransID' | 'attempts' | 'result'>): boolean =>
      setAttempt({ ...attempt }),
  };
}
