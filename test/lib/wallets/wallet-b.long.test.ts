/** The whole size of the tests of wallet-b: every byte is changed. */
import './wallet-b.test.ts';
