/** The same with more callbacks. */
import './claims.test.ts';
