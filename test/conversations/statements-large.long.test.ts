/** The same with a million entries. */
import './statements-large.test.ts';
