/** Which account settings a client of another gateway needs, by what its requests contain; nothing of a request is kept. */
import { type HashDigest, isReversedHash, isWireHash } from '../../lib/crypto/hash.ts';
import { isObject, withoutByteOrderMark } from '../../lib/text/json.ts';
import { CARD_DIGITS, PASSWORD, partsOf, REVERSED_REQUESTS, type ReversedText } from '../../rules/hash-recipes.ts';
import {
  type ApiOperation,
  aliasesOf,
  CHECKOUT_OPERATIONS,
  type CheckoutPath,
  DIALECT_OPERATIONS,
  isDialectAction,
  S2S_OPERATIONS,
  signedValues,
} from '../../rules/operations.ts';
import type { SettingName } from '../../rules/settings.ts';
import { checkoutBody } from '../requests/checkout-body.ts';
import { readBody, type S2sBody } from '../requests/s2s-body.ts';

/** A setting that a request needs, and what in the request shows it. */
export interface NeededSetting {
  setting: SettingName;
  value: unknown;
  because: string;
}

/** What later requests sign of a sale. */
export interface SeenSale {
  email: string;
  card: string;
}

export interface SeenRequest {
  path: string;
  contentType: string;
  body: Buffer;
  /** The password of the account, if it is known: then hashes are checked, and not only measured. */
  password?: string | undefined;
  /** The sales seen so far, by trans_id and by order_id. */
  sales: ReadonlyMap<string, SeenSale>;
}

const need = (setting: SettingName, value: unknown, because: string): NeededSetting => ({ setting, value, because });

const DIGESTS: readonly HashDigest[] = ['md5', 'sha256'];
const CHECKOUT_PATH = /^\/+api\/+v1\/+(.+?)\/*$/;

export function neededSettings(request: SeenRequest): NeededSetting[] {
  const [, checkoutPath = ''] = CHECKOUT_PATH.exec(request.path) ?? [];
  if (Object.hasOwn(CHECKOUT_OPERATIONS, checkoutPath)) return ofCheckout(request, checkoutPath as CheckoutPath);
  return /^\/+post(-va)?\/*$/.test(request.path) ? ofForm(request) : [];
}

/** The sale in a form, as later requests sign it. */
export function saleIn(contentType: string, body: Buffer): SeenSale {
  const { value, cardText } = readBody(contentType, Buffer.from(body));
  return { email: value('payer_email'), card: cardText };
}

function ofForm(request: SeenRequest): NeededSetting[] {
  const form = readBody(request.contentType, Buffer.from(request.body));
  const action = form.value('action');
  const isCardSale = action === 'SALE' && form.value('brand') === '' && form.cardText !== '';
  const isOther = isDialectAction(action);
  const isBrandPath = /post-va/.test(request.path);
  const why = isCardSale ? 'a SALE with a card' : isOther ? `the action ${action}` : 'the path /post-va';
  const operation: ApiOperation | undefined =
    isCardSale || isOther
      ? DIALECT_OPERATIONS[action as keyof typeof DIALECT_OPERATIONS]
      : S2S_OPERATIONS[action as keyof typeof S2S_OPERATIONS];
  return [
    ...(isCardSale || isOther || isBrandPath ? [need('dialect.card_sales', true, why)] : []),
    ...(operation ? ofFormHash(request, form, action, operation) : []),
    ...ofAmount(form.value('order_amount')),
  ];
}

function ofFormHash(
  { password, sales }: SeenRequest,
  form: S2sBody,
  action: string,
  operation: ApiOperation,
): NeededSetting[] {
  const hash = form.value('hash');
  const reversed = (digest: HashDigest): NeededSetting[] => [
    need('dialect.hash', 'reversed_md5', `the hash of ${action}`),
    ...ofDigest(digest, action),
  ];
  if (password === undefined)
    return hash.length === 32 ? reversed('md5') : hash.length === 64 ? reversed('sha256') : [];
  const values = signedValues(operation, form.value);
  const specified = DIGESTS.find((digest) => isWireHash(hash, values, [password], digest));
  if (specified) return ofDigest(specified, action);
  const ids = ['trans_id', 'order_id', 'recurring_first_trans_id'].map(form.value);
  const sale = ids.map((id) => sales.get(id)).find((seen) => seen !== undefined);
  const facts: Record<string, string> = {
    payer_email: form.value('payer_email') || (sale?.email ?? ''),
    [CARD_DIGITS]: form.cardText || (sale?.card ?? ''),
    [PASSWORD]: password,
  };
  const texts = Object.values(REVERSED_REQUESTS[action as keyof typeof REVERSED_REQUESTS]) as ReversedText[];
  const parts = texts.map((text) => partsOf(text, (name) => facts[name] ?? form.value(name)));
  const digest = DIGESTS.find((each) => isReversedHash(hash, parts, each));
  return digest ? reversed(digest) : [];
}

const ofDigest = (digest: HashDigest, action: string): NeededSetting[] =>
  digest === 'sha256' ? [need('dialect.digest', 'sha256', `the hash of ${action}`)] : [];

const ofAmount = (amount: string): NeededSetting[] =>
  /^\d+$/.test(amount) ? [need('whole_amounts_allowed', true, 'an amount without fraction digits')] : [];

function ofCheckout({ body, password }: SeenRequest, path: CheckoutPath): NeededSetting[] {
  const text = withoutByteOrderMark(body.toString());
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return [];
  }
  if (!isObject(json)) return [];
  const operation: ApiOperation = CHECKOUT_OPERATIONS[path];
  const { value, at } = checkoutBody(json, aliasesOf(operation), text);
  const digest =
    password === undefined
      ? undefined
      : DIGESTS.find((each) => isWireHash(value('hash'), signedValues(operation, value), [password], each));
  const numbers = operation.fields.filter(({ name, isAmount }) => isAmount && typeof at(name) === 'number');
  const schemes = ['success_url', 'cancel_url'].flatMap((name) => {
    const [, scheme = ''] = /^([a-z][a-z\d+.-]*):\/\//.exec(value(name)) ?? [];
    return scheme === '' || /^https?$/.test(scheme) ? [] : [need('return_schemes', [scheme], name)];
  });
  return [
    ...(digest ? ofDigest(digest, path) : []),
    ...(numbers.length > 0 ? [need('dialect.number_amounts', true, `${numbers[0]?.name} as a JSON number`)] : []),
    ...(numbers.length === 0 ? ofAmount(value('order.amount') || value('order_amount')) : []),
    ...(path === 'session' && value('callback_url') !== ''
      ? [need('dialect.session_callback_url', true, 'callback_url in a session')]
      : []),
    ...schemes,
  ];
}
