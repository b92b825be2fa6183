/** Code that sends one request of the API, in several languages, complete with the signature or the token. */
import type { Sample } from './code.ts';

export interface ExampleRequest {
  method: string;
  /** With values in place of its parameters. */
  path: string;
  /** Undefined for a request without a body. */
  body?: Readonly<Record<string, unknown>> | undefined;
  isForm?: boolean;
  /** The values that the hash covers; undefined for a request that is not signed. */
  signed?: readonly string[] | undefined;
  needsToken?: boolean;
}

const URL = 'http://127.0.0.1:8080';
const PASSWORD = 'TURNPIKE_PASSWORD';
const TOKEN = 'TURNPIKE_ADMIN_TOKEN';

/** Marks the place of the hash in a body until it is written as code. */
const HASH = '\uE010hash\uE010';

const withHash = ({ body, signed }: ExampleRequest): Readonly<Record<string, unknown>> | undefined =>
  body && signed ? { ...body, hash: HASH } : body;

const inShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The fields of a form, with the hash still marked. */
const pairsOf = (body: Readonly<Record<string, unknown>>): [string, string][] =>
  Object.entries(body).map(([name, value]) => [name, String(value)]);

function curl(request: ExampleRequest): string {
  const { method, path, isForm, signed, needsToken } = request;
  const body = withHash(request);
  const hash = `$(sign ${(signed ?? []).map(inShell).join(' ')})`;
  const parts = [
    `curl${method === 'GET' || (method === 'POST' && body) ? '' : ` -X ${method}`} "${URL}${path}"`,
    ...(needsToken ? [`-H "Authorization: Bearer $${TOKEN}"`] : []),
    ...(body && isForm
      ? pairsOf(body).map(([name, value]) =>
          value === HASH ? `-d "${name}=${hash}"` : `--data-urlencode ${inShell(`${name}=${value}`)}`,
        )
      : []),
    ...(body && !isForm
      ? [
          `-H 'Content-Type: application/json'`,
          `-d ${inShell(JSON.stringify(body, null, 2)).replace(HASH, `'"${hash}"'`)}`,
        ]
      : []),
  ];
  return [...(signed ? [SHELL_SIGN] : []), parts.join(' \\\n  ')].join('\n\n');
}

const SHELL_SIGN = `sign() {
  printf %s "$@" "$${PASSWORD}" | LC_ALL=C tr a-z A-Z |
    openssl md5 -r | cut -c1-32 | tr -d '\\n' | openssl sha1 -r | cut -c1-40
}`;

function typescript(request: ExampleRequest): string {
  const { method, path, isForm, signed, needsToken } = request;
  const body = withHash(request);
  const values = (signed ?? []).map((value) => JSON.stringify(value)).join(', ');
  const text = body && JSON.stringify(body, null, 2).replace(`"${HASH}"`, `sign(${values})`);
  const headers = [
    ...(needsToken ? [`    authorization: \`Bearer \${process.env.${TOKEN}}\`,`] : []),
    ...(text && !isForm ? ["    'content-type': 'application/json',"] : []),
  ];
  return [
    ...(signed ? [TYPESCRIPT_SIGN] : []),
    ...(text ? [`const body = ${text};`] : []),
    [
      `const response = await fetch('${URL}${path}', {`,
      `  method: '${method}',`,
      ...(headers.length > 0 ? ['  headers: {', ...headers, '  },'] : []),
      ...(text ? [`  body: ${isForm ? 'new URLSearchParams(body)' : 'JSON.stringify(body)'},`] : []),
      '});',
      'console.log(await response.text());',
    ].join('\n'),
  ].join('\n\n');
}

const TYPESCRIPT_SIGN = `import { createHash } from 'node:crypto';

const hex = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('hex');
const sign = (...values: string[]) => {
  const text = [...values, process.env.${PASSWORD}].join('');
  return hex('sha1', hex('md5', text.replace(/[a-z]/g, (letter) => letter.toUpperCase())));
};`;

/** JSON as Python writes it. */
const inPython = (json: string): string =>
  json.replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (token) =>
    token.startsWith('"') ? token : ({ true: 'True', false: 'False', null: 'None' }[token] as string),
  );

function python(request: ExampleRequest): string {
  const { method, path, isForm, signed, needsToken } = request;
  const body = withHash(request);
  const values = (signed ?? []).map((value) => JSON.stringify(value)).join(', ');
  const text = body && inPython(JSON.stringify(body, null, 4)).replace(`"${HASH}"`, `sign(${values})`);
  const modules = [
    ...(signed ? ['hashlib'] : []),
    ...(text && !isForm ? ['json'] : []),
    ...(signed || needsToken ? ['os'] : []),
    ...(text && isForm ? ['urllib.parse'] : []),
    'urllib.request',
  ];
  const data = isForm ? 'urllib.parse.urlencode(body).encode()' : 'json.dumps(body).encode()';
  const headers = [
    ...(needsToken ? [`"Authorization": f"Bearer {os.environ['${TOKEN}']}"`] : []),
    ...(text && !isForm ? ['"Content-Type": "application/json"'] : []),
  ];
  const options = [
    `    "${URL}${path}",`,
    `    method="${method}",`,
    ...(text ? [`    data=${data},`] : []),
    ...(headers.length > 0 ? [`    headers={${headers.join(', ')}},`] : []),
  ];
  return [
    modules.map((name) => `import ${name}`).join('\n'),
    ...(signed ? [PYTHON_SIGN] : []),
    ...(text ? [`body = ${text}`] : []),
    [
      'request = urllib.request.Request(',
      ...options,
      ')',
      'print(urllib.request.urlopen(request).read().decode())',
    ].join('\n'),
  ].join('\n\n');
}

const PYTHON_SIGN = `def sign(*values):
    text = "".join([*values, os.environ["${PASSWORD}"]]).encode().upper()
    return hashlib.sha1(hashlib.md5(text).hexdigest().encode()).hexdigest()`;

export const examplesOf = (request: ExampleRequest, name: string): Sample[] => [
  { language: 'curl', name, text: curl(request) },
  { language: 'typescript', name, text: typescript(request) },
  { language: 'python', name, text: python(request) },
];
