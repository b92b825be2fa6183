/** The public interface of the client. */
export * from './callbacks.ts';
export * from './client.ts';
export {
  AuthenticationError,
  CallbackError,
  ConnectionError,
  DuplicateError,
  type ErrorProblem,
  type ErrorReason,
  InvalidRequestError,
  NotFoundError,
  StateError,
  TurnpikeError,
  UnavailableError,
} from './errors.ts';
export type * from './generated.ts';
export type { Handle, OnError } from './servers.ts';
export { type CardPayment, type Digest, isReversedCallback, sign, signReversed } from './sign.ts';
