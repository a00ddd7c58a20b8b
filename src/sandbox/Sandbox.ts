import type { Fault, FaultScope } from './Fault.js';
import type { PackageEntities } from './ledger/PackageEntities.js';
import type { ExternalParty, ExternalPartyOptions, HostedParty } from './participant/parties.js';
import type { SandboxRequest } from './SandboxRequest.js';
import type { GenerateOptions } from './traffic/GenerateOptions.js';
import type { WireUpdate, WireUpdateInput } from './wire/WireUpdate.js';

/**
 * An embedded participant on this machine, and the means to control it.
 *
 * @category Sandbox
 */
export interface Sandbox {
  /** The base URL, without a trailing slash. */
  readonly url: string;
  /** The highest offset in use. */
  readonly ledgerEnd: number;
  /** The id of the participant. */
  readonly participantId: string;
  /** All committed updates in ascending order, including pruned ones. */
  readonly updates: readonly WireUpdate[];
  /** The number of updates that the sandbox has not read yet, because it is paused. */
  readonly unread: number;
  /** The hosted parties: those of generated traffic, then those of `hostedParty`, then the external ones. */
  readonly parties: readonly string[];
  /** The synchronizers of {@link SandboxOptions.synchronizers}. */
  readonly synchronizers: readonly string[];
  /** All requests so far, in the order of their arrival. */
  readonly requests: readonly SandboxRequest[];
  /**
   * Commits the given updates. Absent fields get default values. Open streams send the updates immediately.
   *
   * @returns the new ledger end
   */
  append(...updates: readonly WireUpdateInput[]): number;
  /**
   * Generates and commits updates of mixed, consistent traffic. The record times end at the current time. If there are
   * several synchronizers, it reassigns contracts between them. Each synchronizer has its own order, and one may be
   * ahead of another: an assignment may come before the unassignment, or even the creation, of the same contract.
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
  /** Prunes up to and including an offset. From then on, requests that begin before that offset are rejected. */
  prune(upToInclusive: number): void;
  /**
   * Stops reading from the synchronizers, so that it lags: see
   * {@link SandboxOptions.replicaOf}. Its own commit first reads what comes before it.
   */
  pause(): void;
  /**
   * Reads what the sandbox has not read yet, and continues to read.
   *
   * @param count - reads only this number of updates, and stays paused
   * @returns the new ledger end
   */
  resume(count?: number): number;
  /**
   * Restores the ledger to an earlier end, as restoring a backup does. Streaming WebSockets are closed with code
   * 1011, instead of sending their next message or ending. What came after the backup is lost, and the sandbox shares
   * its history with no other one from then on, unless `readAgain` is set.
   */
  restore(ledgerEnd: number, options?: RestoreOptions): void;
  /**
   * Uploads a package, or further entities of a package. Like a participant, the sandbox responds with 404 to requests
   * that filter by an unknown package, template or interface. It knows those of generated traffic, and those in all
   * updates and prepared commands so far.
   *
   * @param packageName - the name of the package, without `#`
   * @param entities - the templates and the interfaces of the package
   * @returns the id of the package
   * @throws TypeError if the name is empty or contains `:` or `#`, or if an entity does not have the form
   * `Module:Entity`
   */
  uploadPackage(packageName: string, entities?: PackageEntities): string;
  /**
   * Uploads a version of a package in which a template implements one more interface. As on a participant, updates and
   * snapshots by that interface then show the earlier contracts, too, and later contracts have the id of the version.
   *
   * @param templateId - the template, such as `#sandbox-assets:Main:Offer`
   * @param interfaceId - the interface, such as `#sandbox-api:Api:Holding`
   * @param view - computes the view of a contract from its arguments. It must not throw. Default: an empty record
   * @returns the id of the version
   */
  addInterface(templateId: string, interfaceId: string, view?: (createArgument: unknown) => unknown): string;
  /** Queues a fault for the next requests that match `where`. */
  fault(fault: Fault, where?: FaultScope): void;
  /** Changes settings of the running sandbox. */
  configure(changes: SandboxChanges): void;
  /**
   * Stops the sandbox and starts it again with changed settings, as an operator does. All connections end immediately,
   * and pending requests are lost. The ledger, the parties, the deduplication, the queued faults, the request log and
   * the port stay. A restart that is requested during another restart begins after it. A closed sandbox stays closed.
   *
   * @param options - the settings to change, and the downtime
   * @returns a Promise that resolves when the sandbox listens again, or when it has been closed in the meantime. It
   * rejects if another process has taken the port; you can then call `restart` again.
   */
  restart(options?: RestartOptions): Promise<void>;
  /**
   * Hosts a party for which the sandbox signs, so that the commands of the party can be submitted at once. The parties
   * of generated traffic can submit, too. The same hint results in the same party.
   *
   * @param hint - the first part of the party id, such as `alice`
   * @returns the party id
   * @throws TypeError if the hint contains characters that party ids cannot have
   */
  hostedParty(hint: string): string;
  /** Generates an Ed25519 key pair and hosts a party with it. */
  externalParty(hint: string): ExternalParty;
  /**
   * Hosts a party whose private keys the caller holds.
   *
   * @throws TypeError if a key is not a public key, or if its algorithm is not supported
   * @throws RangeError if there are no keys or duplicate keys, or if the threshold is not between 1 and the number of
   * keys
   */
  externalParty(hint: string, options: ExternalPartyOptions): HostedParty;
  /** Ends all open requests and stops the sandbox. You can call it more than once. */
  close(): Promise<void>;
  /** The same as {@link Sandbox.close}, for `await using sandbox = await startSandbox()`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Options of `startSandbox`.
 *
 * @category Sandbox
 */
export interface SandboxOptions {
  /**
   * The TCP port on 127.0.0.1. With 0, the system chooses a port.
   *
   * @defaultValue 0
   */
  readonly port?: number;
  /**
   * The Canton release line whose behavior the sandbox imitates.
   *
   * @defaultValue '3.5'
   */
  readonly profile?: SandboxProfile;
  /**
   * The maximum number of elements in a list. A longer list gets a 413.
   *
   * @defaultValue 200
   */
  readonly maxListElements?: number;
  /**
   * The idle time after which an open-ended list ends if the request has no `stream_idle_timeout_ms`, in milliseconds.
   *
   * @defaultValue 500
   */
  readonly listWaitTimeMs?: number;
  /**
   * The time after which a request without a response gets a plain-text 503, in milliseconds. From profile 3.6 on, the
   * header `Request-Timeout` of a request replaces it, and the response is a 408 without a body.
   *
   * @defaultValue 20000
   */
  readonly requestTimeoutMs?: number;
  /**
   * The maximum time between the preparation and the commit of a transaction, in milliseconds. After that, it is
   * rejected with `LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND`.
   *
   * @defaultValue 86400000, a day
   */
  readonly preparationTimeToleranceMs?: number;
  /**
   * How far the `minLedgerTime` of a signed transaction may be ahead of the clock, in milliseconds. Beyond that, it is
   * rejected with `LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND`. Commands of hosted parties wait for their minimum ledger
   * time instead.
   *
   * @defaultValue 60000
   */
  readonly ledgerTimeToleranceMs?: number;
  /**
   * The deduplication period of commands without one, in milliseconds. When the sandbox is pruned, it forgets older
   * commits of commands. Not for transactions that their parties sign: their default is seven days.
   *
   * @defaultValue 30000, as on Canton Network
   */
  readonly defaultDeduplicationMs?: number;
  /**
   * How long after the archive of a contract commands that use it are rejected with `UNKNOWN_CONTRACT_SYNCHRONIZERS`
   * instead of `CONTRACT_NOT_FOUND`, in milliseconds. A participant does so until it has indexed the archive.
   *
   * @defaultValue 0
   */
  readonly archiveLagMs?: number;
  /**
   * The time from the registration of a submission that archives contracts to its commit, in milliseconds. Meanwhile,
   * these contracts are locked: other submissions that use them are rejected with `LOCAL_VERDICT_LOCKED_CONTRACTS`. With
   * 0, no two submissions are at work at the same time.
   *
   * @defaultValue 5
   */
  readonly confirmationMs?: number;
  /**
   * The share of hosted submissions for whose contract another transaction is faster, from 0 to 1. It archives the contract,
   * replaces it, or locks it for the moment. The submission is then rejected with `CONTRACT_NOT_FOUND` or
   * `LOCAL_VERDICT_LOCKED_CONTRACTS`.
   *
   * @defaultValue 0
   */
  readonly contention?: number;
  /**
   * Whether the sandbox reassigns contracts, if the contracts of a submission are on different synchronizers, or not on
   * the requested one. Each half of such a reassignment has a completion with the command id of the submission. With
   * `false`, the commands are rejected.
   *
   * @defaultValue false
   */
  readonly automaticReassignments?: boolean;
  /**
   * The time from the start of an open-ended stream to its first checkpoint, in milliseconds; `false` for no such
   * checkpoint.
   *
   * @defaultValue false before 3.5, 500 since
   */
  readonly earlyCheckpointMs?: number | false;
  /**
   * The idle time after which an open-ended stream gets a checkpoint, unless it already has the same one, in
   * milliseconds; `false` for no such checkpoints. The default exceeds `requestTimeoutMs`, so lists get checkpoints
   * only with a lower value.
   *
   * @defaultValue 60000
   */
  readonly idleCheckpointMs?: number | false;
  /**
   * The time without a byte in either direction after which the sandbox disconnects a WebSocket without a close frame,
   * in milliseconds. The client's pings keep it open. A change applies to WebSockets that are opened later.
   *
   * @defaultValue 60000
   */
  readonly webSocketIdleMs?: number;
  /**
   * How the sandbox refuses a WebSocket that fails `checkToken`: `'message'` sends an error as the first message, as
   * participants do for a missing or expired token; `'handshake'` responds to the upgrade with a 401, as 3.4 and later
   * do for an unknown user.
   *
   * @defaultValue 'message'
   */
  readonly webSocketRefusal?: 'message' | 'handshake';
  /**
   * Decides whether the token of a request is valid. If it is not, the response is a 401. The token is the bearer
   * token, or the token in the first subprotocol of a WebSocket. On a WebSocket, it is checked again before each
   * element.
   *
   * @defaultValue no check
   */
  readonly checkToken?: (token: string | undefined) => boolean;
  /**
   * Which web pages may send requests and open WebSockets: with `true`, the pages of this machine, at `localhost`,
   * `127.0.0.1` or `[::1]` with any port; with a list, the pages of these origins, such as `http://localhost:5173`. The
   * response to all others is a 403. A page that reaches the sandbox through the proxy of a development server
   * needs no permission, as long as the proxy keeps the `Host` header.
   *
   * @defaultValue false, no web pages
   */
  readonly cors?: boolean | readonly string[];
  /**
   * Whether to accept bodies without the content type of JSON from web pages, too, as participants do. By default, the
   * response is a 415, because a page can send other types to any address without a preflight. Programs, which send no `Origin`,
   * may use any type.
   *
   * @defaultValue false
   */
  readonly anyContentType?: boolean;
  /**
   * Whether to serve only `POST /v2/updates/flats` and `…/executeAndWaitForTransaction`, and to respond with 404 to all
   * other requests.
   *
   * @defaultValue false
   */
  readonly interfaceOnly?: boolean;
  /**
   * Whether profile 3.6 serves what that release disables by default: `/v2/updates/flats`, `filter` and `verbose`.
   * Profile 3.7 never serves them.
   *
   * @defaultValue false
   */
  readonly deprecatedApis?: boolean;
  /**
   * Whether to serve `POST /v2/state/active-contracts-page`. With `false`, the response is a 405, as in releases of 3.5
   * before 3.5.10. Profiles before 3.5 never serve it.
   *
   * @defaultValue true
   */
  readonly activeContractsPages?: boolean;
  /**
   * Whether snapshots mispair the halves of contracts in flight, as 3.5.10 does. The created events, in the order of their
   * activation, are put next to the unassigned events, in the order of unassignment, so that the two halves of an entry may
   * be of different contracts. A list or a stream pairs all that follow its token, and a page one entry more than it has:
   * then a created event may be in no page, and another one in two.
   *
   * @defaultValue false, because no other release is known to do so
   */
  readonly mispairsInFlight?: boolean;
  /**
   * The synchronizers that the sandbox is connected to.
   *
   * @defaultValue two synchronizers
   */
  readonly synchronizers?: readonly string[];
  /**
   * The id of the participant. Clients use it to recognize a stored cursor of another participant. Set it if a client is
   * to continue with a sandbox that is started again.
   *
   * @defaultValue `participant1::1220…` with a random fingerprint, because each sandbox is a new participant
   */
  readonly participantId?: string;
  /**
   * A sandbox whose history this one serves, too, as a second participant that hosts the same parties: with the same
   * updates, ids, record times and contracts, in the same order in each synchronizer. The offsets are other ones, and the
   * updates of different synchronizers have another order. What one of them commits, the others read a few milliseconds
   * later: `ledgerEnd` and `updates` do not wait for that. Each has its own completions, packages, pruning and faults, and
   * stays when another one is closed. The synchronizers are those of the original.
   *
   * @defaultValue a new history
   */
  readonly replicaOf?: Sandbox;
  /**
   * Chooses the offsets of a replica and the order of its synchronizers. A non-negative integer.
   *
   * @defaultValue the number of participants that the history has had, including this one
   */
  readonly replicaSeed?: number;
}

/**
 * The settings that you can change on a running {@link Sandbox}.
 *
 * @category Sandbox
 */
export type SandboxChanges = Omit<SandboxOptions, 'port' | 'cors' | 'synchronizers' | 'replicaOf' | 'replicaSeed'>;

/**
 * Options of {@link Sandbox.restore}.
 *
 * @category Sandbox
 */
export interface RestoreOptions {
  /**
   * Whether the sandbox reads what came after the backup again from its synchronizers, as a participant does: the same
   * updates with the same ids and record times, in the same order in each synchronizer, with their completions. It reads
   * them at once or, if it is paused, with `resume`. Until then, the ledger ends before what clients have seen.
   *
   * @defaultValue false
   */
  readonly readAgain?: boolean;
  /**
   * Whether updates that are read again get other offsets, and another order across synchronizers.
   *
   * @defaultValue 'other' if there are several synchronizers, else 'same', as observed on participants
   */
  readonly offsets?: 'other' | 'same';
}

/**
 * Options of {@link Sandbox.restart}.
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
  /**
   * Called once all connections have ended, before the sandbox listens again. To put another ledger at the same
   * address, call `restore` and then `generate` or `append` here. Generated updates with another `seed` have other ids.
   * If it throws, the Promise rejects, and the sandbox stays down until the next restart.
   */
  readonly whileDown?: () => void;
}

/**
 * The Canton release line whose behavior the sandbox imitates.
 *
 * @category Sandbox
 */
export type SandboxProfile = '3.3' | '3.4' | '3.5' | '3.6' | '3.7';
