/** The whole size of the fuzzed wallet tokens. */
import './fuzz.test.ts';
