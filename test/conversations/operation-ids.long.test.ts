/** Ids of operations, with more rounds of each race. */
import './operation-ids.test.ts';
