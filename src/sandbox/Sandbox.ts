import type { ExternalParty, ExternalPartyOptions, HostedParty } from './ExternalParty.js';
import type { Fault, FaultScope } from './Fault.js';
import type { WireUpdate, WireUpdateInput } from './wire/WireUpdate.js';

/** A running ledger service on this machine, and the strings to pull on it. */
export interface Sandbox {
  /** The base URL, without a slash at the end. */
  readonly url: string;
  /** The highest offset in use. */
  readonly ledgerEnd: number;
  /** All that was committed, ascending, unfiltered, pruned ones included. */
  readonly updates: readonly WireUpdate[];
  /** The parties hosted here: those of generated traffic, then the external ones. */
  readonly parties: readonly string[];
  /** The synchronizers, as set up. */
  readonly synchronizers: readonly string[];
  /** What was asked so far, in order of arrival. */
  readonly requests: readonly SandboxRequest[];
  /**
   * Commits updates made by hand; absent fields get defaults. Waiting streams see them at once.
   *
   * @returns the new ledger end
   */
  append(...updates: readonly WireUpdateInput[]): number;
  /**
   * Commits that many updates of mixed and consistent traffic.
   *
   * @returns the new ledger end
   */
  generate(count: number, options?: GenerateOptions): number;
  /**
   * Moves the ledger end on without an update, as offsets used for other things do.
   *
   * @returns the new ledger end
   */
  advance(offsets: number): number;
  /** Prunes up to and including an offset: reading from before it is refused from now on. */
  prune(upToInclusive: number): void;
  /** Cuts the ledger back to an earlier end, as restoring an older backup does. */
  restore(ledgerEnd: number): void;
  /** Queues a fault; the next requests that it is for use it up. */
  fault(fault: Fault, where?: FaultScope): void;
  /** Changes settings while running. */
  configure(changes: SandboxChanges): void;
  /**
   * Takes the service down and up again with changed settings, as an operator does. All connections end at once, and
   * requests under way are lost; ledger, parties, deduplication, queued faults, the log of requests and the port stay.
   * A restart that is asked for during another begins after it. A closed sandbox stays closed.
   *
   * @param options - the settings to change, and how long it is down
   * @returns a promise that resolves once the service listens again, or was closed meanwhile, and rejects if the port
   * has been taken; another restart may then be tried
   */
  restart(options?: RestartOptions): Promise<void>;
  /** Makes an Ed25519 key pair and hosts the party that belongs to it. */
  externalParty(hint: string): ExternalParty;
  /**
   * Hosts a party that signs with keys of the caller's.
   *
   * @throws TypeError if a key is of a kind that signs no submissions, or not public
   * @throws RangeError if there is no key, one of them twice, or a threshold that is not among 1 and their number
   */
  externalParty(hint: string, options: ExternalPartyOptions): HostedParty;
  /** Ends open requests and the service. Calling it again does no harm. */
  close(): Promise<void>;
}

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

/** What an operator can change on a running {@link Sandbox}. */
export type SandboxChanges = Partial<
  Pick<
    SandboxOptions,
    | 'profile'
    | 'participantId'
    | 'maxListElements'
    | 'listWaitTimeMs'
    | 'requestTimeoutMs'
    | 'preparationTimeToleranceMs'
    | 'ledgerTimeToleranceMs'
    | 'earlyCheckpointMs'
    | 'idleCheckpointMs'
    | 'webSocketIdleMs'
    | 'webSocketRefusal'
    | 'checkToken'
    | 'interfaceOnly'
    | 'deprecatedApis'
  >
>;

/** What {@link Sandbox.restart} changes, and how long it takes. */
export interface RestartOptions extends SandboxChanges {
  /** For how many milliseconds nothing listens; default 0. */
  readonly downMs?: number;
}

/** What {@link Sandbox.generate} makes. */
export interface GenerateOptions {
  /** Same seed, same ledger before it: same traffic. Default 1. */
  readonly seed?: number;
  /** The kinds of update to mix; default all. */
  readonly variants?: readonly UpdateVariant[];
}

/** The Canton release line that the sandbox behaves as. */
export type SandboxProfile = '3.4' | '3.5' | '3.6';

/** The kinds of update that a ledger keeps; checkpoints are none of them, they are made per stream. */
export type UpdateVariant = 'Transaction' | 'Reassignment' | 'TopologyTransaction';

/**
 * One request as the sandbox saw it. The object is live: `body`, `status` and `aborted` are filled in as it goes on. A
 * WebSocket is a `GET` with status 101, and its body is the first message.
 */
export interface SandboxRequest {
  /** The HTTP method. */
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  /** The query parameters. */
  readonly query: Readonly<Record<string, string>>;
  /** The parsed JSON body, the text if it is no JSON, `undefined` if there was none. */
  readonly body: unknown;
  /** Whether a token came along: as a bearer, or in the first subprotocol of a WebSocket. The token itself is never kept. */
  readonly authorized: boolean;
  /** When the request arrived, in milliseconds since the epoch. */
  readonly at: number;
  /** The HTTP status, once answered. */
  readonly status?: number;
  /** Whether the client went away before the end of its answer, or of its stream. */
  readonly aborted: boolean;
}
