import {
  asyncScheduler,
  type SchedulerLike,
  AsyncSubject,
  defer,
  map,
  type Observable,
  Subscription,
  timer,
} from 'rxjs';
import { Ledger, type LedgerEntry } from '../ledger/Ledger.js';
import { Packages } from '../ledger/Packages.js';
import { Inbox } from '../network/Inbox.js';
import { asReceived, Network } from '../network/Network.js';
import { cantonEncoding } from '../prepared/PreparedTransaction.js';
import { plainEncoding, type PreparedEncoding } from '../prepared/PreparedEncoding.js';
import { Random } from '../Random.js';
import { Models } from '../templates/Models.js';
import type { SandboxTemplate } from '../templates/TemplateBody.js';
import { TrafficState } from '../traffic/TrafficState.js';
import { updateValue } from '../wire/WireUpdate.js';
import { Completions, type Submission } from './Completions.js';
import { HostedParties } from './parties.js';
import type { RequestRecord } from './RequestRecord.js';
import type { Settings } from './Settings.js';
import { checkNotNegative } from '../../codecs/internal/numbers.js';
import type { Fault, FaultScope } from '../faults/Fault.js';
import { clampTimer } from '../wire/values.js';

/** The state of the sandbox, which outlives its connections. */
export class Participant {
  readonly scheduler: SchedulerLike;
  readonly ledger: Ledger;
  readonly models: Models;
  readonly hosted: HostedParties;
  readonly completions: Completions;
  readonly pending: PendingSubmissions;
  readonly encoding: PreparedEncoding;
  readonly faults = new FaultQueue();
  readonly log: RequestRecord[] = [];
  readonly inbox: Inbox;
  /** The contracts of generated traffic. */
  traffic: TrafficState;
  private network: Network;

  constructor(
    readonly settings: Settings,
    { original, scheduler, seed = (original?.network.joined ?? 0) + 1, templates = [] }: Origin = {},
  ) {
    this.scheduler = original?.scheduler ?? scheduler ?? asyncScheduler;
    const { scheduler: time } = this;
    this.ledger = new Ledger(new Packages(original?.ledger.packages), time);
    this.models = new Models(original?.models.templates ?? templates, this.ledger.packages);
    // in the time of a scheduler, nothing can wait for the Promises of the encoding of Canton
    this.encoding = original?.encoding ?? (scheduler === undefined ? cantonEncoding(this.models) : plainEncoding);
    this.completions = new Completions(time);
    this.pending = new PendingSubmissions(time);
    this.hosted = original?.hosted ?? new HostedParties();
    this.traffic = original?.traffic ?? new TrafficState();
    this.inbox = new Inbox(this.ledger, this.completions, seed);
    this.network = original?.network ?? new Network();
    const number = this.network.join(this.inbox);
    if (original !== undefined) this.readHistoryOf(original, number, seed);
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
      // after that, because a reader may answer with a commit
      ledger.notify();
    }
  }

  /** Goes back to an earlier end, and loses the rest: from now on, this participant has its own history. */
  restore(ledgerEnd: number): void {
    const { ledger, completions, inbox, pending } = this;
    // they are submissions to the ledger of before
    pending.clear();
    if (this.network.isShared) this.traffic = this.traffic.copy();
    ledger.restore(ledgerEnd, { returns: false });
    completions.restore(ledgerEnd);
    inbox.clear();
    this.leave();
    this.network = new Network();
    this.network.join(inbox);
    this.traffic.restore(ledger);
    ledger.notify();
  }

  /** Goes back to an earlier end, and reads the rest again, at other offsets or at the same ones. */
  restoreAndRead(ledgerEnd: number, offsets: 'other' | 'same', forgetsCommands: boolean): void {
    const { ledger, completions, inbox } = this;
    const { end, restores } = ledger;
    const rest = ledger.restore(ledgerEnd, { returns: true });
    ledger.salt = [...ledger.salt, 'restored', restores];
    const removed = new Map(
      completions
        .restore(ledgerEnd)
        .map((each) => [each.offset, { ...each, isForgotten: forgetsCommands || each.isForgotten === true }]),
    );
    const arrivals = rest.map((entry) => {
      const { offset } = updateValue(entry.update);
      const completion = removed.get(offset);
      return { ...entry, ...(completion && { completion }), ...(offsets === 'same' && { offset }) };
    });
    inbox.readAgain(arrivals, end + 1);
    ledger.notify();
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

/** What a participant begins with. */
interface Origin {
  /** A participant whose history this one shares, with its time, its parties and its templates. */
  readonly original?: Participant | undefined;
  /** Whose time is that of the participant; by default that of the machine. */
  readonly scheduler?: SchedulerLike | undefined;
  /**
   * Chooses the offsets, and the order in which the synchronizers are read; by default the number of the participant in its
   * history.
   */
  readonly seed?: number | undefined;
  readonly templates?: readonly SandboxTemplate[] | undefined;
}

/** The queued faults. */
class FaultQueue {
  readonly #queue: QueuedFault[] = [];

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

interface QueuedFault {
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

/** The submissions that are in flight, by change id, and those that are not registered yet. */
class PendingSubmissions {
  readonly #inFlight = new Map<string, Submission>();
  readonly #locked = new Set<string>();
  #running = new Subscription();

  constructor(private readonly scheduler: SchedulerLike) {}

  find(changeId: string): Submission | undefined {
    return this.#inFlight.get(changeId);
  }

  /** Whether a submission that is in flight locks a contract. */
  isLocked(contractId: string): boolean {
    return this.#locked.has(contractId);
  }

  /** Keeps a change in flight for a time, with contracts locked, and then emits. It must not be in flight already. */
  hold(changeId: string, submission: Submission, contractIds: readonly string[], ms: number): Observable<undefined> {
    return defer(() => {
      this.#inFlight.set(changeId, submission);
      for (const contractId of contractIds) this.#locked.add(contractId);
      return timer(clampTimer(ms), this.scheduler);
    }).pipe(
      map(() => {
        this.#inFlight.delete(changeId);
        for (const contractId of contractIds) this.#locked.delete(contractId);
        return undefined;
      }),
    );
  }

  /** Runs the work of a submission to its end, also if its client disconnects. Emits the result. */
  run<A>(work$: Observable<A>): Observable<A> {
    const result$ = new AsyncSubject<A>();
    this.#running.add(work$.subscribe(result$));
    return result$;
  }

  /** Cancels all pending submissions. */
  clear(): void {
    this.#running.unsubscribe();
    this.#running = new Subscription();
    this.#inFlight.clear();
    this.#locked.clear();
  }
}
