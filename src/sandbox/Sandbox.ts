import type { ExternalParty } from './ExternalParty.js';
import type { ExternalPartyOptions } from './ExternalPartyOptions.js';
import type { Fault } from './faults/Fault.js';
import type { FaultScope } from './faults/FaultScope.js';
import type { GenerateOptions } from './GenerateOptions.js';
import type { HostedParty } from './HostedParty.js';
import type { RestartOptions } from './RestartOptions.js';
import type { SandboxChanges } from './SandboxChanges.js';
import type { SandboxRequest } from './SandboxRequest.js';
import type { WireUpdate } from './wire/WireUpdate.js';
import type { WireUpdateInput } from './wire/WireUpdateInput.js';

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
