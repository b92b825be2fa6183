/** More altered requests. */
import './requests.test.ts';
