/** Callbacks of many more payments in two processes. */
import './callback-bytes.test.ts';
