/** The order of the test files: the longest first, so that at the end no worker waits long for another one. */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, in their order. Without this list a new checkout would sort by the sizes of files. */
const LONGEST = [
  'core/payments/crash-points.long',
  'slow-provider.long',
  'cli/rotate-large-vault.long',
  'chaos/chaos.long',
  'cli/start.long',
  'browser/looks-forms.long',
  'core/settlements/five-years.long',
  'conversations/reconciliations-large.long',
  'conversations/statements-large.long',
  'browser/looks-ends.long',
  'core/callbacks/delivery-storm.long',
  'flood/flood.long',
  'browser/docs.long',
  'readme/first-payment.long',
  'simulation/simulation.long',
  'browser/wallets.long',
  'core/payments/races.long',
  'browser/panel.long',
  'lib/wallets/fuzz.long',
  'core/callbacks/delivery-resend.long',
  'fuzz/requests.long',
  'store/embedded/embedded.long',
  'overload.long',
  'simulation/simulation',
  'conversations/operations',
  'core/schedules/schedules',
  'browser/panel',
].map((name) => `test/${name}.test.ts`);

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ project, moduleId }: TestSpecification): number => {
      const place = LONGEST.indexOf(relative(project.config.root, moduleId));
      return place === -1 ? LONGEST.length : place;
    };
    const groupOf = ({ project }: TestSpecification): number => project.config.sequence.groupOrder;
    // The others keep the order that Vitest gives them: by their last duration, or else by size.
    return (await super.sort(files)).sort((a, b) => groupOf(a) - groupOf(b) || placeOf(a) - placeOf(b));
  }
}
