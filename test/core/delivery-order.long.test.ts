/** The order of callbacks, also with hundreds of endpoints. */
import './delivery-order.test.ts';
