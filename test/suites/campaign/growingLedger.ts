import fc from 'fast-check';
import { timer } from 'rxjs';
import { type Update, UpdateElement } from '../../../src/codecs/Update.js';
import {
  reassignmentArbitrary,
  topologyTransactionArbitrary,
  transactionArbitrary,
  unknownUpdateArbitrary,
} from '../../helpers/arbitraries/index.js';
import type { Entry, VirtualLedger, VirtualOptions } from '../../helpers/virtualLedger.js';
import type { Change, Growth, ProfileName, Replacement, Schedule } from './Schedule.js';

/** Applies the growth and the changes of a schedule to a ledger, and knows the update of each of its entries. */
export class GrowingLedger {
  /** What the ledger ever had before another one took its place, also what a restore has taken from it since. */
  readonly history: Entry[] = [];
  private readonly updates = new WeakMap<object, Update>();
  private isFrozen = false;
  /** The updates of the ledger before a replacement, and those that the other ledger has, too; absent before. */
  replaced: { readonly first: readonly Entry[]; readonly sharedEnd: number } | undefined;

  constructor(
    private readonly ledger: VirtualLedger,
    private readonly schedule: Schedule,
    private readonly beforeReplacement: () => void,
  ) {
    schedule.ledger.slice(0, schedule.known).forEach(this.grow);
  }

  /** The updates that a feed must emit for entries. */
  readonly updatesOf = (entries: readonly Entry[]): readonly Update[] =>
    entries.flatMap(({ element }) => this.updates.get(element) ?? []);

  /** Starts the timers of the schedule. */
  start(): void {
    let at = 0;
    for (const growth of this.schedule.ledger.slice(this.schedule.known)) {
      at += growth.afterMs;
      timer(at).subscribe(() => {
        if (!this.isFrozen) this.grow(growth);
      });
    }
    for (const change of this.schedule.changes) {
      timer(change.atMs).subscribe(() => {
        this.apply(change);
      });
    }
  }

  private readonly grow = ({ gap, sample }: Growth): void => {
    const offset = this.ledger.end + gap;
    if (sample === null) {
      this.ledger.end = offset;
      return;
    }
    const element = this.elementAt(sample, offset);
    if (this.replaced === undefined) this.history.push({ offset, element });
    this.ledger.append(offset, element);
  };

  private elementAt(sample: number, offset: number): object {
    const { element, update } = sampleAt(sample, offset, this.replaced !== undefined);
    this.updates.set(element, update);
    return element;
  }

  private replace({ shared, growth, isOtherParticipant }: Replacement): void {
    const { ledger } = this;
    this.beforeReplacement();
    const sharedEnd = Math.floor((ledger.end * shared) / 1_000);
    this.replaced = { first: ledger.between(0, ledger.end), sharedEnd };
    const entries = [...ledger.between(0, sharedEnd)];
    let end = sharedEnd;
    for (const { gap, sample } of growth) {
      end += gap;
      if (sample !== null) entries.push({ offset: end, element: this.elementAt(sample, end) });
    }
    ledger.replace(entries, end, isOtherParticipant ? 'second::1220' : undefined);
  }

  private apply(change: Change): void {
    const { ledger } = this;
    switch (change.kind) {
      case 'restart':
        ledger.reconfigure({ maxListElements: change.maxListElements });
        ledger.disconnect();
        return;
      case 'prune':
        ledger.pruned = Math.max(ledger.pruned, Math.floor((ledger.end * change.share) / 1_000));
        return;
      case 'restore':
        ledger.restore(Math.max(ledger.pruned, ledger.end - change.back));
        // with growth, it would be another ledger
        this.isFrozen = true;
        return;
      case 'replace':
        this.replace(change);
        return;
      case 'upgrade':
        return;
    }
  }
}

// 3.3 would be 3.4 here: it serves the same paths. Its wire form is played against the sandbox, over sockets
const profiles: Readonly<Record<ProfileName, VirtualOptions>> = {
  interface: { flats: 'served', updates: 'gone', hasLedgerEnd: false },
  '3.4': { flats: 'served', updates: 'served', hasLedgerEnd: true },
  '3.5': { flats: 'served', updates: 'served', hasLedgerEnd: true, earlyCheckpointMs: 500 },
  '3.6 disabled': { flats: 'disabled', updates: 'served', hasLedgerEnd: true, earlyCheckpointMs: 500 },
  '3.6 gone': { flats: 'gone', updates: 'served', hasLedgerEnd: true, earlyCheckpointMs: 500 },
};

const isUpgrade = (change: Change): change is Change & { readonly kind: 'upgrade' } => change.kind === 'upgrade';

/** The configuration of the replica that answers the n-th request, at a time in milliseconds. */
export function replicaAt({ profile, checkpointMs, changes }: Schedule, ms: number, n: number): VirtualOptions {
  const name = changes
    .filter(isUpgrade)
    .filter(({ atMs }) => ms >= atMs)
    .reduce<ProfileName>(
      (old, { atMs, rollingMs, to }) => (ms < atMs + rollingMs && (n * 7) % 5 < 3 ? old : to),
      profile,
    );
  const { earlyCheckpointMs } = profiles[name];
  return { ...profiles[name], earlyCheckpointMs: earlyCheckpointMs === undefined ? undefined : (checkpointMs ?? 500) };
}

/** An update as the service sends it, and as the feed must emit it. */
interface Sample {
  readonly element: object;
  readonly update: Update;
}

const samplesPerVariant = 24;

// made once: the campaign varies the times of updates, not their contents
const samples: readonly Update[] = [
  ...fc.sample(transactionArbitrary, { numRuns: samplesPerVariant, seed: 1 }),
  ...fc.sample(reassignmentArbitrary, { numRuns: samplesPerVariant, seed: 2 }),
  ...fc.sample(topologyTransactionArbitrary, { numRuns: samplesPerVariant, seed: 3 }),
  ...fc.sample(unknownUpdateArbitrary, { numRuns: samplesPerVariant, seed: 4 }),
].map((update) => decode(JSON.parse(JSON.stringify(UpdateElement.encode(update)))));

/** The number of different updates. */
export const poolSize = samples.length;

/** A sample at an offset, of the first ledger or of another one. */
function sampleAt(number: number, offset: number, isOther: boolean): Sample {
  const sample = samples[number % poolSize];
  if (sample === undefined) throw new RangeError('no such sample');
  const moved = moveTo(sample, offset);
  const update = isOther && 'updateId' in moved ? { ...moved, updateId: `other ${offset}` } : moved;
  const element = UpdateElement.encode(update);
  if (typeof element !== 'object' || element === null) throw new TypeError('not an element');
  return { element, update };
}

/** Returns a sample at an offset, with what no other update of the ledger has: its ID, and a record time in their order. */
function moveTo(update: Update, offset: number): Update {
  const recordTime = new Date(offset * 1_000).toISOString();
  const own = { updateId: `1220${offset}`, recordTime, synchronizerId: `sync${offset % 2}::1220` };
  const moved = <A extends object>(content: A): A & { readonly offset: number } => ({
    ...content,
    ...Object.fromEntries(Object.entries(own).filter(([key]) => key in content)),
    offset,
  });
  if (update._tag !== 'UnknownUpdate') return moved(update);
  const { value } = update;
  if (!isRecord(value)) throw new TypeError('no offset');
  if (!isRecord(value['value'])) return { ...update, offset, value: moved(value) };
  const inner = value['value'];
  return { ...update, offset, value: 'offset' in inner ? { value: moved(inner) } : moved(value) };
}

function decode(element: unknown): Update {
  const result = UpdateElement.decode(element);
  if (result._tag === 'Left') throw new TypeError('a sample does not decode');
  return result.right;
}

const isRecord = (u: unknown): u is Readonly<Record<string, unknown>> => typeof u === 'object' && u !== null;
