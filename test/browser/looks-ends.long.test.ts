/** The pages of waiting and of ends, in all languages and sizes, with screenshots. */
import './looks-ends.test.ts';
