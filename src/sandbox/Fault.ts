import type { FaultSocket, FaultStatus } from './FaultSocket.js';

/** Something that goes wrong with one request, see {@link Sandbox.fault}. */
export type Fault =
  | FaultStatus
  | FaultReset
  | FaultTruncate
  | FaultStall
  | FaultHang
  | FaultDelay
  | FaultBody
  | FaultRewrite
  | FaultLie
  | FaultCommitLate
  | FaultSocket;

/** The request is not processed; the answer is 200, `application/json` and exactly this body, however odd. */
export interface FaultBody {
  /** Tells the faults apart. */
  readonly kind: 'body';
  /** The whole body. */
  readonly body: string;
}

/**
 * The request is taken, its answer is lost, and the submission is committed a while later. Until then the ledger answers
 * `SUBMISSION_ALREADY_IN_FLIGHT` to the same change, and `DUPLICATE_COMMAND` after it. Whether the submission can be
 * committed is decided at the time of the commit: its contract may be archived by then, and its time over. For
 * `…/executeAndWaitForTransaction`; what is refused at once is answered as ever, and other requests are not harmed.
 *
 * @example
 * ```ts
 * import { startSandbox } from 'canton-rx/sandbox';
 *
 * const sandbox = await startSandbox();
 * const path = '/v2/interactive-submission/executeAndWaitForTransaction';
 * sandbox.fault({ kind: 'commitLate', ms: 300 }, { path });
 * // … the next execution is answered by a 503, and is in the feed 300 milliseconds after it was sent
 * await sandbox.close();
 * ```
 */
export interface FaultCommitLate {
  /** Tells the faults apart. */
  readonly kind: 'commitLate';
  /** How many milliseconds after the request the commit comes. A restart does not stop it, a close does. */
  readonly ms: number;
  /**
   * What the client gets, at once: the plain-text 503 of the request timeout, or a reset connection (TCP RST). Default
   * `'timeout'`.
   */
  readonly how?: 'timeout' | 'reset';
}

/**
 * The request is processed at once and answered late. Later than `requestTimeoutMs`, the client
 * gets the 503 of the request timeout for work that was done.
 */
export interface FaultDelay {
  /** Tells the faults apart. */
  readonly kind: 'delay';
  /** How long the answer is held back. */
  readonly ms: number;
}

/**
 * The request, or the upgrade to a WebSocket, is accepted and never answered; it ends with the client, or with `restart()`
 * or `close()`.
 */
export interface FaultHang {
  /** Tells the faults apart. */
  readonly kind: 'hang';
}

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

/** The connection is reset (TCP RST) instead of an answer, or instead of an upgrade to a WebSocket. */
export interface FaultReset {
  /** Tells the faults apart. */
  readonly kind: 'reset';
  /** `'after'`: the request was processed, only its answer is lost. Default `'before'`, and no matter for an upgrade. */
  readonly when?: 'before' | 'after';
}

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

/**
 * Which requests a {@link Fault} is for. The upgrade to a WebSocket is a request too, but only to the faults that it can
 * have, which are those of the kinds `status`, `reset`, `hang` and `rewrite`; and to a fault of the kind `socket` nothing
 * else is one.
 */
export interface FaultScope {
  /** The path, whole, or a pattern for it; default any. */
  readonly path?: string | RegExp;
  /**
   * How many requests to that path it lets pass first; default 0.
   *
   * Each fault counts for itself. It counts every request that its `path` and its kind fit, as it arrives, from when the fault was
   * queued, those that another fault hits included; only then is it due. Of several that are due, the one queued
   * first hits, and the others hit the next requests: with `after: 1` twice, the first request passes, the second
   * gets the one, the third the other.
   */
  readonly after?: number;
  /** How many requests it hits; default 1. */
  readonly times?: number;
}

/**
 * The request is processed; its answer announces its full length, begins, and does not go on. It ends with the client,
 * or with `restart()` or `close()`. Its `status` is in the log of requests, and `aborted` once the client has left.
 */
export interface FaultStall {
  /** Tells the faults apart. */
  readonly kind: 'stall';
  /** How many bytes of the body arrive. An answer that has no more than that is not harmed. */
  readonly bytes: number;
}

/** The request is processed; its answer announces its full length and is cut off. */
export interface FaultTruncate {
  /** Tells the faults apart. */
  readonly kind: 'truncate';
  /** How many bytes of the body still arrive. */
  readonly bytes: number;
  /**
   * How the connection ends then: closed, or reset (TCP RST) 10 milliseconds later, which is the time for a client to
   * read the bytes. Default `'close'`.
   */
  readonly how?: 'close' | 'reset';
}
