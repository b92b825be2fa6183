/** The logos that accounts uploaded; each account has one at most. */
import type { Database } from '../database/database.ts';

export interface LogoStore {
  /** Replaces the logo of the account. */
  save(mid: string, digest: string, image: Buffer): Promise<void>;
  find(mid: string, digest: string): Promise<Buffer | undefined>;
  remove(mid: string): Promise<void>;
}

export const createLogoStore = ({ query }: Database): LogoStore => ({
  async save(mid, digest, image) {
    await query
      .insertInto('accountLogos')
      .values({ mid, digest, image })
      .onConflict((conflict) => conflict.column('mid').doUpdateSet({ digest, image }))
      .execute();
  },
  async find(mid, digest) {
    const found = await query
      .selectFrom('accountLogos')
      .select('image')
      .where('mid', '=', mid)
      .where('digest', '=', digest)
      .executeTakeFirst();
    return found?.image as Buffer | undefined;
  },
  async remove(mid) {
    await query.deleteFrom('accountLogos').where('mid', '=', mid).execute();
  },
});
