/** A route of the panel: the permission that it needs, and the page that it shows. */
import type { Gateway } from '../../core/context.ts';
import type { Download } from '../../core/exports/download.ts';
import type { Session } from '../../core/operators/sessions.ts';
import type { Caller } from '../../core/principal.ts';
import type { Html } from '../../lib/html.ts';
import type { Permission } from '../../rules/roles.ts';
import type { UploadedFile } from '../multipart.ts';
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

export interface PanelRoute {
  method: 'GET' | 'POST';
  path: string;
  /** `any` means every operator. */
  permission: Permission | 'any';
  /** The page to go to after the operator has proved again who it is; the route needs a recent proof. */
  confirmFor?: string;
  /** The route exists in the sandbox only. */
  isSandboxOnly?: true;
  /** The route answers with a file, which is not read for a HEAD request. */
  isDownload?: true;
  handle(request: PanelRequest): Promise<PanelAnswer>;
}

/** The page on which the operator proves again who it is, and from which it goes on to `next`. */
export const confirmPath = (next: string): string => `/admin/confirm?next=${encodeURIComponent(next)}`;
