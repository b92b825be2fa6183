/** An example by its one command: it starts a sandbox of its own, and ends it with itself. */
import { afterAll, expect, test } from 'vitest';
import { cardForm, fill, follow, show } from '../support/checkout.ts';
import { freePort } from '../support/free-port.ts';
import { clearAway, eventually, exists, newDataDir, pidFile, run } from '../support/process.ts';

afterAll(clearAway);

test('npm run example:shop needs nothing else', async () => {
  const dataDir = await newDataDir();
  const shop = run(
    { PORT: String(await freePort()), DATA_DIR: dataDir },
    { command: 'npm', args: ['run', 'example:shop'], detached: true },
  );
  const url = await eventually(() => {
    const address = /^Open (\S+)$/m.exec(shop.output())?.[1];
    if (!address) throw new Error(shop.output() + shop.complaints());
    return address;
  }, 120_000);
  const { location } = await fill(`${url}/buy`, {});
  expect((await follow(await fill(location, cardForm()))).text).toContain('Thank you!');
  await eventually(async () => expect((await show(url)).text).toContain('SETTLED'));
  process.kill(-shop.pid, 'SIGINT');
  await shop.ended;
  await eventually(async () => expect(await exists(pidFile(dataDir))).toBe(false));
}, 300_000);
