/** More endpoints that hang, after they have failed twice. */
import './delivery-many.test.ts';
