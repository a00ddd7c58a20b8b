import { asyncScheduler } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import { isLedgerError, type LedgerError } from '../errors/LedgerError.js';
import { isTransient } from '../errors/verdict.js';
import { Floors, isMissing } from './Floors.js';
import { bareOffset, type LastUpdate, type LedgerPosition } from '../codecs/LedgerPosition.js';
import { advance, idOf, lastAfter, type Read } from './positions.js';
import type { Elsewhere } from './findElsewhere.js';

/** What is known of a ledger before a reader begins. */
export interface KnownHistory {
  /** Where the reader begins. */
  readonly position: LedgerPosition;
  /** Whether the position must be proven before the reader emits anything. Default: it has just been read. */
  readonly mustProve?: boolean;
  /** Whether something was read of the ledger. Default: if the position has a proof. */
  readonly hasRead?: boolean;
  /** Where the position is on the participant that answers, if it was just found at other offsets, and contracts were read there. */
  readonly place?: Elsewhere | undefined;
  /** After which offset everything up to the position was read, by the same selection. Default: 0. */
  readonly completeAfter?: Offset;
}

/** How long a participant may be silent without an outage, in milliseconds, in addition to the idle timeout of a poll. */
const maxSilenceMs = 60_000;

/** After what time the ID of the participant is read again, in milliseconds. */
const participantMaxAgeMs = 60_000;

/** After so many milliseconds without a contradiction, the next one is the first. */
const contradictionMaxAgeMs = 60_000;

const agreement = { count: 0, since: 0, last: 0 };

/**
 * What one subscription has read of a ledger, and whether it may trust that it still reads the same one: after an outage,
 * another ledger, or another participant, may have taken the place of the first.
 */
export class ReaderHistory {
  #position: LedgerPosition;
  #cursor: Offset;
  #proof: LastUpdate | undefined;
  /** The last update with an ID, also if something without one was read since. */
  #witness: LastUpdate | undefined;
  /** The participant that is read now at other offsets, until what was read before was passed there. */
  #move: { readonly participantId: string | undefined } | undefined;
  /** Whether contracts lack what was read before until it comes again, whatever is pruned. */
  #mustPassAll = false;
  /** What was read before the feed was last in doubt, to leave it out until the next doubt; `undefined` before the first. */
  #floors: Floors | undefined;
  /** The address of the last response; `undefined` before the first. */
  #address: string | undefined;
  /** Up to where the participant was read before the feed went back to its last update; 0 if it did not. */
  #readTo: Offset = 0;
  /** What is unread before this offset was skipped. */
  #skippedTo: Offset = 0;
  readonly #completeAfter: Offset;
  #hasRead: boolean;
  #isDoubtful: boolean;
  #outages = 0;
  #isUnproven = false;
  /** Whether nothing was read since the position was found after a doubt. */
  #isFound = false;
  /** When the ID of the participant was last read, in milliseconds. */
  #participantReadAt: number | undefined;
  /** The number of answers that contradict the ledger, without anything new between them, and when the first and the last came. */
  #contradictions = agreement;
  #answeredAt = asyncScheduler.now();
  readonly #maxSilenceMs: number;

  /** @param idleTimeoutMs - how long a poll may take without an outage, in milliseconds */
  constructor({ position, mustProve = false, hasRead, place, completeAfter = 0 }: KnownHistory, idleTimeoutMs: number) {
    this.#completeAfter = completeAfter;
    this.#position = position;
    this.#cursor = position.offset;
    this.#proof = position.lastUpdate;
    this.#witness = position.lastUpdate;
    this.#isDoubtful = mustProve;
    this.#hasRead = hasRead ?? (position.lastUpdate !== undefined || position.participantId !== undefined);
    this.#maxSilenceMs = maxSilenceMs + idleTimeoutMs;
    if (place !== undefined) this.#moveTo(place, place.floors.some(isMissing));
  }

  /**
   * What was read so far. After a move to other offsets, it keeps those of before until everything that was read before
   * was passed: it is found again from there.
   */
  get position(): LedgerPosition {
    return this.#position;
  }

  /** The position to look for: what was read last may have no ID, but not what was read before. */
  get sought(): LedgerPosition {
    return { ...this.#position, lastUpdate: this.#position.lastUpdate ?? this.#witness };
  }

  /** After which offset everything up to the position was read. */
  get completeAfter(): Offset {
    return Math.max(this.#completeAfter, this.#skippedTo);
  }

  /** Whether the offsets of the position are those of the participant that is read now. */
  get isAddressed(): boolean {
    return this.#move === undefined;
  }

  /** Up to where the participant that answers now was read. */
  get cursor(): Offset {
    return this.#cursor;
  }

  /** The last update at its offset on the participant that answers now: a request that begins with it proves itself. */
  get proof(): LastUpdate | undefined {
    return this.#proof;
  }

  /** Requests begin at the cursor from now on, because the last update is pruned. */
  forgetProof(): void {
    this.#proof = undefined;
  }

  /** Whether there was an outage since the last proof. */
  get isDoubtful(): boolean {
    // a feed that has read nothing yet takes any ledger, and so does one from the beginning
    if (!this.#hasRead || this.#isAtBeginning) return false;
    return this.#isDoubtful || Math.abs(asyncScheduler.now() - this.#answeredAt) > this.#maxSilenceMs;
  }

  /** Whether a feed from offset 0 has read nothing. One that has moved to offset 0 has read something at other offsets. */
  get #isAtBeginning(): boolean {
    return this.#cursor === 0 && this.isAddressed;
  }

  /**
   * Records a response. After a long silence it is doubtful itself: the machine may have slept. So is one from another address,
   * unless it proves the ledger.
   */
  answered(address = this.#address, isProof = false): void {
    if (this.#address !== undefined && address !== this.#address && !isProof) this.interrupted();
    this.#address = address;
    this.#isDoubtful = this.isDoubtful;
    this.#hasRead = true;
    this.#answeredAt = asyncScheduler.now();
  }

  /** The number of failures that raise doubts. */
  get outages(): number {
    return this.#outages;
  }

  /** Records a failed request, unless the failure is about the request or its token, and a ledger that ends too early. */
  failed(error: LedgerError): void {
    const isAboutToken = isLedgerError(error, 'UnauthorizedError') || isLedgerError(error, 'TokenError');
    if (isAboutToken || (!isTransient(error) && !isLedgerError(error, 'LedgerResetError'))) return;
    this.interrupted();
  }

  /** Records an outage: what answers from now on may be another ledger. */
  interrupted(): void {
    this.#outages += 1;
    this.#isDoubtful ||= this.#hasRead;
  }

  /** What was read before the feed was last in doubt; `undefined` if it never was. */
  get floors(): Floors | undefined {
    return this.#floors;
  }

  /** Records what was read and emitted, up to a cursor. */
  read(cursor: Offset, elements: readonly Read[] = []): void {
    this.#cursor = cursor;
    this.#proof = lastAfter(this.#proof, elements);
    if (this.isAddressed) {
      const witness = elements.findLast((element) => idOf(element) !== undefined);
      this.#witness = witness === undefined ? this.#witness : lastAfter(undefined, [witness]);
      this.#position = { ...advance(this.#position, elements), offset: cursor };
    } else this.#position = advance(this.#position, elements, false);
    this.#settle();
  }

  /**
   * Whether to read the ID of the participant: another one may have the last update at the same offset.
   *
   * @param mayRelocate - whether another one may answer later, so that it must be known which one was read first
   */
  mustReadParticipant(mayRelocate: boolean): boolean {
    if (this.#isAtBeginning && !mayRelocate) return false;
    if (this.#participantReadAt === undefined) return true;
    const isOld = Math.abs(asyncScheduler.now() - this.#participantReadAt) > participantMaxAgeMs;
    return isOld && this.#position.participantId !== undefined;
  }

  /**
   * Records the ID of the participant. If it is another one than before, the ledger is in doubt. `undefined`: it has none to
   * report.
   */
  participantIs(participantId: string | undefined): void {
    this.#participantReadAt = asyncScheduler.now();
    const known = this.#move === undefined ? this.#position.participantId : this.#move.participantId;
    if (participantId === undefined || participantId === known) return;
    // from the beginning, any participant may answer
    if (known !== undefined && !this.#isAtBeginning) this.interrupted();
    else if (this.isAddressed) this.#position = { ...this.#position, participantId };
  }

  /** Records an answer that contradicts the ledger. Returns how many there were in a row, and for how long, in milliseconds. */
  contradicted(): { readonly count: number; readonly forMs: number } {
    const now = asyncScheduler.now();
    const { count, since, last } = this.#contradictions;
    const isFirst = count === 0 || Math.abs(now - last) > contradictionMaxAgeMs;
    this.#contradictions = { count: isFirst ? 1 : count + 1, since: isFirst ? now : since, last: now };
    return { count: this.#contradictions.count, forMs: now - this.#contradictions.since };
  }

  /** Records something new: the answers do not contradict each other without end. */
  advanced(): void {
    this.#contradictions = agreement;
  }

  /**
   * Records that the ledger is the same.
   *
   * @param outages - their number when the proof began: what was read before a later outage may be of another ledger
   */
  proven(outages = this.#outages): void {
    this.#isDoubtful = outages !== this.#outages;
    this.#answeredAt = asyncScheduler.now();
  }

  /** Records that the position was found on a participant: the next page must be of that one. */
  found(): void {
    this.#isFound = true;
  }

  /** Whether the next page must be between two readings of the participant's ID: several participants may answer in turn. */
  get mustConfirm(): boolean {
    return this.#isFound && this.isIdentified;
  }

  /** Whether the participant that is read now has an ID that is known. */
  get isIdentified(): boolean {
    return (this.#move ?? this.#position).participantId !== undefined;
  }

  /** Records that a page is of the participant on which the position was found. */
  confirmed(): void {
    this.#isFound = false;
  }

  /** Records that nothing can prove it. Returns whether that is new. */
  unproven(): boolean {
    const isNew = !this.#isUnproven;
    this.#isUnproven = true;
    return isNew;
  }

  /** Continues after the last update: what is there after it was not read, whatever was there before. */
  goOnAfter(offset: Offset): void {
    this.#readTo = Math.max(this.#readTo, this.#position.offset);
    this.#cursor = offset;
    this.#move = undefined;
    this.#proof = this.#position.lastUpdate;
    this.#position = { ...this.#position, offset };
  }

  /**
   * Continues after what was pruned since the feed went back, if it had read that before. Returns whether it had: otherwise, there
   * is a gap.
   */
  passPruned(earliestOffset: Offset = Infinity): boolean {
    if (earliestOffset <= this.#cursor || earliestOffset > this.#readTo) return false;
    this.goOnAfter(earliestOffset);
    this.forgetProof();
    return true;
  }

  /** Leaves out what was read of each synchronizer: a restore may have changed their order. */
  leaveOutRead(): void {
    const { recordTimes } = this.#position;
    this.#floors = new Floors(
      Object.entries(recordTimes)
        .filter(([, { updateId }]) => updateId !== undefined)
        .map(([synchronizerId, point]) => ({ synchronizerId, upTo: undefined, ...point })),
    );
  }

  /** Continues at other offsets of the same history. */
  moveTo(place: Elsewhere): void {
    this.#moveTo(place, this.#mustPassAll && !this.isAddressed);
  }

  #moveTo({ start, proof, participantId, floors: found }: Elsewhere, mustPassAll: boolean): void {
    const floors = mustPassAll ? found.map((floor) => ({ ...floor, isPruned: false })) : found;
    this.#mustPassAll = mustPassAll;
    this.#readTo = 0;
    this.#skippedTo = 0;
    this.#cursor = start;
    this.#proof = proof;
    this.#move = { participantId };
    // what is at or before the start was passed; of a synchronizer without an update, nothing was read
    this.#floors = new Floors(
      floors,
      floors.filter((floor) => isMissing(floor) || (floor.upTo ?? 0) > start),
    );
    this.#settle();
  }

  /** The position has the new offsets once everything that was read before was passed. */
  #settle(): void {
    if (this.#move === undefined || this.#floors?.arePassed === false) return;
    const { participantId } = this.#move;
    const { recordTimes } = this.#position;
    const lastUpdate = this.#proof;
    this.#position = { offset: this.#cursor, recordTimes, participantId, lastUpdate };
    this.#witness = lastUpdate;
    this.#move = undefined;
  }

  /**
   * Forgets the last update: the feed continues at an offset of the participant that answers now, and leaves out what is before
   * it.
   *
   * @param participantId - that participant; by default the one that was read last
   */
  skipTo(offset: Offset, participantId = (this.#move ?? this.#position).participantId): void {
    this.#readTo = 0;
    this.#skippedTo = offset;
    this.#cursor = offset;
    this.#proof = undefined;
    this.#witness = undefined;
    this.#move = undefined;
    this.#position = { ...this.#position, offset, participantId, lastUpdate: undefined };
  }

  /** Forgets the ledger: the feed continues at an offset of another one. */
  restartAt(offset: Offset, participantId: string | undefined): void {
    this.#readTo = 0;
    this.#skippedTo = offset;
    this.#cursor = offset;
    this.#proof = undefined;
    this.#witness = undefined;
    this.#move = undefined;
    this.#floors = undefined;
    this.#position = { ...bareOffset(offset), participantId, lastUpdate: undefined };
    this.#participantReadAt = undefined;
    this.proven();
  }
}
