/** A longer overload. */
import './overload.test.ts';
