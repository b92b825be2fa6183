/** The same with more callbacks. */
import './callback-claims.test.ts';
