import type { FaultStatus } from './responseFaults.js';

/**
 * A failure of a WebSocket. It applies to upgrades of `/v2/updates` and `/v2/updates/flats`, and its scope counts only
 * those.
 *
 * @example
 * ```ts
 * import { cantonError, startSandbox } from 'canton-rx/sandbox';
 *
 * const sandbox = await startSandbox();
 * const stale = cantonError('STALE_STREAM_AUTHORIZATION');
 * sandbox.fault({ kind: 'socket', how: 'refuse', status: 503 }); // the first upgrade gets a 503
 * sandbox.fault({ kind: 'socket', how: 'error', body: stale, elements: 2 }); // two elements, and an error
 * sandbox.fault({ kind: 'socket', how: 'close', code: 1001 });
 * sandbox.fault({ kind: 'socket', how: 'cut', elements: 7 });
 * sandbox.fault({ kind: 'socket', how: 'silence' });
 * await sandbox.close();
 * ```
 * @category Sandbox
 */
export type FaultSocket = {
  /** The kind of the fault. */
  readonly kind: 'socket';
} & (
  | (Omit<FaultStatus, 'kind' | 'when'> & {
      /** The upgrade gets an HTTP response, as described by {@link FaultStatus}. */
      readonly how: 'refuse';
    })
  | ({
      /**
       * The number of elements, including checkpoints, to send before the fault. With 0, the fault follows the request
       * immediately. It has no effect on a stream that ends earlier.
       *
       * @defaultValue 0
       */
      readonly elements?: number;
    } & (
      | {
          /** The server sends a close frame, as at the end of a stream. */
          readonly how: 'close';
          /**
           * The close code: 1000 to 1014 except 1004 to 1006, or 3000 to 4999.
           *
           * @defaultValue 1000
           */
          readonly code?: number;
          /**
           * The close reason.
           *
           * @defaultValue ''
           */
          readonly reason?: string;
        }
      | {
          /**
           * The connection is reset (TCP RST) after 10 milliseconds, so that the client can read the messages first.
           */
          readonly how: 'cut';
        }
      | {
          /**
           * The connection stays open, but the server sends nothing more, not even a pong or a close frame, as after a
           * power failure. It stays open until the client closes it, or until `restart()` or `close()`.
           */
          readonly how: 'silence';
        }
      | {
          /** The server sends this message and then a close frame with code 1000, as participants report errors. */
          readonly how: 'error';
          /** The message. A string is sent as is, any other value as JSON; see {@link cantonError}. */
          readonly body: unknown;
        }
    ))
);
