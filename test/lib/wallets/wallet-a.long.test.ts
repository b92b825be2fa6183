/** The whole size of the tests of wallet-a: every byte is changed. */
import './wallet-a.test.ts';
