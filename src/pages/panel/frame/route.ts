/** A route of the panel: what it needs of the operator, and the page that it shows. */
import type { Gateway } from '../../../core/context.ts';
import type { Download } from '../../../core/exports/download.ts';
import type { Caller } from '../../../core/operators/principal.ts';
import type { Session } from '../../../core/operators/sessions.ts';
import type { Html } from '../../../lib/text/html.ts';
import { type Permission, SCOPES, type Scope } from '../../../rules/roles.ts';
import type { UploadedFile } from '../../multipart.ts';
import type { PageScript } from './script.ts';

/** What a page of the panel knows of the request. */
export interface PanelRequest {
  gateway: Gateway;
  session: Session;
  caller: Caller;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  /** The fields of a submitted form. */
  form: ReadonlyMap<string, string>;
  acceptLanguage: string | undefined;
  /** The file of a form that has one. */
  file?: UploadedFile | undefined;
  /** Sends a request to this gateway as a merchant's server does, with all checks. */
  send(request: { path: string; contentType: string; body: string }): Promise<{ status: number; body: unknown }>;
}

/** What a route answers: a page, a document with its own headers, JSON for a script, a file, or a redirect after a change. */
export type PanelAnswer =
  | { title: string; body: Html; status?: number; scripts?: readonly PageScript[] | undefined; hasFrames?: true }
  | { document: string; headers: Record<string, string> }
  | { json: object; status?: number }
  | { download: Download }
  | { file: { name: string; mediaType: string; bytes: Buffer } }
  | { redirect: string };

interface RouteNeeds {
  path: string;
  /** `any` means every operator. */
  permission: Permission | 'any';
  scope: Scope;
  /** The route exists in the sandbox only. */
  isSandboxOnly?: true;
  /** The route answers with a file, which is not read for a HEAD request. */
  isDownload?: true;
  handle(request: PanelRequest): Promise<PanelAnswer>;
}

interface PageRoute extends RouteNeeds {
  method: 'GET';
  /** The page asks for a recent proof of who the operator is before it shows its form, which will need one. */
  confirmFirst?: true;
}

interface FormRoute extends RouteNeeds {
  method: 'POST';
}

/** The form needs a recent proof of who the operator is. */
interface ConfirmedForm extends FormRoute {
  /** The page that the form belongs to, to which an operator who does not confirm goes back. */
  confirmFor: string;
}

/** The form needs no proof. */
interface UnconfirmedForm extends FormRoute {
  /** Why not: what a stolen session could do with it. */
  unconfirmed: string;
}

export type PanelRoute = PageRoute | ConfirmedForm | UnconfirmedForm;

/** Refuses a route that does not say what it needs: nobody would be refused by mistake. */
export function requireNeeds(route: PanelRoute): void {
  const missing = [
    !route.permission && 'permission',
    !SCOPES.includes(route.scope) && 'scope',
    route.method === 'POST' && !('confirmFor' in route || route.unconfirmed) && 'proof',
  ].filter((name) => name !== false);
  if (missing.length > 0) throw new Error(`The route ${route.method} ${route.path} names no ${missing.join(', no ')}.`);
}

/** The page on which the operator proves again who it is, and from which it goes on to `next`. */
export const confirmPath = (next: string): string => `/admin/confirm?next=${encodeURIComponent(next)}`;
