/** The samples of the docs in languages that start fast. */
import { testSamples } from '../support/samples.ts';

testSamples('curl', 'typescript', 'python', 'php');
