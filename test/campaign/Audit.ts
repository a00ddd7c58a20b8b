import type { Update } from '../../src/codecs/Update.js';
import type { Asked, Reply } from '../helpers/scripted.js';
import type { Entry, VirtualLedger } from '../helpers/virtualLedger.js';
import { forcedEnd, type ForcedEnd } from './forcedEnd.js';
import { badnessOf, isDownward, isPage } from './inflict.js';

/**
 * The model. It stands at the service's door and writes down what has left it whole: each update that was delivered for
 * the first time must be emitted, in the ledger's order, and nothing else; what of the ledger was passed over on the way
 * must be emitted too.
 */
export class Audit {
  readonly expected: Update[] = [];
  /** When there was something new, in milliseconds. */
  readonly newsAt: number[] = [];
  /** Where a feed must stand that has seen all that was delivered. */
  cursor: number;
  end: (ForcedEnd & { readonly atMs: number }) | undefined;

  constructor(
    private readonly ledger: VirtualLedger,
    private readonly updateOf: (entry: Entry) => Update | undefined,
    private readonly range: { readonly begin: number; readonly bound: number; readonly isDownward: boolean },
  ) {
    this.cursor = range.isDownward ? range.bound + 1 : range.begin;
  }

  /** An answer has reached the client, at a time. */
  delivered(asked: Asked, reply: Reply, ms: number): void {
    const forced = forcedEnd(asked, reply);
    if (forced !== undefined) this.mustEnd(forced, ms);
    const bad = badnessOf(reply);
    const entries = bad?.good ?? this.ledger.entriesIn(reply);
    if (!isPage(asked) || entries === undefined) return;
    // of a good page that is empty, all is known
    if (bad !== undefined && entries.length === 0) return;
    const last = entries.at(-1)?.offset;
    const before = this.expected.length;
    if (isDownward(asked)) this.downTo(last ?? this.range.begin + 1);
    else this.upTo(Math.min(last ?? boundOf(asked) ?? 0, boundOf(asked) ?? Infinity, this.range.bound));
    if (this.expected.length > before) this.newsAt.push(ms);
  }

  mustEnd(forced: ForcedEnd, ms: number): void {
    this.end ??= { ...forced, atMs: ms };
  }

  /** The caller has chosen where to go on. */
  jump(offset: number): void {
    this.end = undefined;
    this.cursor = offset;
  }

  private upTo(offset: number): void {
    this.expect(this.ledger.between(this.cursor, offset));
    this.cursor = Math.max(this.cursor, offset);
  }

  private downTo(offset: number): void {
    this.expect([...this.ledger.between(offset - 1, this.cursor - 1)].reverse());
    this.cursor = Math.min(this.cursor, offset);
  }

  private expect(entries: readonly Entry[]): void {
    for (const entry of entries) {
      const update = this.updateOf(entry);
      if (update !== undefined) this.expected.push(update);
    }
  }
}

const boundOf = ({ body }: Asked): number | undefined =>
  typeof body['endInclusive'] === 'number' ? body['endInclusive'] : undefined;
