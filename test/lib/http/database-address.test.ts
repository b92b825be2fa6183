/** Addresses of a database with several hosts. */
import { expect, test } from 'vitest';
import { singleHostAddresses } from '../../../src/lib/http/database-address.ts';

test.each([
  ['postgres://u:p%2Cq@a:1,b:2/d?x=1,2', ['postgres://u:p%2Cq@a:1/d?x=1,2', 'postgres://u:p%2Cq@b:2/d?x=1,2']],
  ['postgresql://a,[::1]:5433,c', ['postgresql://a', 'postgresql://[::1]:5433', 'postgresql://c']],
  ['postgres://u:a,b@host/d', ['postgres://u:a,b@host/d']],
  ['postgres://u@host/a,b', ['postgres://u@host/a,b']],
  ['/var/run/postgresql a,b', ['/var/run/postgresql a,b']],
  ['', ['']],
])('%s', (address, addresses) => {
  expect(singleHostAddresses(address)).toEqual(addresses);
});
