/** The embedded database, also with several first starts at the same moment. */
import './embedded.test.ts';
