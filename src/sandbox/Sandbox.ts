import type { ExternalParty, ExternalPartyOptions, HostedParty } from './ExternalParty.js';
import type { Fault, FaultScope } from './Fault.js';
import type { GenerateOptions, PackageEntities } from './SandboxContents.js';
import type { WireUpdate, WireUpdateInput } from './wire/WireUpdate.js';

/**
 * A ledger service that runs on this machine, and the means to control it.
 *
 * @category Sandbox
 */
export interface Sandbox {
  /** The base URL, without a trailing slash. */
  readonly url: string;
  /** The highest offset in use. */
  readonly ledgerEnd: number;
  /** All committed updates in ascending order, including pruned ones. */
  readonly updates: readonly WireUpdate[];
  /** The hosted parties: those of generated traffic, then the external ones. */
  readonly parties: readonly string[];
  /** The synchronizers of {@link SandboxOptions.synchronizers}. */
  readonly synchronizers: readonly string[];
  /** All requests so far, in the order of their arrival. */
  readonly requests: readonly SandboxRequest[];
  /**
   * Commits the given updates. Absent fields get defaults. Open streams emit the updates at once.
   *
   * @returns the new ledger end
   */
  append(...updates: readonly WireUpdateInput[]): number;
  /**
   * Generates and commits updates of mixed, consistent traffic. Its record times end at the time of the clock. With several
   * synchronizers it reassigns contracts between them. Each synchronizer has its own order, and one may be ahead of another:
   * an assignment may come before the unassignment, and before the creation, of the same contract.
   *
   * @returns the new ledger end
   */
  generate(count: number, options?: GenerateOptions): number;
  /**
   * Advances the ledger end without an update, as a participant does when it uses offsets for other purposes.
   *
   * @returns the new ledger end
   */
  advance(offsets: number): number;
  /** Prunes up to and including an offset. Requests that begin before that offset are rejected from then on. */
  prune(upToInclusive: number): void;
  /**
   * Returns the ledger to an earlier end, as the restore of an older backup does. WebSockets that are streaming are closed
   * with 1011, in place of their next message or their end.
   */
  restore(ledgerEnd: number): void;
  /**
   * Uploads a package, or further entities of one. Requests that filter by a package, a template or an interface that the
   * sandbox does not know are answered with 404, as by a participant. It knows those of generated traffic and of all updates
   * and prepared commands so far.
   *
   * @param packageName - the name of the package, without `#`
   * @param entities - the templates and the interfaces of the package
   * @returns the id of the package
   * @throws TypeError if the name is empty or contains `:` or `#`, or if an entity is not of the form `Module:Entity`
   */
  uploadPackage(packageName: string, entities?: PackageEntities): string;
  /** Queues a fault for the next requests that match `where`. */
  fault(fault: Fault, where?: FaultScope): void;
  /** Changes settings of the running service. */
  configure(changes: SandboxChanges): void;
  /**
   * Stops the service and starts it again with changed settings, as an operator does. All connections end at once, and
   * pending requests are lost. Ledger, parties, deduplication, queued faults, the log of requests and the port stay. A
   * restart that is requested during another one begins after it. A closed sandbox stays closed.
   *
   * @param options - the settings to change, and the downtime
   * @returns a promise that resolves when the service listens again, or when it was closed meanwhile. It rejects if another
   * process has taken the port; `restart` may then be called again.
   */
  restart(options?: RestartOptions): Promise<void>;
  /** Generates an Ed25519 key pair and hosts a party with it. */
  externalParty(hint: string): ExternalParty;
  /**
   * Hosts a party whose keys the caller holds.
   *
   * @throws TypeError if a key is not a public key, or not of a supported algorithm
   * @throws RangeError if there are no keys or duplicate keys, or if the threshold is not between 1 and the number of keys
   */
  externalParty(hint: string, options: ExternalPartyOptions): HostedParty;
  /** Ends all open requests and stops the service. May be called more than once. */
  close(): Promise<void>;
}

/**
 * The options of {@link startSandbox}.
 *
 * @category Sandbox
 */
export interface SandboxOptions {
  /**
   * The TCP port on 127.0.0.1. With 0 the system chooses one.
   *
   * @defaultValue 0
   */
  readonly port?: number;
  /**
   * The Canton release line to behave as.
   *
   * @defaultValue '3.5'
   */
  readonly profile?: SandboxProfile;
  /**
   * The maximum number of elements of a list. A longer list is a 413.
   *
   * @defaultValue 200
   */
  readonly maxListElements?: number;
  /**
   * The idle time in milliseconds after which an open-ended list ends if the request has no `stream_idle_timeout_ms`.
   *
   * @defaultValue 500
   */
  readonly listWaitTimeMs?: number;
  /**
   * The time in milliseconds after which a request without a response gets the plain-text 503.
   *
   * @defaultValue 20000
   */
  readonly requestTimeoutMs?: number;
  /**
   * The maximum time in milliseconds between the preparation and the commit of a transaction. Later it is rejected with
   * `LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND`.
   *
   * @defaultValue 86400000, a day
   */
  readonly preparationTimeToleranceMs?: number;
  /**
   * The maximum time in milliseconds by which the `minLedgerTime` of a submission may be ahead of the clock. Beyond it the
   * submission is rejected with `LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND`.
   *
   * @defaultValue 60000
   */
  readonly ledgerTimeToleranceMs?: number;
  /**
   * The time in milliseconds from the start of an open-ended stream to its first checkpoint; `false` for no such checkpoint.
   *
   * @defaultValue false on 3.4, 500 on 3.5 and 3.6
   */
  readonly earlyCheckpointMs?: number | false;
  /**
   * The idle time in milliseconds after which an open-ended stream gets a checkpoint, unless it already has the same one;
   * `false` for no such checkpoints. The default exceeds `requestTimeoutMs`, so lists get them only with a lower value.
   *
   * @defaultValue 60000
   */
  readonly idleCheckpointMs?: number | false;
  /**
   * The time in milliseconds without a byte in either direction after which a WebSocket is disconnected, without a close
   * frame. Pings of the client keep it open. A change applies to WebSockets that are opened later.
   *
   * @defaultValue 60000
   */
  readonly webSocketIdleMs?: number;
  /**
   * How a WebSocket is rejected by `checkToken`: by its first message, as participants reject a missing or expired token, or
   * by a 401 to the upgrade, as 3.4 and later reject an unknown user.
   *
   * @defaultValue 'message'
   */
  readonly webSocketRefusal?: 'message' | 'handshake';
  /**
   * Decides whether the token of a request is valid; if not, the response is a 401. The token is the bearer token, or the
   * one in the first subprotocol of a WebSocket. It is checked again before each element that a WebSocket gets.
   *
   * @defaultValue no check
   */
  readonly checkToken?: (token: string | undefined) => boolean;
  /**
   * Whether browser pages of other origins may send requests (CORS).
   *
   * @defaultValue false
   */
  readonly cors?: boolean;
  /**
   * Whether to serve only `POST /v2/updates/flats` and `…/executeAndWaitForTransaction`, and 404 for all else.
   *
   * @defaultValue false
   */
  readonly interfaceOnly?: boolean;
  /**
   * Whether to serve on 3.6 what that release disables: `/v2/updates/flats`, `filter` and `verbose`.
   *
   * @defaultValue false
   */
  readonly deprecatedApis?: boolean;
  /**
   * Whether to serve `POST /v2/state/active-contracts-page`. Releases of 3.5 before 3.5.10 answer it with a 405, as `false`
   * does. 3.4 never serves it.
   *
   * @defaultValue true
   */
  readonly activeContractsPages?: boolean;
  /**
   * The synchronizers that the service is connected to.
   *
   * @defaultValue two synchronizers
   */
  readonly synchronizers?: readonly string[];
  /**
   * The id of the participant, by which clients recognize a stored cursor of another participant.
   *
   * @defaultValue 'participant1::1220…'
   */
  readonly participantId?: string;
}

/**
 * The settings that can be changed on a running {@link Sandbox}.
 *
 * @category Sandbox
 */
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
    | 'activeContractsPages'
  >
>;

/**
 * The options of {@link Sandbox.restart}.
 *
 * @category Sandbox
 */
export interface RestartOptions extends SandboxChanges {
  /**
   * The downtime in milliseconds.
   *
   * @defaultValue 0
   */
  readonly downMs?: number;
}

/**
 * The Canton release line that the sandbox behaves as.
 *
 * @category Sandbox
 */
export type SandboxProfile = '3.4' | '3.5' | '3.6';

/**
 * A request in the log of the sandbox. `body`, `status` and `aborted` are updated while the request proceeds. A WebSocket is
 * a `GET` with status 101, and its body is its first message.
 *
 * @category Sandbox
 */
export interface SandboxRequest {
  /** The HTTP method. */
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  /** The query parameters. */
  readonly query: Readonly<Record<string, string>>;
  /** The parsed JSON body, the text if it is not JSON, or `undefined` without a body. */
  readonly body: unknown;
  /** Whether the request has a bearer token, or a token in the first subprotocol of a WebSocket. The token is not stored. */
  readonly authorized: boolean;
  /** The time of arrival, in milliseconds since the epoch. */
  readonly at: number;
  /** The HTTP status, once the response is sent. */
  readonly status?: number;
  /** Whether the client closed the connection before the end of its response or stream. */
  readonly aborted: boolean;
}
