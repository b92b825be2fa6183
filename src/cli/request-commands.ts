/** The part of the table of commands about requests of merchants: their hashes, and what a client needs. */
import { GATEWAY_OPTIONS, URL_OPTION } from './admin-client.ts';
import { type Argument, type Command, text } from './command.ts';
import { MID } from './installation-commands.ts';
import { MID_OPTION, REMOTE } from './options.ts';

const FILE: Argument = { name: 'file', isOptional: true, about: 'the body of the request; without it, standard input' };
const PATH = text(
  'path',
  '<path>',
  'the path of the request, such as /api/v1/session; without it, inferred from the fields',
);

export const REQUEST_COMMANDS: readonly Command[] = [
  {
    name: 'sign',
    summary: 'Computes the hash of a merchant request, and prints the body with it',
    details:
      'The body is a URL-encoded form of /post, or the JSON of a Checkout request. The command works without a gateway. ' +
      'The password is never an argument, because other users of the machine see the arguments.',
    args: [FILE],
    options: [
      PATH,
      text('recipe', '<recipe>', 'the hash recipe of the account', { choices: ['specified', 'reversed_md5'] }),
      text('digest', '<digest>', 'the digest of the account', { choices: ['md5', 'sha256'] }),
      text('payer-email', '<address>', 'the e-mail address of a card payment, for reversed_md5'),
      text('card', '<digits>', 'the first six and last four digits of the card, for reversed_md5'),
    ],
    json: 'document',
    variables: ['TURNPIKE_PASSWORD'],
    examples: ['sign session.json', 'sign --recipe reversed_md5 --digest sha256 sale.txt'],
    run: async (call) => (await import('./sign.ts')).sign(call),
  },
  {
    name: 'check-client',
    summary: 'Passes the requests of a client on to the sandbox, and says which account settings the client needs',
    details:
      'For clients of other gateways of the family. It listens on this machine only, keeps no values of fields, and ' +
      'refuses live keys. With the password of the account it checks hashes; without, it judges them by their length.',
    options: [
      text(
        'record',
        '<file>',
        'adds a line of JSON for each request to this file: its path, the status of the response, what it needs',
      ),
      text('port', '<number>', 'the port to listen on', { kind: 'number' }),
      text('count', '<number>', 'ends after this many requests', { kind: 'number' }),
      text('timeout', '<seconds>', 'ends after this time', { kind: 'number' }),
      URL_OPTION,
    ],
    json: 'document',
    variables: ['TURNPIKE_PASSWORD'],
    examples: ['check-client --port 8099', 'check-client --record requests.jsonl --count 3'],
    run: async (call) => (await import('./check-client.ts')).checkClient(call),
  },
  {
    name: 'explain',
    summary: 'Explains the hash of a merchant request; exits with code 1 if it is not valid',
    details: 'docs/operator/hash-debugger.md lists the mistakes that it finds.',
    args: [FILE],
    options: [MID_OPTION, PATH, ...GATEWAY_OPTIONS],
    json: 'document',
    variables: REMOTE,
    examples: ['explain request.txt', `explain --mid ${MID} request.txt`],
    run: async (call) => (await import('./sign.ts')).explain(call),
  },
];
