/** Every fault of every brand. */
import './unknown-outcomes.test.ts';
