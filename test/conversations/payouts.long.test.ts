/** Every brand of payouts. */
import './payouts.test.ts';
