/** The grammar of requests, with all of its generated requests. */
import './grammar.test.ts';
