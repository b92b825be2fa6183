/** Prices a second time, from the text of the contract alone: decimal texts, fractions of integers, no code of the gateway. */

/** A line, a version and an assignment as requests of the admin API have them; times are plain numbers. */
export interface OracleLine {
  event: string;
  brands?: string[];
  networks?: string[];
  currencies?: string[];
  connectors?: string[];
  min_amount?: string;
  max_amount?: string;
  percent?: string;
  fixed?: string;
  minimum?: string;
  maximum?: string;
}
export interface OracleVersion {
  number: number;
  from: number;
  refund_policy?: 'keep' | 'proportional' | 'full';
  tax_percent?: string;
  lines: OracleLine[];
}
export interface OraclePlan {
  name: string;
  versions: OracleVersion[];
}
export interface OracleHistory {
  brand: string;
  network?: string;
  currency: string;
  connector: string;
  /** In the order of time; amounts are decimal texts. */
  events: { event: string; amount: string; at: number }[];
  assigned: { at: number; plan: OraclePlan | undefined }[];
}

/** A number as a fraction. */
type Fraction = readonly [bigint, bigint];
const DECIMALS: Record<string, number> = { JPY: 0, EUR: 2, USD: 2, KWD: 3 };

function fraction(decimal: string): Fraction {
  const point = decimal.indexOf('.');
  if (point < 0) return [BigInt(decimal), 1n];
  const digits = decimal.length - point - 1;
  return [BigInt(decimal.replace('.', '')), 10n ** BigInt(digits)];
}
const times = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * c, b * d];
const isBelow = ([a, b]: Fraction, [c, d]: Fraction): boolean => a * d < c * b;

/** Half up to the minor unit, as a number of minor units. */
function roundTo(places: number, [a, b]: Fraction): bigint {
  const scaled = a * 10n ** BigInt(places);
  const whole = scaled / b;
  return (scaled % b) * 2n >= b ? whole + 1n : whole;
}

const takes = (list: string[] | undefined, value: string | undefined): boolean =>
  !list || list.length === 0 || (value !== undefined && list.includes(value));

interface Charged {
  fee: bigint;
  tax: bigint;
  part: bigint;
  partTax: bigint;
  line: number;
}

function charge(version: OracleVersion, history: OracleHistory, event: string, amount: string): Charged | undefined {
  const places = DECIMALS[history.currency] as number;
  const taxOf = (units: bigint): bigint =>
    roundTo(0, times([units, 1n], times(fraction(version.tax_percent ?? '0'), [1n, 100n])));
  for (const [number, line] of version.lines.entries()) {
    if (line.event !== event || !takes(line.brands, history.brand) || !takes(line.networks, history.network)) continue;
    if (!takes(line.currencies, history.currency) || !takes(line.connectors, history.connector)) continue;
    if (line.min_amount !== undefined && isBelow(fraction(amount), fraction(line.min_amount))) continue;
    if (line.max_amount !== undefined && isBelow(fraction(line.max_amount), fraction(amount))) continue;
    const share = times(fraction(amount), times(fraction(line.percent ?? '0'), [1n, 100n]));
    const units = (text: string): bigint => roundTo(places, fraction(text));
    const fixed = units(line.fixed ?? '0');
    let fee = roundTo(places, share) + fixed;
    if (line.minimum !== undefined && fee < units(line.minimum)) fee = units(line.minimum);
    if (line.maximum !== undefined && fee > units(line.maximum)) fee = units(line.maximum);
    const part = fee < fixed ? 0n : fee - fixed;
    return { fee, tax: taxOf(fee), part, partTax: taxOf(part), line: number };
  }
  return undefined;
}

/** One line of text for each fee and each return: `sale 3.20 …` in minor units. */
export function oracleFees(history: OracleHistory): string[] {
  const answer: string[] = [];
  const places = DECIMALS[history.currency] as number;
  const sales: { charged: Charged; version: OracleVersion; plan: string; back: [bigint, bigint] }[] = [];
  let [captured, refunded] = [0n, 0n];
  const tell = (words: string, fee: bigint, tax: bigint, plan: string, version: number, line: number): void => {
    if (fee !== 0n || tax !== 0n) answer.push(`${words} ${fee} ${tax} by ${plan} ${version} ${line}`);
  };
  for (const { event, amount, at } of history.events) {
    if (event === 'sale') captured += roundTo(places, fraction(amount));
    if (event === 'refund') {
      refunded += roundTo(places, fraction(amount));
      for (const sale of sales) {
        const { charged, version, plan, back } = sale;
        let due: [bigint, bigint] = [0n, 0n];
        if (version.refund_policy === 'proportional')
          due = [roundTo(0, [charged.part * refunded, captured]), roundTo(0, [charged.partTax * refunded, captured])];
        if (version.refund_policy === 'full' && refunded === captured) due = [charged.fee, charged.tax];
        tell('returned sale', due[0] - back[0], due[1] - back[1], plan, version.number, charged.line);
        sale.back = due;
      }
    }
    const plan = history.assigned.filter((one) => one.at <= at).sort((a, b) => b.at - a.at)[0]?.plan;
    const version = plan?.versions.filter((one) => one.from <= at).sort((a, b) => b.from - a.from)[0];
    const charged = version && charge(version, history, event, amount);
    if (!plan || !version || !charged) continue;
    tell(event, charged.fee, charged.tax, plan.name, version.number, charged.line);
    if (event === 'sale') sales.push({ charged, version, plan: plan.name, back: [0n, 0n] });
  }
  return answer;
}
