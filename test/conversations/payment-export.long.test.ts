/** The export with more payments. */
import './payment-export.test.ts';
