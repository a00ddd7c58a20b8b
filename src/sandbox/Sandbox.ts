import type { HttpPort } from '../http/HttpPort.js';
import type { SocketPort } from '../ws/SocketPort.js';
import type { Fault, FaultScope } from './faults/Fault.js';
import type { PackageEntities } from './ledger/PackageEntities.js';
import type { ExternalParty, ExternalPartyOptions, HostedParty } from './participant/parties.js';
import type { SandboxChanges } from './SandboxChanges.js';
import type { SandboxRequest } from './SandboxRequest.js';
import type { SandboxTemplate } from './templates/TemplateBody.js';
import type { GenerateOptions } from './traffic/GenerateOptions.js';
import type { WireUpdate, WireUpdateInput } from './wire/WireUpdate.js';

/**
 * An embedded participant, and the means to control it.
 *
 * @category Sandbox
 */
export interface Sandbox {
  /** The base URL of its clients, without a trailing slash: that of the server, or `http://sandbox.test` without one. */
  readonly url: string;
  /**
   * Sends requests to the sandbox without a server, for the option `port` of `createLedger`. Its errors are those of broken
   * and refused connections.
   */
  readonly port: HttpPort;
  /** Opens WebSockets to the sandbox without a server, for the option `port` of `webSocketTransport`. */
  readonly socketPort: SocketPort;
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
   * Restores the ledger to an earlier end, as restoring a backup does. Requests that wait lose their connections, and
   * streaming WebSockets are closed with code 1011. What came after the backup is lost, also submissions that are
   * not committed yet, and the sandbox shares its history with no other one from then on, unless `readAgain` is set.
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
  /**
   * Uploads templates: later versions of packages, or further packages. As on a participant, the names of their packages then
   * select the newest versions, as which earlier contracts are used.
   *
   * @returns the ids of their packages, in the same order
   * @throws TypeError if a template is defined already in its version
   */
  uploadTemplates(...templates: readonly SandboxTemplate[]): readonly string[];
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
  /** The same as {@link Sandbox.close}, for `await using sandbox = …`. */
  [Symbol.asyncDispose](): Promise<void>;
}

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
  /**
   * Whether the sandbox no longer recognizes the commands that it reads again as duplicates, as a participant that was restored
   * from an older backup.
   *
   * @defaultValue false
   */
  readonly forgetsCommands?: boolean;
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
