/**
 * A WebSocket goes wrong. For the upgrades of `/v2/updates` and `/v2/updates/flats`; no other request uses it up, nor
 * is counted by its scope.
 *
 * @example
 * ```ts
 * import { cantonError, startSandbox } from 'canton-rx/sandbox';
 *
 * const sandbox = await startSandbox();
 * const stale = cantonError('STALE_STREAM_AUTHORIZATION');
 * sandbox.fault({ kind: 'socket', how: 'refuse', status: 503 }); // the first is no WebSocket
 * sandbox.fault({ kind: 'socket', how: 'error', body: stale, elements: 2 }); // two elements, and an error
 * sandbox.fault({ kind: 'socket', how: 'close', code: 1001 });
 * sandbox.fault({ kind: 'socket', how: 'cut', elements: 7 });
 * sandbox.fault({ kind: 'socket', how: 'silence' });
 * await sandbox.close();
 * ```
 */
export type FaultSocket = {
  /** Tells the faults apart. */
  readonly kind: 'socket';
} & (
  | (Omit<FaultStatus, 'kind'> & {
      /** The upgrade is answered by an HTTP status, as {@link FaultStatus} has it. */
      readonly how: 'refuse';
    })
  | ({
      /**
       * After how many elements it strikes, checkpoints included; default 0: once the request has come. A stream that
       * ends before is not harmed.
       */
      readonly elements?: number;
    } & (
      | {
          /** A close frame comes, as if the server had ended the stream. */
          readonly how: 'close';
          /** Its code, one that may be sent: 1000 to 1014 without 1004 to 1006, or 3000 to 4999. Default 1000. */
          readonly code?: number;
          /** The reason in it; default empty. */
          readonly reason?: string;
        }
      | {
          /** The connection is reset (TCP RST) 10 milliseconds later, which is the time to read what came before. */
          readonly how: 'cut';
        }
      | {
          /**
           * The connection stays and nothing more comes over it, no pong and no answer to a close frame either, as if
           * the other end had lost its power. It ends with the client, or with `restart()` or `close()`.
           */
          readonly how: 'silence';
        }
      | {
          /** A message comes that is no element, and then a close frame with code 1000, as participants tell errors. */
          readonly how: 'error';
          /** The message: a string goes out as it is, anything else as JSON; see {@link cantonError}. */
          readonly body: unknown;
        }
    ))
);

/** The request is not processed and answered like this; so is the upgrade to a WebSocket. */
export interface FaultStatus {
  /** Tells the faults apart. */
  readonly kind: 'status';
  /** The HTTP status. */
  readonly status: number;
  /** A string goes out as text, anything else as JSON; see {@link cantonError}. */
  readonly body?: unknown;
  /** Instead of the content type that the body suggests. */
  readonly contentType?: string;
  /** Further headers, such as `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>;
}
