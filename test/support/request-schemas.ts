/** Validates requests against the JSON Schemas that were made of the types of a provider's SDK. */
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';

/** What is wrong with a request of this type; undefined if nothing is. */
export type RequestValidator = (type: string, request: unknown) => string | undefined;

export function requestValidator(provider: string): RequestValidator {
  const path = new URL(`../connectors/${provider}/schemas/requests.json`, import.meta.url);
  const ajv = new Ajv({ strict: true, allErrors: true });
  ajv.addSchema(JSON.parse(readFileSync(path, 'utf8')), 'requests');
  return (type, request) => {
    const validate = ajv.getSchema(`requests#/definitions/${type}`);
    if (!validate) return `There is no request ${type}.`;
    return validate(request) ? undefined : `${type}: ${ajv.errorsText(validate.errors)}`;
  };
}
