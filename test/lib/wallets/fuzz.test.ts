/** Fuzzed wallet tokens; `npm run fuzz -- wallets` opens a million of them. */
import { expect, test } from 'vitest';
import { fuzzWalletToken } from '../../fuzz/wallets.ts';
import { seeded } from '../../support/chance.ts';
import { sized } from '../../support/size.ts';

test('an altered token is refused by name, or opens to what its wallet sealed', async () => {
  const random = seeded(20260601);
  let accepted = 0;
  const count = sized(5000, 20_000);
  for (let done = 0; done < count; done += 1) if (await fuzzWalletToken(random)) accepted += 1;
  // Changes of unsigned parts are accepted, so that the test shows that both outcomes occur.
  expect(accepted).toBeGreaterThan(0);
  expect(accepted).toBeLessThan(count / 2);
}, 600_000);
