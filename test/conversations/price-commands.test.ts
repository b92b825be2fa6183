/** The commands `prices`, on the gateway of a shop. */
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { addedVersion, assignedPlan, createdPlan, listedPlans, shownPlan } from '../../src/cli/prices.ts';
import { openShop } from '../support/gateway.ts';

const shop = openShop();
const json = (value: unknown): Readable => Readable.from([JSON.stringify(value)]);
const SALE = { event: 'sale', currencies: ['EUR'], percent: '2.9', fixed: '0.30' };

test('a plan is created, priced, shown, listed and assigned', async () => {
  const { gateway, merchant } = shop;
  expect((await listedPlans(gateway)).text).toBe('There are no price plans.');
  const { text: planId } = await createdPlan(gateway, 'Standard', 'sell');
  expect((await listedPlans(gateway)).text).toBe(`${planId}  sell  Standard`);
  const added = await addedVersion(gateway, planId, json({ lines: [SALE] }));
  expect(added.text).toMatch(
    /^Version 1 is valid from .* UTC on\.\nlines\[0\]: A sale of 0\.01 EUR costs 0\.30 with tax/,
  );
  expect(added.value).toMatchObject({ plan_id: planId, version: 1, warnings: [expect.any(String)] });
  expect(JSON.parse((await shownPlan(gateway, planId)).text)).toMatchObject({
    name: 'Standard',
    versions: [{ version: 1 }],
  });
  expect((await assignedPlan(gateway, planId, 'account', merchant.mid)).value).toEqual({ plan_id: planId });
  const assigned = async () => (await shop.admin('GET', `/accounts/${merchant.mid}/price-plan`)).body.plan_id;
  expect(await assigned()).toBe(planId);
  expect((await assignedPlan(gateway, 'none', 'account', merchant.mid)).text).toBe('The account has no price plan.');
  expect(await assigned()).toBeNull();
});

test('what is not valid is refused with its field', async () => {
  const { gateway, merchant } = shop;
  const unknown = '01a1dd06-691f-7000-87fc-b0749d0543ed';
  const { text: planId } = await createdPlan(gateway, 'Costs', 'buy');
  await expect(createdPlan(gateway, ' ', 'sell')).rejects.toThrow(/^name: /);
  await expect(addedVersion(gateway, planId, json({ lines: [{ event: 'x' }] }))).rejects.toThrow(
    /^lines\[0\]\.event: /,
  );
  await expect(addedVersion(gateway, planId, json([]))).rejects.toThrow(/^lines: /);
  await expect(addedVersion(gateway, planId, Readable.from(['{']))).rejects.toThrow('Standard input should be JSON.');
  await expect(shownPlan(gateway, unknown)).rejects.toThrow('Price plan does not exist.');
  await expect(assignedPlan(gateway, planId, 'account', merchant.mid)).rejects.toThrow(/^plan_id: .* sell plan/);
  await expect(assignedPlan(gateway, 'all', 'account', merchant.mid)).rejects.toThrow(/^plan_id: /);
  await expect(assignedPlan(gateway, planId, 'account', unknown)).rejects.toThrow('There is no account');
  await expect(assignedPlan(gateway, planId, 'connection', unknown)).rejects.toThrow('Connection does not exist.');
});
