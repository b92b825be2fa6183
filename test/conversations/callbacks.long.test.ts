/** Every case of a callback. */
import './callbacks.test.ts';
