import { archived, created } from '../../../helpers/contractEvents.js';
import { transactionWith } from '../../../helpers/wire.js';

/**
 * When a reader may see an event: from the start, once a package was uploaded or a right granted, or never. Then it sees
 * all such events, also earlier ones.
 */
export type Sight = 'always' | 'uploaded' | 'granted' | 'never';

/** A contract that is created or archived. */
export interface RecordedEvent {
  readonly kind: 'create' | 'archive';
  readonly contractId: string;
  readonly sight: Sight;
}

/** An update as its synchronizer recorded it, the same for all participants. */
export interface Recorded {
  readonly updateId: string;
  readonly synchronizerId: string;
  /** In microseconds since the start. */
  readonly time: number;
  readonly events: readonly RecordedEvent[];
}

/** What a schedule wants of an update. */
export interface Wanted {
  readonly synchronizer: number;
  readonly events: readonly { readonly archives: number | null; readonly sight: Sight }[];
}

/** How far the clocks of the synchronizers are apart, in microseconds. */
const skews = [0, -1_200_500, 700_000] as const;

/**
 * A history: what each synchronizer recorded, in its order. It only grows. After a loss, another one goes on from a part
 * of it.
 */
export class History {
  readonly records: ReadonlyMap<string, Recorded[]>;
  private readonly ids = new Set<string>();
  private readonly open: RecordedEvent[][];

  constructor(
    readonly name: string,
    readonly synchronizerIds: readonly string[],
    kept: readonly Recorded[] = [],
  ) {
    this.records = new Map(
      synchronizerIds.map((id) => [id, kept.filter(({ synchronizerId }) => synchronizerId === id)]),
    );
    this.open = synchronizerIds.map(() => []);
    for (const record of kept) this.note(record);
  }

  has(updateId: string): boolean {
    return this.ids.has(updateId);
  }

  /** Records an update at a time in milliseconds. */
  commit({ synchronizer, events }: Wanted, nowMs: number): Recorded {
    const at = synchronizer % this.synchronizerIds.length;
    const synchronizerId = this.synchronizerIds[at] ?? '';
    const queue = this.records.get(synchronizerId) ?? [];
    const updateId = `${this.name}${at}x${queue.length}`;
    const active = [...(this.open[at] ?? [])];
    const record: Recorded = {
      updateId,
      synchronizerId,
      // times next to each other, and such as have no part of a millisecond
      time: Math.max((queue.at(-1)?.time ?? 0) + 1, nowMs * 1_000 + (skews[at] ?? 0) + 2_000_000),
      events: events.map(({ archives, sight }, i) => {
        const [archive] = archives === null || active.length === 0 ? [] : active.splice(archives % active.length, 1);
        if (archive !== undefined) return { ...archive, kind: 'archive' };
        return { kind: 'create', contractId: `c${updateId}n${i}`, sight };
      }),
    };
    queue.push(record);
    this.note(record);
    return record;
  }

  private note(record: Recorded): void {
    this.ids.add(record.updateId);
    const open = this.open[this.synchronizerIds.indexOf(record.synchronizerId)] ?? [];
    for (const event of record.events) {
      const index = open.findIndex(({ contractId }) => contractId === event.contractId);
      if (event.kind === 'create') open.push(event);
      else if (index >= 0) open.splice(index, 1);
    }
  }
}

/** A time as participants write it: with no, three or six digits after the seconds. */
export function formatTime(micros: number): string {
  const iso = new Date(Date.UTC(2026, 10, 28) + Math.floor(micros / 1_000)).toISOString();
  const rest = micros % 1_000;
  if (rest > 0) return iso.replace('Z', `${String(rest).padStart(3, '0')}Z`);
  return micros % 1_000_000 === 0 ? iso.replace('.000Z', 'Z') : iso;
}

/** The events of an update that a reader sees. */
export const seenOf = (record: Recorded, sees: (sight: Sight) => boolean): readonly RecordedEvent[] =>
  record.events.filter(({ sight }) => sees(sight));

/** An update on the wire, with some of its events. */
export const elementOf = (
  { updateId, synchronizerId, time }: Recorded,
  offset: number,
  events: readonly RecordedEvent[],
): object =>
  transactionWith(offset, {
    updateId,
    synchronizerId,
    recordTime: formatTime(time),
    events: events.map(({ kind, contractId }, nodeId) =>
      kind === 'create' ? created({ contractId, offset, nodeId }) : archived(contractId, offset, nodeId),
    ),
  });
