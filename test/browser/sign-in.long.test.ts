/** Signing in, and every page of it on a phone and a desktop, in the light and in the dark. */
import './sign-in.test.ts';
