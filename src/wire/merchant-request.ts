/** A request of a merchant, as the checks of all protocols see it. */
import type { Account } from '../core/context.ts';
import type { RequestBody } from '../core/requests/body.ts';
import type { Problem } from '../rules/errors.ts';
import type { Field } from '../rules/fields.ts';
import type { ApiOperation } from '../rules/operations.ts';

export interface AccountFields {
  fields: readonly Field[];
  problems: readonly Problem[];
  /** The brand of the fields. */
  brand?: string | undefined;
}

export interface MerchantRequest {
  operation: ApiOperation | undefined;
  /** The name of the operation: an action of `/post`, or a path of Checkout. */
  action: string;
  body: RequestBody;
  keyField: 'client_key' | 'merchant_key';
  /** The client's IP address; behind a trusted proxy, the address that the proxy forwards. */
  address: string;
  /** Called with the account as soon as its key is known. */
  onAccount: (account: Account) => void;
  /** Whether the search for the mistake in a wrong hash is affordable now. */
  mayExplain: (account: Account) => boolean;
  /** Fields and problems that depend on the account, such as those of a brand. */
  accountFields?: ((account: Account) => AccountFields) | undefined;
}
