/** Which browser the browser tests get, and what becomes of them without one. */
import { expect, test } from 'vitest';
import { browserTestMode, chooseChromium, type Machine } from './chromium.ts';

const machine = (parts: Partial<Machine>, ...there: string[]): Machine => ({
  env: { PATH: '/opt/bin:/bin' },
  platform: 'linux',
  arch: 'x64',
  exists: (path) => there.includes(path),
  ...parts,
});

test('a browser of this machine is taken, the first one on the path', () => {
  expect(chooseChromium(machine({}, '/usr/bin/chromium', '/opt/bin/google-chrome'))).toEqual({
    path: '/opt/bin/google-chrome',
  });
  expect(chooseChromium(machine({ arch: 'arm64' }, '/usr/bin/chromium'))).toEqual({ path: '/usr/bin/chromium' });
});

test('without one, x64 Linux has the one of npm, and other machines have none', () => {
  expect(chooseChromium(machine({}))).toBe('npm');
  expect(chooseChromium(machine({ arch: 'arm64' }))).toBeUndefined();
  expect(chooseChromium(machine({ platform: 'darwin' }))).toBeUndefined();
});

test('CHROMIUM_PATH goes before all others, and is no browser where nothing is', () => {
  const env = { PATH: '/bin', CHROMIUM_PATH: '/home/ada/chromium' };
  expect(chooseChromium(machine({ env }, '/usr/bin/chromium', '/home/ada/chromium'))).toEqual({
    path: '/home/ada/chromium',
  });
  expect(chooseChromium(machine({ env }, '/usr/bin/chromium'))).toBeUndefined();
});

test.each([
  [true, {}, 'run'],
  [true, { CI: 'true' }, 'run'],
  [false, {}, 'skip'],
  [false, { CI: '' }, 'skip'],
  [false, { CI: 'false' }, 'skip'],
  [false, { CI: 'true' }, 'fail'],
  [false, { CI: '1' }, 'fail'],
] as const)('with a browser %j and variables %j the browser tests %s', (hasChromium, env, mode) => {
  expect(browserTestMode(hasChromium, env)).toBe(mode);
});
