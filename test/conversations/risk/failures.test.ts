/** Rules that cannot be evaluated: the setting of the account decides, and the payment is marked. */
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { type Merchant, newOrderId, openShop } from '../../support/gateway.ts';

const shop = openShop();

const account = async (onFailure: string): Promise<Merchant> => {
  const merchant = await shop.newMerchant({ risk: { on_failure: onFailure } });
  const { status } = await shop.admin('POST', '/risk/rules', {
    mid: merchant.mid,
    name: 'Large',
    condition: { field: 'amount', op: '>', value: '5000.00', currency: 'USD' },
    action: { kind: 'block' },
    state: 'on',
  });
  expect(status).toBe(201);
  return merchant;
};

/** A condition that this version does not know, as after a return to an earlier version. */
const breakRules = ({ mid }: Merchant) =>
  shop.rows(`with changed as (update risk_version set version = version + 1)
    update risk_rules set condition = '{"field": "colour", "op": "=", "value": "red"}' where mid = '${mid}'`);
afterEach(() =>
  shop.rows(`with changed as (update risk_version set version = version + 1)
    update risk_rules set deleted_at = now()`),
);

test.each([
  ['continue', 'SETTLED', 'none', null],
  ['review', 'PENDING', 'review', 'waiting'],
])('%s', async (setting, status, decision, review) => {
  const merchant = await account(setting);
  expect((await shop.sale({}, merchant)).body.status).toBe('SETTLED');
  await breakRules(merchant);
  const { body } = await shop.sale({}, merchant);
  expect(body.status).toBe(status);
  const { risk } = await shop.inspect(body.trans_id);
  expect(risk).toMatchObject({ decision, failure: 'The rules could not be evaluated.', rules: [] });
  expect(risk.review?.state ?? null).toBe(review);
  expect(await shop.gateway.metrics.text()).toMatch(/^turnpike_risk_failures_total [1-9]/m);
  expect(shop.logs.join('')).toContain('the risk rules could not be evaluated');
});

test('a rule of one account that cannot be read does not stop the others', async () => {
  const [broken, sound] = [await account('review'), await account('review')];
  await breakRules(broken);
  expect((await shop.sale({}, broken)).body.status).toBe('PENDING');
  expect((await shop.sale({}, sound)).body.status).toBe('SETTLED');
  expect((await shop.sale({ order_amount: '5000.01' }, sound)).body.status).toBe('DECLINED');
});

test.each([
  ['a rule', { order_amount: '5000.01' }, "Refused by the merchant's rules."],
  ['a volume limit', { order_amount: '4000.00' }, "The account's limit is reached."],
])('a payment whose process died after %s blocked it is declined without its provider', async (_, fields, reason) => {
  const merchant = await account('continue');
  const volume_limits = [{ per: 'day', currency: 'USD', brands: [], amount: '100.00' }];
  if (fields.order_amount === '4000.00') await shop.admin('PATCH', `/accounts/${merchant.mid}`, { volume_limits });
  const { payments } = shop.gateway;
  shop.gateway.payments = { ...payments, transition: () => Promise.reject(new Error('The process has died.')) };
  const order_id = newOrderId();
  await shop.sale({ ...fields, order_id, order_currency: 'USD' }, merchant);
  shop.gateway.payments = payments;
  const find = async () => (await shop.admin('GET', `/payments?mid=${merchant.mid}`)).body.items[0];
  expect(await find()).toMatchObject({ order_id, status: 'PREPARE' });
  await shop.advanceClock(3600, merchant.mid);
  const { payment_id } = await find();
  const payment = await shop.inspect(payment_id);
  expect(payment).toMatchObject({ status: 'DECLINED', decline_reason: reason, risk: { decision: 'block' } });
  expect(payment.provider_calls).toEqual([]);
});

test.each([
  [{ kind: 'block' }, 'DECLINED', null],
  [{ kind: 'review', hours: 24, then: 'refuse' }, 'PENDING', 'waiting'],
])(
  'a decision that was written is followed, even if the answer of the database was lost: %j',
  async (action, status, review) => {
    const merchant = await shop.newMerchant();
    const rule = {
      mid: merchant.mid,
      name: 'All',
      condition: { field: 'amount', op: '>', value: '1.00', currency: 'USD' },
    };
    const { body } = await shop.admin('POST', '/risk/rules', { ...rule, action, state: 'on' });
    const { riskOpenings, riskDecisions } = shop.gateway;
    onTestFinished(() => {
      Object.assign(shop.gateway, { riskOpenings, riskDecisions });
    });
    // The evaluation with the opening is lost, and so is that of the payment by itself.
    shop.gateway.riskOpenings = {
      open: async (payment) => ({ isOpened: (await shop.gateway.payments.open(payment)) === true, made: undefined }),
    };
    shop.gateway.riskDecisions = {
      ...riskDecisions,
      evaluate: async (...given) => {
        await riskDecisions.evaluate(...given);
        throw new Error('The connection was lost.');
      },
    };
    const failed = await shop.sale({}, merchant);
    expect(failed.body.status).toBe(status);
    // The opening was decided, and the rule is gone when the payment is evaluated by itself.
    shop.gateway.riskDecisions = riskDecisions;
    shop.gateway.riskOpenings = {
      async open(...given) {
        const answer = await riskOpenings.open(...given);
        await shop.admin('PATCH', `/risk/rules/${body.rule_id}`, {
          condition: { field: 'amount', op: '>', value: '1000.00', currency: 'USD' },
        });
        return answer && { ...answer, made: undefined };
      },
    };
    const decided = await shop.sale({}, merchant);
    expect(decided.body.status).toBe(status);
    for (const { trans_id } of [failed.body, decided.body])
      expect((await shop.inspect(trans_id)).risk).toMatchObject({
        decision: action.kind,
        failure: null,
        review: review && { state: review },
      });
  },
);
