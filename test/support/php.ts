/** Whether PHP is installed; without it the tests of the PHP client are skipped, and a line says so. */
import { spawnSync } from 'node:child_process';

export const hasPhp = spawnSync('php', ['--version']).status === 0;
if (!hasPhp) console.warn('php is not installed: the tests of client/php/Turnpike.php are skipped.');
