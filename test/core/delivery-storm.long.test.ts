/** The storm with thousands of callbacks. */
import './delivery-storm.test.ts';
