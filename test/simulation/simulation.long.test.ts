/** The same with more seeds. */
import './simulation.test.ts';
