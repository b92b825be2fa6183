/** The conformance kit: what every connector has to do, against a double of its provider. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type ChargebackFields,
  type Connector,
  type NotificationMeaning,
  NotSent,
  type OperationOutcome,
  type Outcome,
  type ProviderNotification,
  type ProviderOperation,
  type Submission,
} from '../../src/connectors/connector.ts';
import { Deadline } from '../../src/lib/time/deadline.ts';
import { REFUSED_EMAIL, testOperation, testSubmission } from '../support/submissions.ts';

/** A webhook as the provider sends it. */
export interface Webhook {
  headers: Record<string, string>;
  body: Buffer;
}

export type Fault = 'lost_before' | 'lost_after' | 'error_500' | 'rate_limited';

interface AfterSale {
  /** The bank sends back a refund that was done. */
  reverseRefund(submission: Submission, refund: ProviderOperation): Promise<void> | void;
  /** The bank takes a part of the amount. */
  dispute(submission: Submission, amount: bigint): Promise<void> | void;
  /** The dispute is decided for the merchant. */
  winDispute(submission: Submission): Promise<void> | void;
  /** The operator captures a part of an authorisation, or refunds one of a sale, in the provider's own dashboard. */
  captureElsewhere(submission: Submission, amount: bigint): Promise<void> | void;
  refundElsewhere(submission: Submission, amount: bigint): Promise<void> | void;
}

/** A double of a provider: a server that speaks its protocol, and keeps books of the money that it moved. */
export interface ProviderDouble {
  connector: Connector;
  /** What a submission has to contain for this outcome; may also prepare the double for it. */
  submission(outcome: 'success' | 'decline' | 'redirect'): Partial<Submission>;
  /** The next call of the connector that moves money meets this fault. */
  fault(fault: Fault): Promise<void> | void;
  /** The next operation is answered as pending, and reported by a webhook. Omitted if there is no such thing. */
  delayOperation?(): Promise<void> | void;
  /** The payer pays at the provider; returns what the payer brings back to the return address. */
  pay(outcome: Extract<Outcome, { kind: 'redirected' }>): Promise<Record<string, string>>;
  /** The money that the provider holds for a submission, in minor units: captured less refunded. */
  balance(submission: Submission): Promise<bigint> | bigint;
  /** The webhooks that were sent since the last call; waits until there is one. */
  webhooks(): Promise<Webhook[]>;
  /** One webhook with the events of several; omitted if the provider sends one event at a time. */
  combine?(webhooks: readonly Webhook[]): Webhook;
  /** False if webhooks have no signature; they must then carry no outcome. */
  isSigned: boolean;
  /** The signature is in the body, not in a header. */
  isSignedInBody?: true;
  /** What happens at the provider after the sale; each of these is reported by webhooks. */
  afterSale?: AfterSale;
  /** The webhook as it is signed while the secret is changed; the connector then has both secrets, if it needs them. */
  signedDuringRotation?(webhook: Webhook): Webhook;
  /** A method that the provider charges at once, although an authorisation is requested. */
  unheld?: Partial<Submission>;
  /** Every payment is made on the provider's page: `success` and `decline` are what the payer does there. */
  isHosted?: true;
  close(): Promise<void>;
}

/** Parts that a provider does not have, such as `authorise` for one that only settles. */
export type Skip = 'authorise' | 'partialCapture' | 'redirect' | 'refund';

const soon = (): Deadline => new Deadline(30_000);
type Answer = Exclude<Outcome, { kind: 'notFound' }>;

/** What a later call gets, as the gateway stores it. */
const remember = <Call extends Submission | ProviderOperation>(call: Call, outcome: Outcome): Call => {
  const { providerReference, state, secretState } = outcome as Answer;
  return {
    ...call,
    ...(providerReference !== undefined && { providerReference }),
    ...(state && { state }),
    ...(secretState && { secretState }),
  };
};

/** Declares the tests of a connector; call it at the top level of a test file. */
export function conforms(name: string, makeDouble: () => Promise<ProviderDouble>, skips: readonly Skip[] = []): void {
  const without = (skip: Skip) => test.skipIf(skips.includes(skip));

  describe(`${name} conforms`, () => {
    let double: ProviderDouble;
    beforeAll(async () => {
      double = await makeDouble();
    });
    afterAll(() => double?.close());

    const compose = (outcome: 'success' | 'decline' | 'redirect', changes: Partial<Submission> = {}): Submission =>
      testSubmission({ ...double.submission(outcome), ...changes });
    const submit = async (submission: Submission): Promise<[Submission, Outcome]> => {
      const outcome = await double.connector.submit(submission, soon());
      return [remember(submission, outcome), outcome];
    };
    const resume = async (submission: Submission, returned: Record<string, string>): Promise<Outcome> =>
      double.connector.resume
        ? double.connector.resume(submission, returned, soon())
        : double.connector.query(submission, soon());
    /** Submits a payment; the payer finishes it on the provider's page if all payments are made there. */
    const submitAndFinish = async (wanted: Submission): Promise<[Submission, Outcome]> => {
      const [submission, outcome] = await submit(wanted);
      if (!double.isHosted || outcome.kind !== 'redirected') return [submission, outcome];
      const resumed = await resume(submission, await double.pay(outcome));
      return [remember(submission, resumed), resumed];
    };
    const paid = async (changes: Partial<Submission> = {}): Promise<Submission> => {
      const [submission, outcome] = await submitAndFinish(compose('success', changes));
      expect(outcome.kind).toBe(submission.authoriseOnly ? 'authorised' : 'settled');
      return submission;
    };
    const operation = (
      submission: Submission,
      verb: ProviderOperation['verb'],
      amount = submission.amount,
    ): ProviderOperation =>
      testOperation({
        verb,
        amount,
        reference: submission.reference,
        providerReference: submission.providerReference,
        state: submission.state,
        secretState: submission.secretState,
        brand: submission.brand,
        currency: submission.currency,
        paymentAmount: submission.amount,
        notifyUrl: submission.notifyUrl,
      });
    /** The outcomes of operations that webhooks reported, by our id of the operation. */
    const reported = new Map<string, OperationOutcome>();
    /** Performs an operation; an outcome that comes later is awaited. */
    const operate = async (wanted: ProviderOperation): Promise<OperationOutcome> => {
      const answer = await double.connector.operate(wanted, soon());
      if (answer.kind !== 'accepted') return answer;
      if (!reported.has(wanted.operation)) {
        const event = (await receive()).find(
          ({ operation: ours, operationReference }) =>
            ours === wanted.operation || (operationReference ?? '') === (answer.operationReference ?? '?'),
        );
        const meaning = event && double.connector.interpretNotification(event.body, { authoriseOnly: false });
        if (meaning?.kind === 'operation') reported.set(wanted.operation, meaning.outcome);
      }
      return reported.get(wanted.operation) ?? answer;
    };
    const receive = async (): Promise<ProviderNotification[]> =>
      (await Promise.all((await double.webhooks()).map(read))).flatMap((events) => events ?? []);
    /** Queries, if the provider can be queried: the gateway does not query another one. */
    const query = async (submission: Submission): Promise<Outcome | undefined> =>
      double.connector.capabilities.supportsQueries ? double.connector.query(submission, soon()) : undefined;
    const readAt = async ({ headers, body }: Webhook, now: number): Promise<ProviderNotification[] | undefined> =>
      double.connector.readNotifications(headers, body, now);
    const read = (webhook: Webhook): Promise<ProviderNotification[] | undefined> => readAt(webhook, Date.now());
    /** What a notification says about a submission; `ask` and `returned` call the connector, as the gateway does it. */
    const meaningFor = async (event: ProviderNotification, submission: Submission): Promise<NotificationMeaning> => {
      const meaning = double.connector.interpretNotification(event.body, submission);
      if (meaning?.kind === 'returned') return resume(submission, {});
      return meaning?.kind === 'ask' ? double.connector.query(submission, soon()) : meaning;
    };
    const isAbout = ({ reference, providerReference }: ProviderNotification, submission: Submission): boolean =>
      reference === submission.reference || (providerReference ?? '') === (submission.providerReference ?? '?');

    test('settles a payment once, with its amount, and finds it again', async () => {
      const submission = await paid();
      expect(await double.balance(submission)).toBe(submission.amount);
      const queried = await query(submission);
      if (!queried) return;
      expect(queried).toMatchObject({ kind: 'settled' });
      const { reportedAmount } = queried as Answer;
      if (reportedAmount !== undefined)
        expect(reportedAmount).toEqual({ amount: submission.amount, currency: submission.currency });
    });

    test('a repeated submission moves no money twice', async () => {
      if (!double.connector.capabilities.isIdempotent) return;
      const submission = await paid();
      const [, outcome] = await submitAndFinish(submission);
      expect(outcome).toMatchObject({ kind: 'settled' });
      expect(await double.balance(submission)).toBe(submission.amount);
    });

    test('declines with a reason, and moves no money', async () => {
      const [submission, outcome] = await submitAndFinish(compose('decline'));
      expect(outcome).toMatchObject({ kind: 'declined', reason: expect.stringMatching(/./) });
      expect(await double.balance(submission)).toBe(0n);
      expect((await query(submission)) ?? outcome).toMatchObject({ kind: 'declined' });
    });

    test('does not know a payment that was never submitted', async () => {
      const outcome = await double.connector.query(compose('success'), soon());
      expect(['notFound', 'unknown', ...(double.isHosted ? ['redirected'] : [])]).toContain(outcome.kind);
    });

    test('ends a payment that waits for its payer, if it declares that, but not one that was paid', async () => {
      const { withdraw, capabilities } = double.connector;
      expect(withdraw !== undefined).toBe(capabilities.supportsWithdrawals === true);
      if (!withdraw) return;
      const [waiting, outcome] = await submit(compose('redirect'));
      let left = waiting;
      for (const _ of ['first', 'repeated']) {
        const withdrawn = await withdraw(left, 'cancelledByPayer', soon());
        expect(withdrawn).toMatchObject({ kind: 'declined' });
        left = remember(left, withdrawn);
      }
      if (outcome.kind === 'redirected') await double.pay(outcome);
      expect([await double.balance(left), (await query(left))?.kind]).toEqual([0n, 'declined']);
      const settled = await paid();
      expect(await withdraw(settled, 'outOfTime', soon())).toMatchObject({ kind: 'settled' });
      expect(await double.balance(settled)).toBe(settled.amount);
    });

    without('authorise')('authorises, then captures all', async () => {
      const submission = await paid({ authoriseOnly: true });
      expect(await double.balance(submission)).toBe(0n);
      expect(await operate(operation(submission, 'capture'))).toMatchObject({ kind: 'done' });
      expect(await double.balance(submission)).toBe(submission.amount);
    });

    without('partialCapture')('captures a part', async () => {
      const submission = await paid({ authoriseOnly: true });
      expect(await operate(operation(submission, 'capture', 400n))).toMatchObject({ kind: 'done' });
      expect(await double.balance(submission)).toBe(400n);
    });

    without('authorise')('voids an authorisation, which cannot be captured then', async () => {
      const submission = await paid({ authoriseOnly: true });
      expect(await operate(operation(submission, 'void'))).toMatchObject({ kind: 'done' });
      expect(await operate(operation(submission, 'capture'))).toMatchObject({ kind: 'declined' });
      expect(await double.balance(submission)).toBe(0n);
    });

    without('refund')('refunds parts up to the whole, each once, and no more', async () => {
      const submission = await paid();
      const part = operation(submission, 'refund', 300n);
      expect(await operate(part)).toMatchObject({ kind: 'done' });
      expect(await operate(part)).toMatchObject({ kind: 'done' });
      expect(await double.balance(submission)).toBe(700n);
      expect(await operate(operation(submission, 'refund', 701n))).toMatchObject({ kind: 'declined' });
      expect(await operate(operation(submission, 'refund', 700n))).toMatchObject({ kind: 'done' });
      expect(await double.balance(submission)).toBe(0n);
    });

    without('redirect')('sends the payer to the provider; the return and the webhook bring the outcome', async () => {
      const [submission, outcome] = await submit(compose('redirect'));
      expect(outcome).toMatchObject({ kind: 'redirected', url: expect.stringMatching(/^https?:/) });
      const returned = await double.pay(outcome as Extract<Outcome, { kind: 'redirected' }>);
      const resumed = await resume(submission, returned);
      expect(resumed).toMatchObject({ kind: 'settled' });
      const later = remember(submission, resumed);
      const events = await receive();
      const own = events.filter((event) => isAbout(event, later));
      expect(own.length).toBeGreaterThan(0);
      // In any order: each webhook is interpreted by itself. Some providers report the capture of a sale, too.
      for (const event of own.toReversed())
        expect([undefined, 'settled', 'accepted', 'unknown', 'operation']).toContain(
          (await meaningFor(event, later))?.kind,
        );
      const kinds = await Promise.all(own.map(async (event) => (await meaningFor(event, later))?.kind));
      expect(kinds).toContain('settled');
    });

    without('redirect')('webhooks: repeated, several at once, with a wrong signature', async () => {
      const sent: Webhook[] = [];
      for (const _ of [1, 2]) {
        const [, outcome] = await submit(compose('redirect'));
        await double.pay(outcome as Extract<Outcome, { kind: 'redirected' }>);
        sent.push(...(await double.webhooks()));
      }
      const [first] = sent as [Webhook];
      const ids = (events: ProviderNotification[] | undefined) => events?.map(({ eventId }) => eventId);
      // A webhook without a signature has no id of its own: it is the same one only if it arrived at the same moment.
      const now = Date.now();
      const expected = ids(await readAt(first, now));
      expect(expected?.length).toBeGreaterThan(0);
      expect(ids(await readAt(first, double.isSigned ? now + 1 : now))).toEqual(expected);
      const all = (await Promise.all(sent.map(read))).flatMap((events) => ids(events) ?? []);
      expect(new Set(all).size).toBe(all.length);
      if (double.combine) {
        const [one, other] = [sent[0], sent.at(-1)] as [Webhook, Webhook];
        const together = ids(await read(double.combine([one, other])));
        expect(together).toEqual([...(ids(await read(one)) ?? []), ...(ids(await read(other)) ?? [])]);
      }
      if (!double.isSigned) {
        for (const event of (await read(first)) ?? [])
          expect(double.connector.interpretNotification(event.body, { authoriseOnly: false })?.kind).toBe('ask');
        return;
      }
      const forged = Buffer.from(
        first.body.toString().replace(/\d(?=\D*$)/, (digit) => String((Number(digit) + 1) % 10)),
      );
      expect(forged).not.toEqual(first.body);
      expect(await read({ ...first, body: forged })).toBeUndefined();
      if (!double.isSignedInBody) expect(await read({ headers: {}, body: first.body })).toBeUndefined();
      expect(await read({ ...first, body: Buffer.from('no webhook') })).toBeUndefined();
    });

    test.each(['lost_before', 'lost_after'] as const)('an answer that is %s is found again', async (fault) => {
      const submission = compose('success');
      await double.fault(fault);
      const error = await Promise.resolve(double.connector.submit(submission, soon())).then(
        (outcome) => (outcome.kind === 'unknown' ? undefined : outcome),
        (thrown) => thrown,
      );
      // Not sent means that another connection may take the payment: right for a page whose address no payer has.
      if (!double.isHosted) expect(error).not.toBeInstanceOf(NotSent);
      const queried = await query(submission);
      if (queried && queried.kind !== 'settled') {
        expect(['notFound', 'unknown', ...(double.isHosted ? ['redirected'] : [])]).toContain(queried.kind);
        expect(await double.balance(submission)).toBe(0n);
      }
      const [, outcome] = await submitAndFinish(submission);
      expect(outcome).toMatchObject({ kind: 'settled' });
      expect(await double.balance(submission)).toBe(submission.amount);
    });

    test('a server error leaves the outcome unknown', async () => {
      const submission = compose('success');
      await double.fault('error_500');
      const outcome = await Promise.resolve(double.connector.submit(submission, soon())).catch((thrown) => thrown);
      if (outcome instanceof Error) expect(outcome instanceof NotSent).toBe(double.isHosted === true);
      else expect(outcome.kind).toBe('unknown');
    });

    test('a rate limit means that nothing was processed', async () => {
      const submission = compose('success');
      await double.fault('rate_limited');
      await expect(async () => double.connector.submit(submission, soon())).rejects.toBeInstanceOf(NotSent);
      expect(await double.balance(submission)).toBe(0n);
    });

    test('after a rate limit the same submission succeeds, once', async () => {
      const submission = compose('success');
      await double.fault('rate_limited');
      await expect(async () => double.connector.submit(submission, soon())).rejects.toBeInstanceOf(NotSent);
      const [, outcome] = await submitAndFinish(submission);
      expect(outcome).toMatchObject({ kind: 'settled' });
      expect(await double.balance(submission)).toBe(submission.amount);
    });

    test.each(['n/a', REFUSED_EMAIL])('the e-mail address %s does not cost the payment', async (email) => {
      const address = { address: 'Hauptstraße 1', city: 'Berlin', zip: '10115', country: 'de' };
      const payer = { first_name: 'A', last_name: 'Rao', ...address, email };
      const [submission, outcome] = await submitAndFinish(compose('success', { payer }));
      expect(outcome).toMatchObject({ kind: 'settled' });
      expect(await double.balance(submission)).toBe(submission.amount);
    });

    test('a method that cannot be held is not authorised', async ({ skip }) => {
      if (!double.unheld) return skip();
      const submission = compose('success', { ...double.unheld, authoriseOnly: true });
      expect(await double.connector.submit(submission, soon())).toMatchObject({ kind: 'declined', isSoft: true });
      expect(await double.balance(submission)).toBe(0n);
    });

    /** What the webhooks since the last call say about a submission. */
    const reports = async (submission: Submission): Promise<NotificationMeaning[]> => {
      const events = (await receive()).filter((event) => isAbout(event, submission));
      return Promise.all(events.map((event) => meaningFor(event, submission)));
    };
    /** The chargebacks in those webhooks: each is an event of its own, or one of those that a query reports. */
    const chargebacks = async (submission: Submission) =>
      (await reports(submission)).flatMap((meaning): (ChargebackFields & { isReversed: boolean })[] => {
        if (meaning?.kind === 'settled') return [...(meaning.chargebacks ?? [])];
        if (meaning?.kind === 'chargedBack') return [{ ...meaning, isReversed: false }];
        return meaning?.kind === 'chargebackReversed' ? [{ ...meaning, isReversed: true }] : [];
      });
    const amountOf = (reported: unknown) => (reported as { amount?: bigint } | undefined)?.amount;

    without('refund')('a stored server error does not block an operation', async () => {
      const submission = await paid();
      const wanted = operation(submission, 'refund', 300n);
      await double.fault('error_500');
      await expect(async () => operate(wanted)).rejects.toThrow();
      const queried = await double.connector.queryOperation(wanted, soon());
      if (queried.kind !== 'done') expect(await operate(wanted)).toMatchObject({ kind: 'done' });
      expect(await double.balance(submission)).toBe(700n);
    });

    without('refund')('a refund that is sent back later is reported as failed', async ({ skip }) => {
      if (!double.afterSale) return skip();
      const submission = await paid();
      const wanted = operation(submission, 'refund', 300n);
      expect(await operate(wanted)).toMatchObject({ kind: 'done' });
      await double.webhooks();
      await double.afterSale.reverseRefund(submission, wanted);
      const events = (await receive()).filter((event) => isAbout(event, submission));
      const meanings = events.map((event) => double.connector.interpretNotification(event.body, submission));
      const isAsked = meanings.some((meaning) => meaning?.kind === 'ask');
      const outcomes = meanings.map((meaning) => (meaning?.kind === 'operation' ? meaning.outcome.kind : undefined));
      const asked = isAsked ? (await double.connector.queryOperation(wanted, soon())).kind : undefined;
      expect([...outcomes, asked]).toContain('declined');
    });

    test('a dispute has its amount, and returns it when it is won', async ({ skip }) => {
      if (!double.afterSale) return skip();
      const submission = await paid();
      await double.webhooks();
      await double.afterSale.dispute(submission, 300n);
      expect((await chargebacks(submission)).map((one) => amountOf(one.chargedBack))).toEqual([300n]);
      await double.afterSale.winDispute(submission);
      expect(await chargebacks(submission)).toContainEqual(expect.objectContaining({ isReversed: true }));
    });

    without('partialCapture')(
      'a capture and a refund that were made elsewhere have their amounts',
      async ({ skip }) => {
        if (!double.afterSale) return skip();
        const held = await paid({ authoriseOnly: true });
        await double.webhooks();
        await double.afterSale.captureElsewhere(held, 400n);
        const captured = (await reports(held)).map((meaning) => {
          if (meaning?.kind === 'settled') return amountOf(meaning.captured);
          const isCapture =
            meaning?.kind === 'operation' && meaning.verb === 'capture' && meaning.outcome.kind === 'done';
          return isCapture ? amountOf((meaning.outcome as { reportedAmount?: unknown }).reportedAmount) : undefined;
        });
        expect(captured).toContain(400n);
        const settled = await paid();
        await double.webhooks();
        await double.afterSale.refundElsewhere(settled, 300n);
        const refunded = (await reports(settled)).map((meaning) => {
          if (meaning?.kind === 'settled') return amountOf(meaning.refunds?.[0]?.amount);
          const isRefund =
            meaning?.kind === 'operation' && meaning.verb === 'refund' && meaning.outcome.kind === 'done';
          return isRefund ? amountOf((meaning.outcome as { reportedAmount?: unknown }).reportedAmount) : undefined;
        });
        expect(refunded).toContain(300n);
      },
    );

    without('redirect')('webhooks are accepted while the secret is changed', async ({ skip }) => {
      if (!double.signedDuringRotation) return skip();
      const [, outcome] = await submit(compose('redirect'));
      await double.pay(outcome as Extract<Outcome, { kind: 'redirected' }>);
      const [webhook] = (await double.webhooks()) as [Webhook];
      const expected = (await read(webhook))?.map(({ eventId }) => eventId);
      const rotated = double.signedDuringRotation(webhook);
      expect((await read(rotated))?.map(({ eventId }) => eventId)).toEqual(expected);
    });

    test('nothing is sent after the deadline', async () => {
      const submission = compose('success');
      const late = new Deadline(10, 10_000);
      await expect(async () => double.connector.submit(submission, late)).rejects.toBeInstanceOf(NotSent);
      expect(await double.balance(submission)).toBe(0n);
    });

    without('refund')('an operation whose answer is lost is found again, and done once', async () => {
      const submission = await paid();
      const wanted = operation(submission, 'refund', 300n);
      await double.fault('lost_after');
      await expect(async () => operate(wanted)).rejects.toThrow();
      const queried = await double.connector.queryOperation(wanted, soon());
      if (queried.kind !== 'done') expect(await operate(wanted)).toMatchObject({ kind: 'done' });
      expect(await double.balance(submission)).toBe(700n);
    });

    without('refund')('the outcome of an operation arrives by webhook', async () => {
      if (!double.delayOperation) return;
      const submission = await paid();
      await double.delayOperation();
      const wanted = operation(submission, 'refund', 300n);
      const answer = await double.connector.operate(wanted, soon());
      expect(answer.kind).toBe('accepted');
      const { operationReference, operationState } = answer as Extract<OperationOutcome, { kind: 'accepted' }>;
      const events = await receive();
      const meanings = events
        .filter((event) => isAbout(event, submission))
        .map((event) => ({
          event,
          meaning: double.connector.interpretNotification(event.body, submission),
        }));
      const found = meanings.find(({ meaning }) => meaning?.kind === 'operation' || meaning?.kind === 'ask');
      expect(found).toBeDefined();
      if (found?.meaning?.kind === 'operation') {
        const { event, meaning } = found;
        expect(event.operation === wanted.operation || event.operationReference === operationReference).toBe(true);
        expect(meaning.outcome.kind).toBe('done');
      } else {
        const later = { ...wanted, operationReference, operationState: operationState ?? {} };
        expect(await double.connector.queryOperation(later, soon())).toMatchObject({ kind: 'done' });
      }
      expect(await double.balance(submission)).toBe(700n);
    });

    test('the check of the credentials succeeds', async () => {
      if (double.connector.check) expect(await double.connector.check(soon())).toMatchObject({ ok: true });
    });
  });
}
