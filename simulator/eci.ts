/** The electronic commerce indicator (ECI) of a card network for an authentication result. */

const INDICATORS = {
  mastercard: { Y: '02', A: '01', none: '00' },
  others: { Y: '05', A: '06', none: '07' },
} as const;

function isMastercard(first6: string): boolean {
  const first4 = Number(first6.slice(0, 4));
  return (first4 >= 5100 && first4 <= 5599) || (first4 >= 2221 && first4 <= 2720);
}

export function eciOf(first6: string, transStatus: string): string {
  const indicators = INDICATORS[isMastercard(first6) ? 'mastercard' : 'others'];
  return transStatus === 'Y' || transStatus === 'A' ? indicators[transStatus] : indicators.none;
}
