/** The pages of choosing and filling in, in all languages and sizes, with screenshots. */
import './looks-forms.test.ts';
