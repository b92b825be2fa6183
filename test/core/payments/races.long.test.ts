/** Every race, often enough that each of its orders happens. */
import './races.test.ts';
