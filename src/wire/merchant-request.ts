/** A request of a merchant, as the checks of all protocols see it. */
import type { Account } from '../core/context.ts';
import type { RequestBody } from '../core/requests/body.ts';
import type { Problem } from '../rules/errors.ts';
import type { Field } from '../rules/fields.ts';
import type { ApiOperation } from '../rules/operations.ts';
import type { HandledRequest } from './handled-request.ts';
import type { RequestLimits } from './request-limits.ts';

export interface AccountFields {
  fields: readonly Field[];
  problems: readonly Problem[];
  /** The brand of the fields. */
  brand?: string | undefined;
}

export interface MerchantRequest {
  operation: ApiOperation | undefined;
  /** The operation in place of `operation`, if it depends on the account. */
  operationFor?: ((account: Account) => ApiOperation | undefined) | undefined;
  /** The name of the operation: an action of `/post`, or a path of Checkout. */
  action: string;
  body: RequestBody;
  keyField: 'client_key' | 'merchant_key';
  /** The client's IP address; behind a trusted proxy, the address that the proxy forwards. */
  address: string;
  /** Gets the account as soon as its key is known. */
  handled: HandledRequest;
  limits: RequestLimits;
  /** Fields and problems that depend on the account, such as those of a brand. */
  accountFields?: ((account: Account) => AccountFields) | undefined;
}
