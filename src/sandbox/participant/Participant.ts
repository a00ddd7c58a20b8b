import { checkNotNegative } from '../../codecs/internal/field.js';
import type { Fault, FaultScope } from '../Fault.js';
import { Ledger, type LedgerEntry } from '../ledger/Ledger.js';
import { Packages } from '../ledger/Packages.js';
import { Inbox } from '../network/Inbox.js';
import { asReceived, Network } from '../network/Network.js';
import { Random } from '../Random.js';
import type { SandboxRequest } from '../SandboxRequest.js';
import { clampTimer } from '../wire/values.js';
import { updateValue } from '../wire/WireUpdate.js';
import { Completions, type Submission } from './Completions.js';
import { HostedParties } from './parties.js';
import type { Settings } from './Settings.js';

/** The state of the sandbox, which outlives its server. */
export class Participant {
  readonly ledger: Ledger;
  readonly hosted: HostedParties;
  readonly completions = new Completions();
  readonly pending = new PendingSubmissions();
  readonly faults = new FaultQueue();
  readonly log: RequestRecord[] = [];
  readonly inbox: Inbox;
  private network: Network;

  /**
   * @param original - a participant whose history this one shares
   * @param seed - chooses the offsets, and the order in which the synchronizers are read; by default the number of the
   * participant in its history
   */
  constructor(
    readonly settings: Settings,
    original?: Participant,
    seed = (original?.network.joined ?? 0) + 1,
  ) {
    this.ledger = new Ledger(new Packages(original?.ledger.packages));
    this.hosted = original?.hosted ?? new HostedParties();
    this.inbox = new Inbox(this.ledger, this.completions, seed);
    this.network = original?.network ?? new Network();
    const number = this.network.join(this.inbox);
    if (original !== undefined) this.readHistoryOf(original, number, seed);
  }

  /** Whether other participants have the same history. */
  get isShared(): boolean {
    return this.network.isShared;
  }

  /** Commits updates of this participant, after those that it has received. The others of its history receive them. */
  commit(entries: Iterable<LedgerEntry>): void {
    const { ledger, inbox } = this;
    inbox.drain();
    const { length } = ledger.updates;
    try {
      ledger.commit(entries);
    } finally {
      this.network.send(ledger.entriesFrom(length), inbox);
    }
  }

  /** Goes back to an earlier end, and loses the rest: from now on, this participant has its own history. */
  restore(ledgerEnd: number): void {
    const { ledger, completions, inbox } = this;
    ledger.restore(ledgerEnd, { returns: false });
    completions.restore(ledgerEnd);
    inbox.clear();
    this.leave();
    this.network = new Network();
    this.network.join(inbox);
  }

  /** Goes back to an earlier end, and reads the rest again, at other offsets or at the same ones. */
  restoreAndRead(ledgerEnd: number, offsets: 'other' | 'same'): void {
    const { ledger, completions, inbox } = this;
    const { end, restores } = ledger;
    const rest = ledger.restore(ledgerEnd, { returns: true });
    ledger.salt = [...ledger.salt, 'restored', restores];
    const removed = new Map(completions.restore(ledgerEnd).map((completion) => [completion.offset, completion]));
    const arrivals = rest.map((entry) => {
      const { offset } = updateValue(entry.update);
      const completion = removed.get(offset);
      return { ...entry, ...(completion && { completion }), ...(offsets === 'same' && { offset }) };
    });
    inbox.readAgain(arrivals, end + 1);
    inbox.settle();
  }

  /** Receives nothing more of the others, and sends them nothing. */
  leave(): void {
    this.network.leave(this.inbox);
  }

  /** Reads a history from its start, at its own offsets. */
  private readHistoryOf({ ledger, inbox }: Participant, number: number, seed: number): void {
    this.ledger.salt = ['participant', number];
    this.ledger.advance(1 + new Random(seed).below(50));
    this.inbox.receive([...ledger.entriesFrom(0), ...inbox.pending].map(asReceived));
    this.inbox.drain();
  }
}

/** The submissions that are in flight, by change id, and those that are not registered yet. */
class PendingSubmissions {
  readonly #inFlight = new Map<string, Submission>();
  readonly #locked = new Set<string>();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();

  find(changeId: string): Submission | undefined {
    return this.#inFlight.get(changeId);
  }

  /** Whether a submission that is in flight locks a contract. */
  isLocked(contractId: string): boolean {
    return this.#locked.has(contractId);
  }

  /** Keeps a change in flight for a time, with contracts locked. It must not be in flight already. */
  async add(changeId: string, submission: Submission, contractIds: readonly string[], ms: number): Promise<void> {
    this.#inFlight.set(changeId, submission);
    for (const contractId of contractIds) this.#locked.add(contractId);
    await this.wait(ms);
    this.#inFlight.delete(changeId);
    for (const contractId of contractIds) this.#locked.delete(contractId);
  }

  /** Resolves after a time, unless the pending submissions are cancelled. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        resolve();
      }, clampTimer(ms));
      this.#timers.add(timer);
      timer.unref();
    });
  }

  /** Cancels all pending submissions. */
  clear(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#inFlight.clear();
    this.#locked.clear();
  }
}

/** A request in the log. */
export class RequestRecord implements SandboxRequest {
  body: unknown = undefined;
  status?: number;
  aborted = false;
  readonly at = Date.now();
  #settled = false;

  constructor(
    readonly method: string,
    readonly path: string,
    readonly query: Readonly<Record<string, string>>,
    readonly authorized: boolean,
  ) {}

  /** From now on, a closed connection does not count as aborted by the client. */
  settle(): void {
    this.#settled = true;
  }

  onClose(): void {
    this.aborted = !this.#settled;
  }
}

/** The queued faults. */
class FaultQueue {
  readonly #queue: Entry[] = [];

  add(fault: Fault, { path, after = 0, times = 1 }: FaultScope = {}): void {
    checkNotNegative({ after, times });
    if ('ms' in fault) checkNotNegative({ ms: fault.ms });
    if ('bytes' in fault) checkNotNegative({ bytes: fault.bytes });
    if ('elements' in fault) checkNotNegative({ elements: fault.elements });
    this.#queue.push({ fault, path, after, remaining: times });
  }

  /** Takes the first fault that is due for a path, and counts the request for the faults that are not due yet. */
  take(path: string, target: 'request' | 'upgrade' = 'request'): Fault | undefined {
    const candidates = this.#queue.filter(
      ({ path: pattern, fault }) => matchesPath(path, pattern) && appliesTo[target](fault),
    );
    const entry = candidates.find(({ after }) => after <= 0);
    for (const waiting of candidates) waiting.after -= 1;
    if (entry === undefined) return undefined;
    entry.remaining -= 1;
    if (entry.remaining <= 0) this.#queue.splice(this.#queue.indexOf(entry), 1);
    return entry.fault;
  }
}

interface Entry {
  readonly fault: Fault;
  readonly path: string | RegExp | undefined;
  after: number;
  remaining: number;
}

const upgradeKinds = new Set<Fault['kind']>(['status', 'reset', 'hang', 'rewrite']);

const appliesTo = {
  request: ({ kind }: Fault) => kind !== 'socket',
  upgrade: ({ kind }: Fault) => kind === 'socket' || upgradeKinds.has(kind),
};

function matchesPath(path: string, pattern: string | RegExp | undefined): boolean {
  if (pattern === undefined || typeof pattern === 'string') return pattern === undefined || pattern === path;
  // unlike test(), search() has no state in a global pattern
  return path.search(pattern) >= 0;
}
