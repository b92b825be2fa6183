/** Fraud rates of connections by quarter: computes them at intervals, and shows them beside the bands of the exemption. */
import { amountText } from '../../lib/money/money.ts';
import { wireDate } from '../../lib/time/clock.ts';
import { exponentOf } from '../../rules/currencies.ts';
import { LIMITS } from '../../rules/limits.ts';
import { quarterOf, RATE_BANDS, rateText } from '../../rules/risk/fraud-rates.ts';
import type { FraudRate } from '../../store/risk/fraud-rates.ts';
import type { Gateway } from '../context.ts';

/** Computes the rates of this quarter and of the one before, whose chargebacks may have been won since. */
export async function computeFraudRates(gateway: Gateway): Promise<void> {
  const now = gateway.clock.real();
  const { since, until, before } = quarterOf(now);
  await gateway.fraudRates.compute(before, since, now);
  await gateway.fraudRates.compute(since, until, now);
}

/** `2026-Q4`. */
const quarterName = (at: number): string => {
  const date = new Date(at);
  return `${date.getUTCFullYear()}-Q${date.getUTCMonth() / 3 + 1}`;
};

const view = ({ connector, quarter, currency, captured, fraud, computedAt }: FraudRate) => ({
  connector,
  quarter: quarterName(quarter),
  currency,
  captured: amountText(captured, exponentOf(currency)),
  fraud: amountText(fraud, exponentOf(currency)),
  percent: rateText(fraud, captured),
  computed_at: wireDate(computedAt),
});

/** The rates of the last two years, and the bands. */
export async function fraudRateView(gateway: Gateway) {
  const rows = await gateway.fraudRates.list(gateway.clock.real() - 8 * 92 * LIMITS.dayMs);
  return {
    items: rows.map(view),
    bands: RATE_BANDS.map(({ upTo, currency, percent }) => ({ up_to: upTo, currency, percent })),
  };
}
