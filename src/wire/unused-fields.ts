/** What an answer says about well-known fields of a request that the gateway does not act upon. */
import type { Gateway } from '../core/context.ts';
import { DOCS } from '../rules/docs.ts';
import { UNUSED_FIELDS } from '../rules/unused-fields.ts';

/** An entry of `warnings` in an answer. */
export type Warning = Record<'param' | 'hint' | 'link', string>;

/** `isSent` says whether the request has the field, with a value that the gateway does not use. */
export const unusedFieldWarnings = ({ publicUrl }: Gateway, isSent: (name: string) => boolean): Warning[] =>
  Object.entries(UNUSED_FIELDS)
    .filter(([name]) => isSent(name))
    .map(([param, hint]) => ({ param, hint, link: publicUrl + DOCS.family }));
