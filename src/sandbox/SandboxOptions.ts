import type { SandboxProfile } from './SandboxProfile.js';

/** How a {@link Sandbox} is set up; everything has a default. */
export interface SandboxOptions {
  /** TCP port on 127.0.0.1; 0, the default, lets the system choose. */
  readonly port?: number;
  /** The release line to behave as; default `'3.5'`. */
  readonly profile?: SandboxProfile;
  /** The most elements that a list answer may have before it is a 413; default 200. */
  readonly maxListElements?: number;
  /** The idle time that ends an open-ended list when the request names none; default 500. */
  readonly listWaitTimeMs?: number;
  /** After this long an unanswered request gets the plain-text 503; default 20000. */
  readonly requestTimeoutMs?: number;
  /**
   * For how many milliseconds after its preparation a transaction can be committed; later it is rejected with
   * `LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND`. Default 86400000, a day.
   */
  readonly preparationTimeToleranceMs?: number;
  /**
   * How many milliseconds ahead of the clock the ledger time may be that `minLedgerTime` asks for; beyond it a submission
   * is rejected with `LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND`. Default 60000.
   */
  readonly ledgerTimeToleranceMs?: number;
  /**
   * How long after its start a tailing stream gets a checkpoint; `false` for never.
   * By default `false` on 3.4 and 500 on 3.5 and 3.6.
   */
  readonly earlyCheckpointMs?: number | false;
  /**
   * How many idle milliseconds give a tailing stream a checkpoint, if it has not had that one yet; `false` for never.
   * Default 60000: more than `requestTimeoutMs`, so that it shows in tests only if set to less.
   */
  readonly idleCheckpointMs?: number | false;
  /**
   * After how many milliseconds without a byte in either direction a WebSocket is cut off, without a close frame; pings
   * of the client keep it. Default 60000. A change is for the WebSockets that are opened after it.
   */
  readonly webSocketIdleMs?: number;
  /**
   * How a WebSocket learns that `checkToken` refuses its token: by its first message, as a token that is missing or over
   * is refused, or by a 401 to the upgrade, as 3.4 and later refuse an unknown user. Default `'message'`.
   */
  readonly webSocketRefusal?: 'message' | 'handshake';
  /**
   * Decides on the token of each request; a refused one is a 401. It is the bearer token, or the one in the first
   * subprotocol of a WebSocket, and is looked at again before each element that a WebSocket gets. By default nothing is
   * checked.
   */
  readonly checkToken?: (token: string | undefined) => boolean;
  /** Whether browsers of other origins may call: preflights are answered and the headers set; default false. */
  readonly cors?: boolean;
  /** Serve only `POST /v2/updates/flats` and `…/executeAndWaitForTransaction`, 404 on all else; default false. */
  readonly interfaceOnly?: boolean;
  /** Serve on 3.6 what that release disables: `/v2/updates/flats`, `filter` and `verbose`; default false. */
  readonly deprecatedApis?: boolean;
  /** The synchronizers that the service is connected to; default two. */
  readonly synchronizers?: readonly string[];
  /** The id that the participant tells; by which a stored cursor of another one is known. Default `participant1::1220…`. */
  readonly participantId?: string;
}
