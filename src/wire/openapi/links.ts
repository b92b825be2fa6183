/** The calls on payment links in the OpenAPI document. */
import { ASKABLE, LINK_LIMITS, LINK_STATES } from '../../rules/links.ts';
import { accountRefusals, call, commonRefusals, operatorRefusals, pageParameters } from './operator-call.ts';
import {
  answers,
  choice,
  date,
  described,
  flag,
  inPath,
  inQuery,
  integer,
  type Json,
  jsonBody,
  listOf,
  object,
  orNull,
  pageOf,
  ref,
  text,
  uuid,
} from './schema.ts';

const uses = described(
  orNull({ ...integer, minimum: 1, maximum: LINK_LIMITS.uses }),
  'How often the link can be paid: once without it, any number of times if it is null.',
);
const methods = described(listOf(text), 'The methods that the payer may choose from; empty means all that fit.');
const ask = described(listOf(choice(ASKABLE)), 'What the payer is asked for before the payment.');

/** Members that the field tables do not contain or describe. */
export const LINK_FIELDS: Readonly<Record<string, Json>> = { uses, methods, ask };

const amount = orNull(text);

export const LINK_SCHEMAS: Readonly<Record<string, Json>> = {
  Link: object({
    link_id: uuid,
    mid: uuid,
    url: described(text, 'The address for payers.'),
    state: choice(LINK_STATES),
    title: text,
    description: text,
    currency: text,
    amount,
    min_amount: amount,
    max_amount: amount,
    uses,
    uses_left: orNull(integer),
    valid_until: orNull(date),
    methods,
    locale: text,
    success_url: text,
    ask,
    authorise: flag,
    order_prefix: text,
    payments: described(integer, 'The number of successful payments.'),
    captured: described(text, 'What they captured.'),
    created_at: date,
  }),
};

const linkId = [inPath('link_id', uuid, 'The link.')];

export const LINK_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/links.csv': {
    get: call('payments', 'readLinksCsv', 'Returns payment links as CSV with a header line.', {
      parameters: [
        inQuery('mid', uuid, 'Links of this account.'),
        inQuery('state', choice(LINK_STATES), 'Links in this state.'),
      ],
      responses: { '200': { description: 'The links.', content: { 'text/csv': { schema: text } } }, ...commonRefusals },
    }),
  },
  '/admin/api/links': {
    post: call('payments', 'createLink', 'Makes a payment link of an account.', {
      requestBody: jsonBody(
        object(
          { mid: uuid, title: text, currency: text },
          {
            amount: text,
            min_amount: text,
            max_amount: text,
            description: text,
            uses,
            valid_until: text,
            methods,
            locale: text,
            success_url: text,
            ask,
            authorise: flag,
            order_prefix: text,
          },
        ),
      ),
      responses: { ...answers('The link.', ref('Link'), '201'), ...accountRefusals },
    }),
    get: call('payments', 'listLinks', 'Lists payment links, newest first.', {
      parameters: [
        inQuery('mid', uuid, 'Links of this account.'),
        inQuery('state', choice(LINK_STATES), 'Links in this state.'),
        ...pageParameters(uuid),
      ],
      responses: { ...answers('A page of links.', pageOf(ref('Link'))), ...commonRefusals },
    }),
  },
  '/admin/api/links/{link_id}': {
    parameters: linkId,
    get: call('payments', 'readLink', 'Reads a payment link.', {
      responses: { ...answers('The link.', ref('Link')), ...operatorRefusals('noSuchLink') },
    }),
    patch: call('payments', 'switchLink', 'Switches a payment link off, or on again.', {
      requestBody: jsonBody(object({ state: choice(['active', 'inactive']) })),
      responses: { ...answers('The link.', ref('Link')), ...operatorRefusals('invalidData', 'noSuchLink') },
    }),
  },
};
