/** Every brand that asks its payer for something. */
import './fields.test.ts';
