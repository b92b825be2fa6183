/** Keeps recent API calls of merchants: a bounded buffer in memory, masked and written in batches off the request path. */
import { setImmediate as immediate } from 'node:timers/promises';
import { isUuid, newId } from '../../lib/crypto/id.ts';
import { createRateLimit } from '../../lib/flow/rate-limit.ts';
import { isObject } from '../../lib/text/json.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { ApiCall, CallExplanation, CallRecorder, FinishedCall, Gateway, MerchantCall } from '../context.ts';
import { explain } from '../explain/explain.ts';
import type { RequestBody } from '../requests/body.ts';
import { type Mask, maskedAnswer, maskedRequest, maskedSignedText, maskFor } from './mask.ts';

interface Waiting {
  call: MerchantCall;
  bytes: number;
  compose: () => ApiCall;
}

const SWEPT_AT_A_TIME = 1000;
/** A body above this size is masked at once, so that the buffer does not hold it. */
const HELD_BYTES = 16 * 1024;
/** Calls whose account is not known share one rate. */
const NO_ACCOUNT = '-';
const ALL_ACCOUNTS = '';

export function createCallRecorder(gateway: Gateway): CallRecorder {
  const keepRate = createRateLimit(LIMITS.apiCallsBurstMs, LIMITS.rateNamesMost);
  const explainRate = createRateLimit(LIMITS.apiCallsBurstMs, LIMITS.rateNamesMost);
  let waiting: Waiting[] = [];
  let waitingBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  /** Accounts that got calls since the last sweep. */
  const touched = new Set<string | null>();

  const isSampled = (account: string): boolean =>
    keepRate(account, LIMITS.apiCallsPerAccount) === undefined &&
    keepRate(ALL_ACCOUNTS, LIMITS.apiCallsPerProcess) === undefined;

  /** The search for a mistake is expensive, so that only some wrong hashes are explained. */
  const isExplained = ({ error, account }: MerchantCall): boolean =>
    error === 'wrongHash' &&
    account !== undefined &&
    explainRate(account.mid, LIMITS.explainedPerAccount) === undefined &&
    explainRate(ALL_ACCOUNTS, LIMITS.explainedPerProcess) === undefined;

  const schedule = (): void => {
    timer ??= setTimeout(() => void flush(), LIMITS.apiCallsWriteMs).unref();
  };

  async function write(batch: readonly Waiting[]): Promise<void> {
    try {
      const rows: ApiCall[] = [];
      for (const { call, compose } of batch) {
        // Masking takes a while, so that requests are processed between two calls.
        await immediate();
        rows.push({ ...compose(), explanation: isExplained(call) ? await explanationOf(gateway, call) : null });
      }
      await gateway.apiCalls.insert(rows);
      for (const { mid } of rows) touched.add(mid);
    } catch (error) {
      gateway.metrics.callsNotKept('failed', batch.length);
      gateway.log.warn({ err: error }, 'API calls could not be kept');
    }
  }

  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const batch = waiting.slice(0, LIMITS.apiCallsBatch);
    waiting = waiting.slice(batch.length);
    for (const { bytes } of batch) waitingBytes -= bytes;
    // The rest waits for the next pause, which bounds the time that calls take from requests.
    if (waiting.length > 0) schedule();
    if (batch.length > 0) writing = writing.then(() => write(batch));
    return writing;
  };

  return {
    flush,
    offer(call, finished) {
      const isKept =
        (call.error !== undefined && call.account !== undefined) || isSampled(call.account?.mid ?? NO_ACCOUNT);
      if (!isKept) return gateway.metrics.callsNotKept('sampled', 1);
      const facts = finished();
      const bytes = Math.min(facts.bytes, HELD_BYTES);
      if (waiting.length >= LIMITS.apiCallsWaiting || waitingBytes + bytes > LIMITS.apiCallsWaitingBytes) {
        return gateway.metrics.callsNotKept('overload', 1);
      }
      const [callId, at] = [newId(), gateway.clock.real()];
      const compose = (): ApiCall => composeCall(call, facts, callId, at);
      const { body: _body, ...withoutBody } = call;
      if (facts.bytes <= HELD_BYTES) waiting.push({ call, bytes, compose });
      else {
        const row = compose();
        waiting.push({ call: withoutBody, bytes, compose: () => row });
      }
      waitingBytes += bytes;
      schedule();
    },
    async sweep(isStopped) {
      for (const mid of [...touched]) {
        if (isStopped()) return;
        touched.delete(mid);
        while ((await gateway.apiCalls.prune(mid, LIMITS.apiCallsKeptMost, SWEPT_AT_A_TIME)) >= SWEPT_AT_A_TIME);
      }
    },
    async close() {
      while (waiting.length > 0) await flush();
      clearTimeout(timer);
      await writing;
    },
  };
}

function composeCall(call: MerchantCall, facts: FinishedCall, callId: string, at: number): ApiCall {
  const { account, body, protocol, action = 'unknown', error, answer } = call;
  const mask = maskFor(account);
  const kept = (value: string): string | null => (value !== '' && mask(value) === value ? value : null);
  const { requestId, address, status, tookMs } = facts;
  return {
    mid: account?.mid ?? null,
    callId,
    at,
    requestId,
    protocol,
    action,
    address,
    orderId: body ? kept(body.value('order_id') || body.value('order.number')) : null,
    paymentId: kept(paymentIdOf(answer, body)),
    status,
    error: error ?? null,
    tookMs: Math.round(tookMs),
    request: body ? maskedRequest(body, mask) : [],
    answer: maskedAnswer(answer),
    explanation: null,
  };
}

const UUID = /[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}/i;

/** The payment that the call opened or asked about; a session answers with the address of its payment page only. */
function paymentIdOf(answer: unknown, body: RequestBody | undefined): string {
  const { trans_id, payment_id, redirect_url } = isObject(answer) ? answer : {};
  const [inAddress] = UUID.exec(typeof redirect_url === 'string' ? redirect_url : '') ?? [];
  const candidates = [trans_id, payment_id, body?.value('trans_id'), body?.value('payment_id'), inAddress];
  return (candidates.find((id) => typeof id === 'string' && isUuid(id)) as string | undefined) ?? '';
}

/** What the hash debugger finds, without digests; computed now, because the hash itself is not kept. */
async function explanationOf(gateway: Gateway, call: MerchantCall): Promise<CallExplanation | null> {
  const { account, body, operation, protocol, action } = call;
  if (!account || !body || !operation || action === undefined) return null;
  const { value, isNested, isText, texts, problems, cardText } = body;
  const {
    alternatives,
    fields,
    mistakes,
    hints,
    recipe,
    signedText: explained,
  } = await explain(gateway, { mid: account.mid, mids: null, showsDigests: false }, () => ({
    protocol,
    candidates: [
      {
        action,
        operation,
        value: value.bind(body),
        isNested: isNested.bind(body),
        isText: isText.bind(body),
        cardText,
      },
    ],
    texts: texts.bind(body),
    problems,
  }));
  const mask: Mask = maskFor(account);
  const shown = fields.map(({ name, value: text }) => ({ name, value: mask(text) }));
  // The text of the recipe reversed_md5 is not that of its fields one after another.
  const signedText =
    recipe === 'reversed_md5'
      ? mask(explained)
      : maskedSignedText(
          fields.map(({ value: text }) => text),
          mask,
        );
  return { action, alternatives, fields: shown, signedText, mistakes, hints: hints.map(mask) };
}
