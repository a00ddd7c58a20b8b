import { asyncScheduler, isObservable } from 'rxjs';
import type { TraceContext } from '../codecs/OffsetCheckpoint.js';
import type { Offset } from '../codecs/scalars.js';
import type { AnyContract } from '../contracts/Contract.js';
import type { ContractSet } from '../contracts/ContractSet.js';
import type { ContractsBatch } from '../contracts/ContractChange.js';
import { hasPassed, type TransactionPlace } from '../contracts/firstWith.js';
import { resetOf, type View } from '../contracts/LiveState.js';
import type { WorkCounts } from '../diagnostics/SubmissionDiagnostic.js';
import type { Places } from '../dispatch/Places.js';
import { monotonicNow } from '../http/clock.js';
import { DueQueue } from './DueQueue.js';
import { Entry } from './Entry.js';
import type { Acted, Rule } from './Rule.js';

/** The minimum time between two decisions on idle contracts, in milliseconds. */
const recheckAfterMs = 250;

/** How often the clock is read while nothing happens, in milliseconds: it may be set. Rounds and times may depend on it. */
const clockMs = 60_000;

/** By how many milliseconds the clock may differ before it counts as set. */
const toleratedMs = 1_000;

/**
 * Whether a view has continued at other offsets of the same history: its participant was restored from a backup. It may have
 * done so before it reads all contracts again.
 */
const hasMoved = (before: ContractsBatch<AnyContract>, now: ContractsBatch<AnyContract>): boolean =>
  now.isMoved === true || now.offset < before.offset || resetOf(now) !== undefined;

/** What there is to do for a rule, by the contracts of its view: what is due, what is in progress, and what failed. */
export class Agenda {
  readonly #entries = new Map<string, Entry>();
  readonly #queue = new DueQueue<Entry>();
  readonly #waiting = new Set<Entry>();
  /** Contracts with remembered actions that were archived, until that is saved. Only if the parties of the view come and go. */
  readonly #archived = new Set<string>();
  #known: NonNullable<View<AnyContract>['known']> | undefined;
  #moves = 0;
  #isLive = false;
  /** Whether the contracts have changed since idle contracts were last looked at. */
  #hasChanged = false;
  #recheckedAt = -Infinity;
  /** How far the clock of the machine, which may be set, is ahead of the one that cannot be. */
  #aheadMs = asyncScheduler.now() - monotonicNow();

  /** @param isRemembered - whether there are remembered actions of a contract, which are forgotten when it is archived */
  constructor(
    private readonly rule: Rule,
    readonly places: Places,
    private readonly isRemembered: (contractId: string) => boolean = () => false,
  ) {}

  get contracts(): ContractSet | undefined {
    return this.#known?.contracts;
  }

  get offset(): Offset {
    return this.#known?.offset ?? 0;
  }

  /** How often the view has continued at other offsets: those from before mean nothing any more. */
  get moves(): number {
    return this.#moves;
  }

  /** Applies what the view shows. Returns the actions that another transaction overtook. */
  apply({ known, isLive }: View<AnyContract>): Acted[] {
    this.#isLive = isLive;
    if (known === undefined || known === this.#known) return [];
    this.#hasChanged ||= known.contracts !== this.#known?.contracts;
    // a view that others use already begins with its last change
    const isWhole = this.#known === undefined || resetOf(known) !== undefined;
    if (this.#known !== undefined && hasMoved(this.#known, known)) this.#forgetOffsets();
    this.#known = known;
    const obsolete: Acted[] = [];
    const remove = (contractId: string): void => {
      obsolete.push(...this.#remove(contractId));
    };
    if (isWhole) {
      for (const contractId of this.#entries.keys()) if (!known.contracts.has(contractId)) remove(contractId);
      for (const contract of known.contracts) this.#admit(contract);
    }
    for (const change of isWhole ? [] : known.items) {
      if (change._tag !== 'ContractsChanged') continue;
      // otherwise, a party has left, which may come back
      const isArchived = change.reason === undefined;
      for (const { contractId } of change.removed) {
        if (isArchived) this.#noteArchived(contractId);
        remove(contractId);
      }
      for (const contract of change.added) this.#admit(contract, change.update?.traceContext);
      for (const { contract } of change.moved) this.#admit(contract);
    }
    for (const entry of this.#waiting) if (entry.hasPassed(known)) this.#passed(entry);
    return obsolete;
  }

  /** Removes entries that are due from the queue, oldest first, while there are free places. The caller works on each. */
  *take(): Generator<Entry, void> {
    if (!this.#isLive) return;
    this.#recheck();
    while (this.places.isFree) {
      const entry = this.#queue.take(this.#now());
      if (entry === undefined) return;
      entry.state = 'busy';
      yield entry;
    }
  }

  /** How long nothing is due, in milliseconds. `Infinity` if only a change can help. */
  get waitMs(): number {
    if (!this.#isLive) return Infinity;
    return Math.max(1, Math.min(this.#queue.nextAt - this.#now(), this.#recheckInMs));
  }

  /**
   * Calls the rule again right before a decision: the contract may be in flight by now, and a rule that threw has not said when
   * it is due. Returns whether to decide. Throws what the rule throws.
   */
  confirm(entry: Entry): boolean {
    const at = entry.dueAt(this.rule);
    // what was due stays due, even if the rule now names the next time
    const dueTime = Math.min(at ?? Infinity, entry.dueTime);
    if (at === undefined || dueTime > asyncScheduler.now()) {
      this.#scheduleAt(entry, at);
      return false;
    }
    entry.dueTime = dueTime;
    return true;
  }

  /**
   * Whether nothing acts on a contract again. One that the view no longer has was archived. If the parties of the view come and go,
   * it may only be hidden: then its archival must have been seen, which is returned once.
   */
  isGone(contractId: string): boolean {
    const { contracts } = this;
    if (contracts === undefined || contracts.has(contractId)) return false;
    return !this.#maySeeAgain || this.#archived.delete(contractId);
  }

  get #maySeeAgain(): boolean {
    return isObservable(this.rule.query.parties);
  }

  /** There is nothing to do for the contract in this round until the contracts are others than those of the decision. */
  rest(entry: Entry, round: string, contracts: ContractSet): void {
    entry.state = 'idle';
    entry.idleRound = round;
    this.#hasChanged ||= contracts !== this.contracts;
  }

  /** What was decided is submitted when there is a place. */
  ready(entry: Entry): void {
    // before the contracts that became due at the same time and are not decided
    this.#schedule(entry, entry.dueTime - 1, 'scheduled');
  }

  /** The contract is decided when the rule says, by its present state. */
  reconsider(entry: Entry): void {
    // decided for other circumstances, and not submitted
    if (!entry.isOpen) entry.submission = undefined;
    try {
      this.#scheduleAt(entry, entry.dueAt(this.rule));
    } catch {
      // the decision fails with the error
      this.#schedule(entry, asyncScheduler.now(), 'scheduled');
      entry.dueTime = Infinity;
    }
  }

  /** Decides again on the contracts that were given up because the participant is pruned: it is known by now that this is safe. */
  reopen(): void {
    for (const entry of this.#entries.values()) {
      if (entry.parkedRound === undefined) continue;
      entry.endedRounds.delete(entry.parkedRound);
      entry.parkedRound = undefined;
      if (entry.state === 'idle') this.reconsider(entry);
    }
  }

  /** The contract is due again after a delay, because its action failed. Returns when. */
  retry(entry: Entry, delayMs: number): number {
    const at = this.#now() + delayMs;
    this.#schedule(entry, at, 'retrying');
    return at;
  }

  /** The contract is not looked at before the view has passed its transaction, or an offset, unless it continues at other offsets. */
  await(entry: Entry, place: TransactionPlace | Offset): void {
    const { moves } = this;
    entry.state = 'waiting';
    entry.hasPassed = (known) => {
      if (this.#moves === moves) return known.offset >= (typeof place === 'number' ? place : place.offset);
      return typeof place === 'number' || hasPassed(known, place);
    };
    this.#waiting.add(entry);
    if (this.#known !== undefined && entry.hasPassed(this.#known)) this.#passed(entry);
  }

  /** How much there is to do. */
  counts(): WorkCounts {
    const now = this.#now();
    const due = this.#queue.countDue(now);
    return {
      waiting: this.#queue.size - due,
      due,
      running: this.places.running,
      parked: this.#count(({ parkedRound }) => parkedRound !== undefined),
      oldestMs: due === 0 ? 0 : now - this.#queue.nextAt,
    };
  }

  /** What a status shows of this. */
  status() {
    const active = this.places.isPaused ? 'paused' : 'running';
    return {
      role: this.#known === undefined ? 'starting' : 'leader',
      state: this.#isLive ? active : 'stale',
      ...this.counts(),
      failed: this.#count(({ failures }) => failures > 0),
      ...(this.#known !== undefined && { offset: this.#known.offset }),
    } as const;
  }

  #count(is: (entry: Entry) => boolean): number {
    return [...this.#entries.values()].filter(is).length;
  }

  /** Adds a contract, which may have been created in a trace, or the new state of one. */
  #admit(contract: AnyContract, traceContext?: TraceContext): void {
    const { contractId } = contract;
    if (contract._tag === 'UndecodedContract') {
      this.#remove(contractId);
      return;
    }
    const entry = this.#entries.get(contractId);
    if (entry !== undefined) {
      entry.contract = contract;
      entry.idleRound = undefined;
      if (entry.state === 'idle' || entry.state === 'scheduled') this.reconsider(entry);
      return;
    }
    const added = new Entry(contract, traceContext);
    this.#entries.set(contractId, added);
    this.reconsider(added);
  }

  #noteArchived(contractId: string): void {
    if (this.#maySeeAgain && this.isRemembered(contractId)) this.#archived.add(contractId);
  }

  #remove(contractId: string): Acted[] {
    const entry = this.#entries.get(contractId);
    if (entry === undefined) return [];
    this.#entries.delete(contractId);
    entry.isGone = true;
    // only an open outcome is still of interest
    if (!entry.isOpen) this.#queue.remove(entry);
    const isOvertaken = entry.state === 'retrying' && entry.races > 0 && entry.submission === undefined;
    return isOvertaken ? [{ _tag: 'Obsolete', contractId }] : [];
  }

  #forgetOffsets(): void {
    this.#moves += 1;
    for (const entry of this.#entries.values()) entry.forgetOffsets();
  }

  /** The view has passed what the contract waits for. */
  #passed(entry: Entry): void {
    this.#waiting.delete(entry);
    entry.state = 'idle';
    this.#hasChanged = true;
  }

  get #recheckInMs(): number {
    return this.#recheckedAt + (this.#hasChanged ? recheckAfterMs : clockMs) - monotonicNow();
  }

  /** Looks at contracts again whose time has not come, or for which there was nothing to do. */
  #recheck(): void {
    if (this.#recheckInMs > 0) return;
    const now = this.#now();
    const hasChanged = this.#hasChanged;
    this.#recheckedAt = monotonicNow();
    this.#hasChanged = false;
    for (const entry of this.#entries.values()) {
      if (hasChanged) entry.idleRound = undefined;
      const at = this.#queue.timeOf(entry) ?? -Infinity;
      // what is due stays due, even if the rule now names the next time
      if (entry.state === 'idle' || (entry.state === 'scheduled' && at > now)) this.reconsider(entry);
    }
  }

  /** The time of the machine. If its clock was set, what is tried again later keeps its delay. */
  #now(): number {
    const now = asyncScheduler.now();
    const byMs = now - monotonicNow() - this.#aheadMs;
    if (Math.abs(byMs) < toleratedMs) return now;
    this.#aheadMs += byMs;
    for (const [entry, at] of this.#queue.times()) if (entry.state === 'retrying') this.#queue.add(entry, at + byMs);
    return now;
  }

  /** Schedules a contract for the time that the rule names. */
  #scheduleAt(entry: Entry, at: number | undefined): void {
    if (at === undefined) {
      entry.state = 'idle';
      this.#queue.remove(entry);
      return;
    }
    entry.dueTime = at;
    this.#schedule(entry, at, 'scheduled');
  }

  #schedule(entry: Entry, at: number, state: Entry['state']): void {
    entry.state = state;
    this.#queue.add(entry, at);
  }
}
