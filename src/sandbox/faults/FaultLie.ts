/**
 * The participant prepares something else than it was asked for, as one would that wants a signature for it. For
 * `…/prepare`; other requests are not harmed. What a client should do: sign nothing.
 *
 * @example
 * ```ts
 * import { startSandbox } from 'canton-rx/sandbox';
 *
 * const sandbox = await startSandbox();
 * const mallory = sandbox.externalParty('mallory');
 * const where = { path: '/v2/interactive-submission/prepare' };
 * sandbox.fault({ kind: 'lie', about: 'transaction' }, where); // ten is nine hundred and ten
 * const steal = (request: unknown): unknown => ({ ...Object(request), actAs: [mallory.party] });
 * sandbox.fault({ kind: 'lie', about: 'both', instead: steal }, where);
 * await sandbox.close();
 * ```
 */
export interface FaultLie {
  /** Tells the faults apart. */
  readonly kind: 'lie';
  /**
   * What lies. `'transaction'`: the transaction is another, its hash is that of the one asked for. `'hash'`: the other way
   * round. `'both'`: the transaction is another and the hash is its own, so that only who reads the transaction notices;
   * once signed, it is executed.
   */
  readonly about: 'transaction' | 'hash' | 'both';
  /**
   * The prepare request that the answer is for, made from the one that came. By default the first number among the
   * arguments of a create has a 9 before it, and where there is none, the command id is another. If the ledger would
   * refuse that request, the client gets the refusal; if the function throws, a 400 in plain text that does not tell why.
   *
   * @param request - the parsed request, a copy that may be changed and returned
   */
  readonly instead?: (request: unknown) => unknown;
}
