/** The hash debugger in the OpenAPI document. */
import { accountRefusals, call } from './operator-call.ts';
import {
  answers,
  choice,
  described,
  flag,
  type Json,
  jsonBody,
  listOf,
  object,
  orNull,
  ref,
  text,
  uuid,
} from './schema.ts';

export const EXPLAIN_SCHEMAS: Readonly<Record<string, Json>> = {
  Explanation: object({
    mid: uuid,
    protocol: choice(['s2s', 'checkout']),
    action: described(text, 'The action of a form, or the last part of the path of a Checkout request.'),
    alternatives: described(
      listOf(text),
      'Other Checkout operations that the request may be; they sign the same text. Empty if `path` was sent.',
    ),
    fields: described(
      listOf(object({ name: text, value: text })),
      'The signed fields in order, with the values that the gateway read.',
    ),
    signed_text: described(text, 'The text that the gateway signs. The password is replaced by `***`.'),
    recipe: described(choice(['specified', 'reversed_md5']), 'The hash recipe of the account for this request.'),
    digest: described(choice(['md5', 'sha256']), 'The digest of the account.'),
    md5: described(
      orNull(text),
      'The MD5, or the SHA-256, of the text with the password; in the recipe `reversed_md5` the valid hash. Null if the password alone is signed, or if the caller may not operate ' +
        'payments.',
    ),
    sha1: described(
      orNull(text),
      'The valid hash of the request. Null in the recipe `reversed_md5`, or if the caller may not operate payments.',
    ),
    matches: described(flag, 'Whether the hash of the request is valid.'),
    mistakes: described(listOf(text), 'The names of the mistakes; `unknown` if none of the known ones fits.'),
    hints: described(listOf(text), 'What is wrong, and what the developer should do.'),
  }),
};

export const EXPLAIN_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/explain': {
    post: call(
      'accounts',
      'explainRequest',
      'Explains the hash of a merchant request: what is signed, and what is wrong.',
      {
        requestBody: jsonBody(
          object(
            {
              mid: described(uuid, 'The account whose password signs the request.'),
              request: described(
                text,
                'The body of a request: a form of `/post`, or the JSON text of a Checkout request.',
              ),
            },
            {
              path: described(
                { ...text, examples: ['/api/v1/payment/status'] },
                'The path of the request. Without it, the operation of a Checkout request is inferred from its fields.',
              ),
            },
          ),
        ),
        responses: { ...answers('The explanation.', ref('Explanation')), ...accountRefusals },
      },
    ),
  },
};
