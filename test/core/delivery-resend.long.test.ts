/** Thousands of callbacks are resent. */
import './delivery-resend.test.ts';
