/** The requests of the connector to Checkout.com as JSON Schemas: the members that it sends, with the limits that Checkout.com names. */
import { Ajv, type SchemaObject } from 'ajv';

const text = (maxLength: number, pattern = '^[^]*$'): SchemaObject => ({
  type: 'string',
  minLength: 1,
  maxLength,
  pattern,
});
const choice = (...values: string[]): SchemaObject => ({ type: 'string', enum: values });
const flag: SchemaObject = { type: 'boolean' };
const whole = (minimum: number, maximum: number): SchemaObject => ({ type: 'integer', minimum, maximum });
const object = (properties: Record<string, SchemaObject>, required: string[] = []): SchemaObject => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
});

const AMOUNT = whole(1, 999_999_999);
const ADDRESS = object(
  { address_line1: text(200), city: text(50), state: text(50), zip: text(50), country: text(2, '^[A-Z]{2}$') },
  ['country'],
);
const EXPIRY = { expiry_month: whole(1, 12), expiry_year: whole(2000, 2100) };
const FLAGS = { stored: flag, store_for_future_use: flag, billing_address: ADDRESS };
const SOURCE: SchemaObject = {
  oneOf: [
    object(
      {
        type: choice('card'),
        number: text(19, '^\\d+$'),
        ...EXPIRY,
        name: text(100),
        cvv: text(4, '^\\d{3,4}$'),
        ...FLAGS,
      },
      ['type', 'number', 'expiry_month', 'expiry_year'],
    ),
    object(
      {
        type: choice('network_token'),
        token: text(19, '^\\d+$'),
        ...EXPIRY,
        token_type: choice('vts', 'mdes', 'applepay', 'googlepay'),
        cryptogram: text(50),
        eci: text(2),
        ...FLAGS,
      },
      ['type', 'token', 'expiry_month', 'expiry_year', 'token_type', 'cryptogram'],
    ),
    object({ type: choice('id'), id: text(30, '^(src)_(\\w{26})$') }, ['type', 'id']),
  ],
};
const REFERENCE = text(80);

const SCHEMAS: Readonly<Record<string, SchemaObject>> = {
  payments: object(
    {
      source: SOURCE,
      amount: AMOUNT,
      currency: text(3, '^[A-Z]{3}$'),
      payment_type: choice('Regular', 'Recurring', 'MOTO', 'Installment', 'PayLater', 'Unscheduled'),
      merchant_initiated: flag,
      previous_payment_id: text(100),
      reference: REFERENCE,
      description: text(100),
      capture: flag,
      customer: object({ email: text(255), name: text(255) }, ['email']),
      billing_descriptor: object({ name: text(25), city: text(13) }, ['name', 'city']),
      '3ds': object({
        enabled: flag,
        attempt_n3d: flag,
        exemption: choice('low_value', 'transaction_risk_assessment'),
        challenge_indicator: choice(
          'no_preference',
          'no_challenge_requested',
          'challenge_requested',
          'challenge_requested_mandate',
        ),
      }),
      processing_channel_id: text(70, '^pc_\\w+$'),
      success_url: text(1024, '^https?://'),
      failure_url: text(1024, '^https?://'),
    },
    ['source', 'currency', 'processing_channel_id'],
  ),
  captures: object({ amount: AMOUNT, capture_type: choice('NonFinal', 'Final'), reference: REFERENCE }),
  refunds: object({ amount: AMOUNT, reference: REFERENCE }),
  voids: object({ reference: REFERENCE }),
};

const ajv = new Ajv({ strict: true });
const VALIDATORS = new Map(Object.entries(SCHEMAS).map(([name, schema]) => [name, ajv.compile(schema)]));

/** What is wrong with a request; undefined if nothing is. */
export function problemOf(name: string, body: unknown): string | undefined {
  const validate = VALIDATORS.get(name);
  if (!validate) return `There is no request ${name}.`;
  return validate(body) ? undefined : `${name}: ${ajv.errorsText(validate.errors)}`;
}
