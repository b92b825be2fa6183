/** `npm run plugin`: writes the generated files of the plugin, and the archive that a shop installs. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generated, PLUGIN, packaged, SLUG } from './files.ts';
import { zip } from './zip.ts';

for (const [path, text] of generated()) writeFileSync(join(PLUGIN, path), text);
const archive = join(PLUGIN, 'dist', `${SLUG}.zip`);
mkdirSync(join(PLUGIN, 'dist'), { recursive: true });
writeFileSync(archive, zip(packaged()));
console.log(archive);
