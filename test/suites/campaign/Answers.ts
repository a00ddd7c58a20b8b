import type { Reply, ServiceRequest } from '../../helpers/scripted.js';
import type { Entry, VirtualLedger } from '../../helpers/virtualLedger.js';
import {
  badPageOf,
  boundOf,
  forcedEnd,
  type ForcedEnd,
  isBounded,
  isDownward,
  isLedgerEnd,
  isForLastUpdate,
  isLookUp,
  isPage,
} from './requests.js';

/** An answer that ends a feed, if it is the answer's turn. */
export interface Stop extends ForcedEnd {
  /** When it arrived, in milliseconds. */
  readonly atMs: number;
  /** How much had been emitted by then. */
  readonly emitted: number;
  /** After which offset it was requested; `undefined` for what is no page. */
  readonly begin: number | undefined;
  /** What was delivered in order by then. */
  readonly delivered: number;
  /** Whether it shows that a page which was read ahead, and is not emitted yet, is still the same. */
  readonly isConfirmation: boolean;
  /** Whether it is certainly its turn, and nothing makes up for it. */
  readonly isDue: boolean;
}

/** The feed that receives the answers. */
export interface AnsweredFeed {
  readonly begin: number;
  readonly bound: number;
  readonly isDownward: boolean;
  /** The offset of the last update or checkpoint that it emitted, or where it began or continued. */
  readonly position: () => number;
  /** How many updates it has emitted. */
  readonly emitted: () => number;
  readonly age: () => number;
}

/** What reached a feed, whatever it requested, and in which order. */
export class Answers {
  /** When there were new updates, in milliseconds. */
  readonly newsAt: number[] = [];
  /** When more of the ledger was known without a hole, in milliseconds. */
  readonly advancedAt: number[] = [];
  readonly stops: Stop[] = [];
  /** Up to where everything was delivered, at least once. */
  cursor: number;
  private ahead: readonly Cover[] = [];
  /** Whether a request has failed: what is delivered after that may be read again before it takes effect. */
  private isDoubtful = false;
  private isOver = false;

  constructor(
    private readonly ledger: VirtualLedger,
    private readonly feed: AnsweredFeed,
  ) {
    this.cursor = feed.isDownward ? feed.bound + 1 : feed.begin;
  }

  /** Another ledger takes the place of this one: what follows is of that one. */
  stop(): void {
    this.isOver = true;
  }

  /** An answer has reached the client. */
  delivered(request: ServiceRequest, reply: Reply): void {
    if (this.isOver) return;
    const forced = forcedEnd(request, reply);
    if (forced !== undefined) this.stopBy(forced, request);
    if (reply instanceof Error || reply.status >= 400) this.isDoubtful = true;
    const cover = this.coverOf(request, reply);
    if (cover === undefined) return;
    if (this.feed.isDownward) this.descend(cover);
    else this.advance(cover);
  }

  /** A request has ended. Without an answer, it has failed. */
  closed(isAnswered: boolean): void {
    if (!isAnswered) this.isDoubtful = true;
  }

  /** An answer ends the feed, if it is its turn. */
  stopBy(forced: ForcedEnd, request: ServiceRequest): void {
    if (this.isOver) return;
    const { position, emitted, age } = this.feed;
    const begin = isPage(request) ? Number(request.body['beginExclusive']) : undefined;
    const isTurn = begin === undefined ? isLedgerEnd(request) : this.feed.isDownward || begin <= position();
    const isDue = isTurn && this.isDecisive(forced, request);
    const isConfirmation = begin !== undefined && begin > position() && isForLastUpdate(request);
    this.stops.push({
      ...forced,
      ...{ atMs: age(), emitted: emitted(), delivered: this.cursor, begin, isDue, isConfirmation },
    });
  }

  /** The caller has chosen where to continue. */
  jump(offset: number): void {
    this.cursor = offset;
    this.ahead = [];
  }

  /** Whether nothing makes up for an answer: neither a look-up of what was read, nor that a page is read again. */
  private isDecisive({ error, isGap }: ForcedEnd, request: ServiceRequest): boolean {
    // an older ledger may refuse to look back in descending order
    if (isDownward(request) !== this.feed.isDownward) return false;
    if (isGap === true) return boundOf(request) > this.cursor && Number(error['earliestOffset']) > this.cursor;
    // a last update that does not decode is no proof, and needs none
    if (error['_tag'] === 'DecodeError' && Number(error['offset']) <= this.cursor) return false;
    const isOfContent = error['_tag'] === 'DecodeError' || error['_tag'] === 'OrderError';
    return !isOfContent || !this.isDoubtful;
  }

  /** The range that an answer has whole. */
  private coverOf(request: ServiceRequest, reply: Reply): Cover | undefined {
    if (!isPage(request) || isLookUp(request) || isDownward(request) !== this.feed.isDownward) return undefined;
    const bad = badPageOf(reply);
    const entries = bad?.good ?? this.ledger.entriesOf(reply);
    if (entries === undefined || bad?.isNoPage === true) return undefined;
    const begin = Number(request.body['beginExclusive']);
    const last = entries.at(-1)?.offset;
    if (this.feed.isDownward) return { begin: last ?? begin + 1, reached: boundOf(request), entries };
    // an empty page covers its range, as does one that has only the last update; an empty poll covers nothing
    const isEmpty = last === undefined || (begin < this.cursor && last <= this.cursor);
    const known = bad === undefined && isBounded(request) ? boundOf(request) : begin;
    return { begin, reached: Math.min(isEmpty ? known : last, boundOf(request), this.feed.bound), entries };
  }

  private advance(cover: Cover): void {
    this.ahead = [...this.ahead, cover].sort((a, b) => a.begin - b.begin);
    for (;;) {
      const [next] = this.ahead;
      if (next === undefined || next.begin > this.cursor) return;
      this.ahead = this.ahead.slice(1);
      if (next.reached <= this.cursor) continue;
      this.record(next.entries.some(({ offset }) => offset > this.cursor));
      this.cursor = next.reached;
    }
  }

  private descend({ begin, entries }: Cover): void {
    if (begin >= this.cursor) return;
    this.record(entries.some(({ offset }) => offset < this.cursor));
    this.cursor = begin;
  }

  private record(isNews: boolean): void {
    const ms = this.feed.age();
    this.advancedAt.push(ms);
    if (isNews) this.newsAt.push(ms);
  }
}

/** A range that was delivered: all after `begin`, up to `reached`. */
interface Cover {
  readonly begin: number;
  readonly reached: number;
  readonly entries: readonly Entry[];
}
