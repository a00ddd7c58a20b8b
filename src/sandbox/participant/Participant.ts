import { asyncScheduler, type SchedulerLike } from 'rxjs';
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
import { Completions } from './Completions.js';
import { FaultQueue } from './FaultQueue.js';
import { HostedParties } from './parties.js';
import { PendingSubmissions } from './PendingSubmissions.js';
import type { RequestRecord } from './RequestRecord.js';
import type { Settings } from './Settings.js';

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
