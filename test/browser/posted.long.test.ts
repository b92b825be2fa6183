/** Payers who come back from a provider that wants a form, too early or by the back button. */
import './posted.test.ts';
