/** Changes at the same time, in many more rounds. */
import './concurrent-changes.test.ts';
