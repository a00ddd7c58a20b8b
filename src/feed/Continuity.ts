import { asyncScheduler } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import { isLedgerError, isTransient, type LedgerError } from '../errors/LedgerError.js';

/** Something that the ledger had at an offset: an update, or the update that created a contract. */
export type Evidence =
  { readonly offset: Offset; readonly updateId: string } | { readonly offset: Offset; readonly contractId: string };

/** What is known of a ledger before a feed reads it. */
export interface KnownLedger {
  /** The last thing that the ledger had at or before the start of the feed. */
  readonly evidence?: Evidence | undefined;
  /** The participant to which the offsets belong. */
  readonly participantId?: string | undefined;
  /** Whether it must be proven before the feed emits anything. Default: it has just been. */
  readonly mustProve?: boolean;
  /** Whether something was read of it. Default: only if there is a proof. */
  readonly hasRead?: boolean;
}

/** How long a participant may be silent without an outage, in milliseconds, in addition to the idle timeout of a poll. */
const maxSilenceMs = 60_000;

/**
 * Whether a feed may trust that it still reads the same ledger, and what would prove it. After an outage, another
 * ledger may have taken the place of the first.
 */
export class Continuity {
  #known: KnownLedger;
  #cursor: Offset;
  #hasRead: boolean;
  #isDoubtful: boolean;
  #outages = 0;
  #isUnproven = false;
  #isParticipantRead = false;
  #answeredAt = asyncScheduler.now();
  readonly #maxSilenceMs: number;

  /** @param idleTimeoutMs - how long a poll may take without an outage, in milliseconds */
  constructor(known: KnownLedger, cursor: Offset, idleTimeoutMs: number) {
    this.#known = known;
    this.#cursor = cursor;
    this.#isDoubtful = known.mustProve === true;
    this.#hasRead = known.hasRead ?? (known.evidence !== undefined || known.participantId !== undefined);
    this.#maxSilenceMs = maxSilenceMs + idleTimeoutMs;
  }

  /** The cursor of the feed. */
  get cursor(): Offset {
    return this.#cursor;
  }

  /** The last thing that the ledger had. */
  get evidence(): Evidence | undefined {
    return this.#known.evidence;
  }

  /** The participant to which the offsets belong. */
  get participantId(): string | undefined {
    return this.#known.participantId;
  }

  /** Whether there was an outage since the last proof. */
  get isDoubtful(): boolean {
    // a feed that has read nothing yet takes any ledger, and so does one from the beginning
    if (!this.#hasRead || this.#cursor === 0) return false;
    return this.#isDoubtful || Math.abs(asyncScheduler.now() - this.#answeredAt) > this.#maxSilenceMs;
  }

  /** Records a response. After a long silence it is doubtful itself: the machine may have slept. */
  answered(): void {
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

  /** Records what the feed has emitted, up to a cursor. */
  emitted(cursor: Offset, updates: readonly { readonly offset: Offset; readonly updateId?: string }[] = []): void {
    this.#cursor = cursor;
    const last = updates.findLast(({ updateId }) => updateId !== undefined);
    if (last?.updateId !== undefined)
      this.#known = { ...this.#known, evidence: { offset: last.offset, updateId: last.updateId } };
  }

  /** Whether the ID of the participant is needed as a proof, and was not read. */
  get needsParticipant(): boolean {
    const { evidence, participantId } = this.#known;
    // the update that created a contract may be pruned
    const isAtUpdate = evidence !== undefined && 'updateId' in evidence && evidence.offset === this.#cursor;
    const hasProof = this.#cursor === 0 || participantId !== undefined || isAtUpdate;
    return !hasProof && !this.#isParticipantRead;
  }

  /** Records the ID of the participant, to which the offsets belong from now on. `undefined`: it has none to report. */
  participantIs(participantId: string | undefined): void {
    this.#isParticipantRead = true;
    this.#known = { ...this.#known, participantId };
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

  /** Records that nothing can prove it. Returns whether that is new. */
  unproven(): boolean {
    const isNew = !this.#isUnproven;
    this.#isUnproven = true;
    return isNew;
  }

  /** Forgets the last update: the feed leaves out what follows it. */
  skip(): void {
    this.#known = { ...this.#known, evidence: undefined };
  }

  /** Forgets the ledger: the feed continues on another one. */
  restart(): void {
    this.#known = {};
    this.#isParticipantRead = false;
    this.proven();
  }
}
