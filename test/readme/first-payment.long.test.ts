/** The README leads to a paid order: its commands run as they are printed, in a fresh clone. */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { makeFirstPayment } from './first-payment.ts';

const canRun = ['git', 'npm', 'curl', 'openssl'].every((name) => !spawnSync(name, ['version']).error);

test.skipIf(!canRun)(
  'the commands of the README pay a first order and open a payment page',
  async () => {
    const { sale, session, status, seconds } = await makeFirstPayment(() => undefined);
    console.log(`The first order was paid after ${seconds.toFixed(1)} s.`);
    expect(sale).toMatchObject({ action: 'SALE', result: 'SUCCESS', status: 'SETTLED', amount: '19.99' });
    expect(session.redirect_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/pay\//);
    expect(status).toMatchObject({ status: 'prepare' });
  },
  600_000,
);
