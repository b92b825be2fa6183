/** The package as npm packs it: its files, its types for a strict consumer, and a request from compiled code. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openShop } from '../support/gateway.ts';
import { ROOT } from '../support/process.ts';

const shop = openShop();

const PROGRAM = `
import { type CheckoutPayment, NotFoundError, Turnpike } from '@turnpike-pay/client';

const [url = '', merchantKey = '', password = ''] = process.argv.slice(2);
const turnpike = new Turnpike({ url, merchantKey, password });
const find = (order_id: string): Promise<CheckoutPayment> => turnpike.checkout.status({ order_id });
try {
  await find('none');
} catch (error) {
  console.log(error instanceof NotFoundError && error.reason);
}
`;

test('the package has no more than it needs, and works without this repository', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-package-'));
  try {
    const packed = execFileSync('npm', ['pack', '-w', 'client', '--json', '--pack-destination', folder], { cwd: ROOT });
    const text = String(packed);
    const listing = JSON.parse(text.slice(text.indexOf('\n[') + 1 || text.indexOf('\n{') + 1));
    const [{ filename, files }] = Object.values(listing) as [{ filename: string; files: { path: string }[] }];
    expect(files.map(({ path }) => path.replace(/^dist\/\w+\.(js|d\.ts)$/, 'dist/…'))).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'dist/…', 'package.json', 'php/Turnpike.php']),
    );
    expect(files.filter(({ path }) => path.startsWith('src/') || path.includes('write'))).toEqual([]);
    const home = join(folder, 'node_modules/@turnpike-pay/client');
    await mkdir(home, { recursive: true });
    execFileSync('tar', ['-xzf', join(folder, filename), '--strip-components=1', '-C', home]);
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await writeFile(join(folder, 'program.ts'), PROGRAM);
    const options = { module: 'nodenext', target: 'es2022', strict: true, types: ['node'] };
    const compilerOptions = { ...options, typeRoots: [join(ROOT, 'node_modules/@types')] };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
    execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder], { stdio: 'inherit' });
    const { merchant_key, password } = shop.merchant;
    const args = [join(folder, 'program.js'), shop.url, merchant_key, password];
    expect((await promisify(execFile)(process.execPath, args)).stdout).toBe('unknownOrder\n');
  } finally {
    await rm(folder, { recursive: true });
  }
}, 300_000);
