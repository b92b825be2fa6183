/** Requests in turn, with more of them and with packets split at every byte. */
import './requests-in-turn.test.ts';
