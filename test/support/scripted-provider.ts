/** A fake provider whose answers a test scripts, and which records its calls. */
import type {
  Connector,
  OperationOutcome,
  Outcome,
  ProviderOperation,
  Submission,
} from '../../src/connectors/connector.ts';
import { interpretNotification } from '../../src/connectors/upstream.ts';
import type { Deadline } from '../../src/lib/time/deadline.ts';

type Reply<Result> = Result | Promise<Result>;

export interface Script {
  submit(submission: Submission, deadline: Deadline): Reply<Outcome>;
  query(submission: Submission): Reply<Outcome>;
  operate(operation: ProviderOperation, deadline: Deadline): Reply<OperationOutcome>;
  queryOperation(operation: ProviderOperation): Reply<OperationOutcome>;
}

export interface ScriptedProvider {
  connector: Connector;
  /** Sets the behaviour from now on; omitted members get the default. */
  does(script: Partial<Script>): void;
  /** The calls for a payment so far: `submit`, `query`, `void 1000`, `query void`. */
  calls(reference: string): string[];
}

/**
 * Without a script it authorises or settles what it receives, answers queries accordingly, and performs every
 * operation.
 */
const DEFAULT_SCRIPT: Script = {
  submit: ({ authoriseOnly }) => ({ kind: authoriseOnly ? 'authorised' : 'settled' }),
  query: ({ authoriseOnly }) => ({ kind: authoriseOnly ? 'authorised' : 'settled' }),
  operate: () => ({ kind: 'done' }),
  queryOperation: () => ({ kind: 'done' }),
};

export function scriptProvider(capabilities: Partial<Connector['capabilities']> = {}): ScriptedProvider {
  let script = DEFAULT_SCRIPT;
  const calls = new Map<string, string[]>();
  const record = (reference: string, call: string): void => {
    calls.set(reference, [...(calls.get(reference) ?? []), call]);
  };
  return {
    does(changed) {
      script = { ...DEFAULT_SCRIPT, ...changed };
    },
    calls: (reference) => calls.get(reference) ?? [],
    connector: {
      capabilities: {
        isIdempotent: true,
        supportsQueries: true,
        notFoundIsFinal: true,
        refunds: 'api',
        authentication: 'gateway',
        ...capabilities,
      },
      submit(submission, deadline) {
        record(submission.reference, 'submit');
        return script.submit(submission, deadline);
      },
      query(submission) {
        record(submission.reference, 'query');
        return script.query(submission);
      },
      operate(operation, deadline) {
        record(operation.reference, `${operation.verb} ${operation.amount}`);
        return script.operate(operation, deadline);
      },
      queryOperation(operation) {
        record(operation.reference, `query ${operation.verb}`);
        return script.queryOperation(operation);
      },
      readNotifications: () => undefined,
      interpretNotification,
    },
  };
}
