/** Pages that wait, also for the last minute and for an answer that never came. */
import './waiting.test.ts';
