/** The samples of the docs in languages that are compiled first. */
import { testSamples } from '../support/samples.ts';

testSamples('java', 'go', 'csharp');
