/** Wallet tokens that were used: each pays once in the installation, and is forgotten when it has expired. */
import type { Database } from '../database/database.ts';

/** A token that a payment uses up. */
export interface UsedToken {
  /** Identifies the token, in whichever account it is used. */
  replayKey: string;
  /** When the token is refused for its age anyway, in real time. */
  forgetAt: number;
}

export interface WalletTokenStore {
  isUsed(replayKey: string): Promise<boolean>;
  /** Deletes expired tokens, at most this many; returns how many there were. */
  forget(most: number): Promise<number>;
}

/** Whether a payment was not written because a concurrent one used its token. */
export const isTokenUsed = (error: unknown): boolean => {
  const { constraint } = error as { constraint?: string };
  return constraint === 'wallet_tokens_once' || constraint === 'wallet_tokens_pkey';
};

const FORGET = `delete from wallet_tokens t using (
    select mid, replay_key from wallet_tokens where forget_at <= now() order by forget_at limit $1 for update skip locked
  ) d where t.mid = d.mid and t.replay_key = d.replay_key`;

export function createWalletTokenStore({ query, pool }: Database): WalletTokenStore {
  return {
    async isUsed(replayKey) {
      const found = query.selectFrom('walletTokens').select('paymentId').where('isFirst', '=', true);
      return (await found.where('replayKey', '=', replayKey).executeTakeFirst()) !== undefined;
    },
    async forget(most) {
      return (await pool.query(FORGET, [most])).rowCount ?? 0;
    },
  };
}
