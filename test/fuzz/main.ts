/** `npm run fuzz -- wallets [count] [seed]`: opens altered wallet tokens, a million unless told otherwise. */
import { fuzzWalletToken, seeded } from './wallets.ts';

const [target, count = '1000000', seed = String(Date.now() % 2 ** 31)] = process.argv.slice(2);
if (target !== 'wallets') {
  console.error('Usage: npm run fuzz -- wallets [count] [seed]');
  process.exit(2);
}
console.log(`${count} altered tokens, seed ${seed}`);
const random = seeded(Number(seed));
const started = performance.now();
let accepted = 0;
for (let done = 1; done <= Number(count); done += 1) {
  if (await fuzzWalletToken(random)) accepted += 1;
  if (done % 10_000 === 0 || done === Number(count)) {
    const perSecond = Math.round((done * 1000) / (performance.now() - started));
    console.log(
      `${done} opened, ${perSecond} per second: ${accepted} changed in unsigned parts only, all others refused`,
    );
  }
}
