/** Generates the reference pages of this directory from the tables in `src`, so that they always match the code. */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { OpenApi } from '../src/pages/docs/openapi.ts';
import { openApi } from '../src/wire/openapi.ts';
import { brands } from './pages/brands.ts';
import { commandLine } from './pages/command-line.ts';
import { configuration } from './pages/configuration.ts';
import { connectors } from './pages/connectors.ts';
import { errors } from './pages/errors.ts';
import { jsonText } from './pages/json.ts';
import { pageScripts } from './pages/page-scripts.ts';
import { postman } from './pages/postman.ts';
import { providerEvents } from './pages/provider-events.ts';
import { requests } from './pages/requests.ts';
import { roles } from './pages/roles.ts';
import { settings } from './pages/settings.ts';
import { states } from './pages/states.ts';
import { statesDiagram } from './pages/states-diagram.ts';

/** The generated pages: file name and expected contents. */
export const documents = (api = openApi('http://127.0.0.1:8080')): Record<string, string> => ({
  'brands.md': brands(),
  'command-line.md': commandLine(),
  'configuration.md': configuration(),
  'connectors.md': connectors(),
  'errors.md': errors(),
  'openapi.json': `${jsonText(api)}\n`,
  'page-scripts.md': pageScripts(),
  'postman.json': `${jsonText(postman(api as unknown as OpenApi))}\n`,
  'provider-events.md': providerEvents(),
  'requests.md': requests(),
  'roles.md': roles(),
  'settings.md': settings(),
  'states.md': states(),
  'states.svg': statesDiagram(),
});

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, text] of Object.entries(documents())) await writeFile(new URL(name, import.meta.url), text);
}
