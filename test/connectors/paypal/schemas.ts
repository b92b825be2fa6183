/** The requests of the connector to PayPal as JSON Schemas: the members that it sends, with the limits that PayPal names. */
import { Ajv, type SchemaObject } from 'ajv';

const text = (maxLength: number, pattern = '^.*$'): SchemaObject => ({
  type: 'string',
  minLength: 1,
  maxLength,
  pattern,
});
const choice = (...values: string[]): SchemaObject => ({ type: 'string', enum: values });
const object = (properties: Record<string, SchemaObject>, required: string[] = []): SchemaObject => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
});

const MONEY = object(
  { currency_code: text(3, '^[A-Z]{3}$'), value: text(32, '^((-?[0-9]+)|(-?([0-9]+)?[.][0-9]+))$') },
  ['currency_code', 'value'],
);
const VAULTED = object({ paypal: object({ vault_id: text(255, '^[0-9a-zA-Z_-]+$') }, ['vault_id']) }, ['paypal']);
const COMPLETE = object({ payment_source: VAULTED });

export const SCHEMAS: Readonly<Record<string, SchemaObject>> = {
  create: object(
    {
      intent: choice('CAPTURE', 'AUTHORIZE'),
      purchase_units: {
        type: 'array',
        minItems: 1,
        maxItems: 10,
        items: object(
          {
            custom_id: text(127),
            invoice_id: text(127),
            description: text(127),
            soft_descriptor: text(22),
            amount: MONEY,
          },
          ['amount'],
        ),
      },
      payment_source: object({
        paypal: object({
          email_address: text(254),
          attributes: object({
            vault: object(
              {
                store_in_vault: choice('ON_SUCCESS'),
                usage_type: choice('MERCHANT', 'PLATFORM'),
                permit_multiple_payment_tokens: { type: 'boolean' },
              },
              ['usage_type', 'store_in_vault'],
            ),
          }),
          experience_context: object({
            brand_name: text(127),
            shipping_preference: choice('GET_FROM_FILE', 'NO_SHIPPING', 'SET_PROVIDED_ADDRESS'),
            user_action: choice('CONTINUE', 'PAY_NOW'),
            payment_method_preference: choice('UNRESTRICTED', 'IMMEDIATE_PAYMENT_REQUIRED'),
            return_url: text(2048, '^https?://'),
            cancel_url: text(2048, '^https?://'),
          }),
        }),
      }),
    },
    ['intent', 'purchase_units'],
  ),
  capture: COMPLETE,
  authorize: COMPLETE,
  'authorizations capture': object({ amount: MONEY, final_capture: { type: 'boolean' } }),
  'authorizations void': object({}),
  'captures refund': object({ amount: MONEY, custom_id: text(127, '^[A-Za-z0-9-_.,]*$') }),
};

const ajv = new Ajv({ strict: true });
const VALIDATORS = new Map(Object.entries(SCHEMAS).map(([name, schema]) => [name, ajv.compile(schema)]));

/** What is wrong with a request; undefined if nothing is. */
export function problemOf(name: string, body: unknown): string | undefined {
  const validate = VALIDATORS.get(name);
  if (!validate) return `There is no request ${name}.`;
  return validate(body) ? undefined : `${name}: ${ajv.errorsText(validate.errors)}`;
}
