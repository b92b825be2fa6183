/** The slow provider at its real pace, and three processes that pause for longer than their leases. */
import './slow-provider.test.ts';
