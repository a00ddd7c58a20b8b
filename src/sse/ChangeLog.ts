import { toHex } from '../codecs/internal/field.js';
import type { Offset } from '../codecs/scalars.js';
import type { AnyContract } from '../contracts/Contract.js';
import type { ContractChange, ContractsChanged, Reset } from '../contracts/ContractChange.js';
import { ContractList } from '../contracts/ContractSet.js';
import { encodeEvent, type ContractsEvent, sentChange, sentContract, wireVersion } from './ContractsEvent.js';
import { eventBytes } from './ServerSentEvent.js';

/** The maximum size of the events that a log holds, in bytes. It holds one event of any size. */
const maxBytes = 2 * 2 ** 20;

/**
 * The last changes of a view, encoded once for all connections, and the contracts after them. Each change has a number. An
 * ID of an event is that number and a random name of the log, which IDs of another log lack.
 */
export class ChangeLog {
  readonly #name = toHex(crypto.getRandomValues(new Uint8Array(16)));
  readonly #events = new Map<number, Uint8Array>();
  #bytes = 0;
  #capacity = 0;
  #last = 0;
  #contracts = new ContractList<AnyContract>();
  #offset: Offset = 0;
  #isCaughtUp = false;
  /** The last `Reset` of the view; `undefined` until its contracts are known. */
  #reset: { readonly number: number; readonly reason: Reset['reason'] } | undefined;
  /** The number of the last `Reset` to another ledger. */
  #otherLedgerAt = 0;
  /** The encoded contracts after the last change, by the reason that they are sent for. */
  readonly #snapshots = new Map<Reset['reason'], Uint8Array>();

  /** The number of the last change. */
  get last(): number {
    return this.#last;
  }

  /** Whether the contracts are known. */
  get isKnown(): boolean {
    return this.#reset !== undefined;
  }

  /** Holds at least so many events from now on. */
  reserve(events: number): void {
    this.#capacity = Math.max(this.#capacity, events);
  }

  /** Takes the next change. */
  add(change: ContractChange): void {
    this.#last += 1;
    this.#snapshots.clear();
    this.#offset = change.offset;
    switch (change._tag) {
      case 'Reset':
        this.#reset = { number: this.#last, reason: change.reason };
        if (change.reason === 'ledgerReset') this.#otherLedgerAt = this.#last;
        this.#contracts = new ContractList();
        for (const contract of change.contracts) this.#contracts.set(contract.contractId, contract);
        this.#forget();
        return;
      case 'ContractsChanged':
        this.#apply(change);
        // what the user may not see any more must not be sent to a connection that resumes
        if (change.reason === 'selectionChanged') this.#forget();
        break;
      case 'CaughtUp':
      case 'FellBehind':
        this.#isCaughtUp = change._tag === 'CaughtUp';
    }
    this.#hold(eventBytes({ ...encodeEvent(sentChange(change)), id: this.#idOf(this.#last) }));
  }

  /** Returns the event after a change; `undefined` if it is not held. */
  after(number: number): Uint8Array | undefined {
    return this.#events.get(number + 1);
  }

  /** Returns the number in an ID of this log, which may be any; `undefined` for any other text. */
  numberOf(id: string): number | undefined {
    const [name, digits = ''] = id.split('-', 2);
    const isOfThis = name === this.#name && /^[1-9]\d*$/.test(digits) && id === `${name}-${digits}`;
    return isOfThis ? Number(digits) : undefined;
  }

  /**
   * Returns all contracts after the last change, as an event.
   *
   * @param number - the last change that the reader has; `undefined` if it has none
   */
  snapshotFor(number: number | undefined): Uint8Array {
    const reason = this.#reasonFor(number);
    const bytes = this.#snapshots.get(reason) ?? this.#encodeSnapshot(reason);
    this.#snapshots.set(reason, bytes);
    return bytes;
  }

  /** Of a reader that only reads slowly, nothing has happened to the contracts. */
  #reasonFor(number = Infinity): Reset['reason'] {
    if (number < this.#otherLedgerAt) return 'ledgerReset';
    return this.#reset !== undefined && number < this.#reset.number ? this.#reset.reason : 'start';
  }

  /** Returns the event that follows the last one that a connection had missed. */
  resumed(): Uint8Array {
    return this.#mark({ _tag: 'Resumed', offset: this.#offset, isCaughtUp: this.#isCaughtUp });
  }

  /** Returns the event for the error that ended the view. Only its name is sent. */
  failed(error: unknown): Uint8Array {
    return this.#mark({ _tag: 'Failed', error: error instanceof Error ? error.name : 'Error' });
  }

  /** Returns an event that changes nothing, with the ID of the last change. */
  #mark(event: ContractsEvent): Uint8Array {
    return eventBytes({ ...encodeEvent(event), id: this.#idOf(this.#last) });
  }

  #encodeSnapshot(reason: Reset['reason']): Uint8Array {
    return this.#mark({
      _tag: 'Reset',
      ...{ version: wireVersion, reason, offset: this.#offset, isCaughtUp: this.#isCaughtUp },
      contracts: this.#contracts.snapshot.toArray().map(sentContract),
    });
  }

  #apply({ added, removed, moved }: ContractsChanged): void {
    for (const { contractId } of removed) this.#contracts.set(contractId, undefined);
    for (const contract of [...added, ...moved.map((move) => move.contract)])
      this.#contracts.set(contract.contractId, contract);
  }

  #hold(bytes: Uint8Array): void {
    this.#events.set(this.#last, bytes);
    this.#bytes += bytes.byteLength;
    for (const [number, oldest] of this.#events) {
      const isFull = this.#events.size > this.#capacity || this.#bytes > maxBytes;
      if (!isFull || number === this.#last) return;
      this.#events.delete(number);
      this.#bytes -= oldest.byteLength;
    }
  }

  #forget(): void {
    this.#events.clear();
    this.#bytes = 0;
  }

  #idOf(number: number): string {
    return `${this.#name}-${number}`;
  }
}

/** The place of one connection in a log. The log holds what it has not read, so that it holds nothing itself. */
export class LogReader {
  /** The last change that the connection has; `undefined` if it has none. */
  #number: number | undefined;
  /** Whether the connection continues where another one ended, and has not read all that it had missed. */
  #isResuming = false;
  #isBegun = false;

  constructor(
    readonly log: ChangeLog,
    private readonly lastEventId: string | undefined,
    private readonly maxBuffered: number,
  ) {
    log.reserve(maxBuffered);
  }

  /** Returns the next event; `undefined` if there is none now. */
  next(): Uint8Array | undefined {
    const { log } = this;
    if (!log.isKnown) return undefined;
    this.#begin();
    if (this.#number === log.last) return this.#endResuming();
    const number = this.#number ?? -Infinity;
    const event = log.last - number > this.maxBuffered ? undefined : log.after(number);
    if (event !== undefined) {
      this.#number = number + 1;
      return event;
    }
    const snapshot = log.snapshotFor(this.#number);
    this.#number = log.last;
    this.#isResuming = false;
    return snapshot;
  }

  #begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    this.#number = this.lastEventId === undefined ? undefined : this.log.numberOf(this.lastEventId);
    this.#isResuming = this.#number !== undefined;
  }

  #endResuming(): Uint8Array | undefined {
    if (!this.#isResuming) return undefined;
    this.#isResuming = false;
    return this.log.resumed();
  }
}
