/** What the parts of the fuzz share: routes, requests before they become bytes, and the world that they are sent to. */
import type { Role } from '../../src/rules/roles.ts';
import type { Program } from '../chaos/program.ts';
import type { TextSearch } from '../support/text-search.ts';

export interface Route {
  server: 'gateway' | 'simulator';
  method: string;
  /** As registered: `/pay/:link`. */
  path: string;
  /** The method and the path without the names of its parameters. */
  key: string;
}

/** A form of a page: the values that each field offers; an empty list is a field to fill in. */
export interface KnownForm {
  fields: Readonly<Record<string, readonly string[]>>;
  /** The field with the file. */
  file: string | undefined;
}

/** A file of a form. */
export interface FormFile {
  field: string;
  name: string;
  content: string;
}

/** A request before it becomes bytes. */
export interface Draft {
  route: Route;
  /** The path of the OpenAPI document; undefined for a page. */
  documented: string | undefined;
  path: string;
  method: string;
  query: [string, string][];
  headers: [string, string][];
  /** An object is sent as JSON, or as a form where `isForm`. */
  body: unknown;
  isForm: boolean;
  file?: FormFile | undefined;
  /** Signs the body, after it was altered. */
  sign: (draft: Draft) => void;
}

const NOTHING = (): void => undefined;

export const newDraft = (route: Route, path: string, parts: Partial<Draft> = {}): Draft => ({
  route,
  documented: undefined,
  path,
  method: route.method,
  query: [],
  headers: [],
  body: undefined,
  isForm: false,
  sign: NOTHING,
  ...parts,
});

export interface Account {
  mid: string;
  client_key: string;
  merchant_key: string;
  password: string;
}

export interface PanelSession {
  operatorId: string;
  cookie: string;
  /** What the forms of its pages contain. */
  formToken: string;
}

export interface World {
  host: string;
  port: number;
  simulator: { port: number; key: string };
  /** Every route, as often as it is sent. */
  routes: readonly Route[];
  /** Finds the route of a path, and the parameters in it. */
  routeOf(method: string, path: string): [Route, string[]] | undefined;
  /** Tokens of the admin API: the installation's own, and one of each role. */
  tokens: readonly string[];
  sessions: Map<Role, PanelSession>;
  /** Signs an operator of this role in, because the session of the former one has ended. */
  renew(role: Role): Promise<void>;
  notificationSecret: string;
  /** Takes the payments. */
  account: Account;
  /** The one whose settings the requests change. */
  other: Account;
  /** Ids that are not learned: the account that takes the payments, and our own tokens. */
  untouched: ReadonlySet<string>;
  /** Values of responses by the name of their field; the newest are kept. */
  known: Map<string, string[]>;
  /** The forms of pages by the key of the route that they are sent to. */
  forms: Map<string, KnownForm[]>;
  /** Texts that no response and no log line may contain. */
  secrets: TextSearch;
  /** The parts of paths on this machine, which no response may contain. */
  folders: readonly string[];
  gateway: Program;
  logFile: string;
  /** The memory of the gateway process that is in use, in bytes. */
  memory(): Promise<number>;
  close(): Promise<void>;
}
