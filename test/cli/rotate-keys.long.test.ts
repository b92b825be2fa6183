/** The keys are replaced with a kill at every place, and in a sandbox whose key is in a file. */
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { newMasterKey } from '../../src/lib/seal.ts';
import { clearAway, newDataDir, runCommand, startGateway } from '../support/process.ts';
import './rotate-keys.test.ts';

afterAll(clearAway);

test('a sandbox with its key in a file: alone, with a new key of its own, and nothing is lost in between', async () => {
  const DATA_DIR = await newDataDir();
  const file = join(DATA_DIR, 'master.key');
  const keys = async () => (await fs.readFile(file, 'utf8')).trim().split(',');
  const rotateKeys = async () => {
    const program = runCommand({ DATA_DIR }, 'rotate-keys');
    const { code } = await program.ended;
    return { code, said: program.output() + program.complaints() };
  };
  const gateway = await startGateway({ DATA_DIR });
  const [first = ''] = await keys();
  const { trans_id } = (await gateway.sale()).body;
  const refused = await rotateKeys();
  expect([refused.code, refused.said]).toEqual([1, expect.stringContaining('in use by another Turnpike')]);
  expect(await keys()).toEqual([first]);
  await gateway.stop();

  expect(await rotateKeys()).toMatchObject({ code: 0, said: expect.stringContaining('The old key was dropped.') });
  const [second = '', ...more] = await keys();
  expect([second === first, more]).toEqual([false, []]);
  expect((await fs.stat(file)).mode & 0o777).toBe(0o600);
  const restarted = await startGateway({ DATA_DIR });
  expect(restarted.merchant).toEqual(gateway.merchant);
  expect((await restarted.status(trans_id)).body.status).toBe('SETTLED');
  await restarted.stop();

  // As if it had been killed after it wrote the new key down.
  const third = newMasterKey();
  await fs.writeFile(file, `${third},${second}\n`);
  expect((await rotateKeys()).code).toBe(0);
  expect(await keys()).toEqual([third]);
  const last = await startGateway({ DATA_DIR });
  expect((await last.status(trans_id)).body.status).toBe('SETTLED');
  await last.stop();
}, 240_000);
