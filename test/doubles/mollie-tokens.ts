/** What the double of Mollie expects beside an access token of an organisation: its profile, and the test mode. */

export const ACCESS_TOKEN = 'access_Wwvu7egPcJLLJ9Kb7J632x8wJ2zMeJ';
export const PROFILE = 'pfl_QkEhN94Ba';

/** The calls that are about one profile; others name an object, which belongs to one. */
const OF_PROFILE = [
  'PaymentCreate',
  'PaymentList',
  'PaymentRelease',
  'CustomerPayments',
  'MethodList',
  'SessionCreate',
];
/** Apple has no test mode. */
const WITHOUT_MODE = ['SessionCreate'];

/** The fields of a call without those of the access token; `problem` if those are not right. */
export function withoutTokenFields(
  name: string,
  { testmode, profileId, ...fields }: Record<string, unknown>,
): { fields: Record<string, unknown>; problem?: string } {
  const isMode = String(testmode) === String(WITHOUT_MODE.includes(name) ? undefined : true);
  const isProfile = profileId === (OF_PROFILE.includes(name) ? PROFILE : undefined);
  if (isMode && isProfile) return { fields };
  return { fields, problem: `${name}: testmode ${testmode}, profileId ${profileId}` };
}
