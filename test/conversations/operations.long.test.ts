/** Operations, with every one of them on every dead line. */
import './operations.test.ts';
