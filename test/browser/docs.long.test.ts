/** More pages of the docs site, in the light and in the dark. */
import './docs.test.ts';
