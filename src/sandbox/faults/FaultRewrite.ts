/**
 * The request is processed, and its JSON answer goes out as a function makes it: with duplicates, out of order, with
 * elements of another range or of an unknown kind. Status and headers stay, errors in JSON are rewritten too, and an
 * answer that is no JSON goes out unchanged. Of a WebSocket each message is made over for itself.
 *
 * @example
 * ```ts
 * import { startSandbox } from 'canton-rx/sandbox';
 *
 * const sandbox = await startSandbox();
 * const twice = (answer: unknown) => (Array.isArray(answer) ? [...answer, ...answer] : answer);
 * sandbox.fault({ kind: 'rewrite', body: twice }, { path: '/v2/updates' });
 * await sandbox.close();
 * ```
 */
export interface FaultRewrite {
  /** Tells the faults apart. */
  readonly kind: 'rewrite';
  /**
   * Makes the body, or the message. A string goes out as it is, JSON or not; anything else as JSON. If it throws, or
   * returns what JSON has no form for, such as `undefined`, the client gets a 500 in plain text that does not tell why;
   * a WebSocket is closed with 1011.
   *
   * @param answer - the parsed answer or message, a copy that may be changed and returned
   */
  readonly body: (answer: unknown) => unknown;
}
