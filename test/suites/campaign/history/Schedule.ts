import fc from 'fast-check';
import type { Sight, Wanted } from './History.js';

/** A place in the ledger of a participant, relative to the last update that the reader has emitted. */
export type Place = 'start' | 'before' | 'at' | 'past' | 'end';

/** What happens to the ledgers, to the address or to the reader. */
export type Action =
  | ({ readonly does: 'commit' } & Wanted)
  /** An update that nobody here sees. */
  | { readonly does: 'advance'; readonly node: number; readonly offsets: number }
  | { readonly does: 'fail'; readonly how: 'cut' | '503' | '404'; readonly forMs: number }
  | { readonly does: 'see'; readonly sight: Sight }
  | { readonly does: 'prune'; readonly node: number; readonly to: Place }
  | {
      readonly does: 'restore';
      readonly node: number;
      readonly to: Place;
      readonly isSame: boolean;
      readonly everyMs: number;
      readonly downMs: number;
    }
  /** The rest after a place is lost. */
  | { readonly does: 'lose'; readonly to: Place; readonly growth: readonly Wanted[] }
  | {
      readonly does: 'replace';
      readonly isOtherParticipant: boolean;
      readonly growth: readonly Wanted[];
      readonly downMs: number;
    }
  | { readonly does: 'move'; readonly node: number; readonly isFailing: boolean }
  | { readonly does: 'turn'; readonly node: number; readonly forMs: number }
  | { readonly does: 'lag'; readonly node: number; readonly forMs: number; readonly everyMs: number }
  | { readonly does: 'stop'; readonly forMs: number };

export type ReaderKind = 'updates' | 'processor' | 'rows' | 'view';

/** One run of the campaign, as plain data. */
export interface HistorySchedule {
  readonly reader: ReaderKind;
  readonly onOtherNode: 'fail' | 'relocate';
  readonly nodes: readonly { readonly firstOffset: number; readonly seed: number }[];
  readonly synchronizers: number;
  /** Whether the reader has an update of each synchronizer before anything changes. */
  readonly knowsAll: boolean;
  /** Whether nothing has the offset after a restore that something else had before. */
  readonly isApart: boolean;
  /** Whether a WebSocket pushes the updates that the reader follows. */
  readonly isPushed: boolean;
  readonly latencyMs: number;
  readonly checkpointMs: number | null;
  readonly maxPageSize: number;
  /** The updates from before the reader starts. */
  readonly known: readonly Wanted[];
  readonly steps: readonly (Action & { readonly afterMs: number })[];
}

/** What a campaign of schedules varies. */
export interface Variety {
  readonly readers: readonly ReaderKind[];
  readonly actions: readonly Action['does'][];
  readonly nodes: readonly [least: number, most: number];
  readonly modes: readonly HistorySchedule['onOtherNode'][];
  readonly knowsAll?: readonly boolean[];
  readonly isApart?: readonly boolean[];
  readonly isPushed?: boolean;
}

/** How long requests may fail, or an answer may wait for a participant that lags, in one step. */
const shortMs = fc.constantFrom(0, 400, 1_500, 6_000);
const node = fc.nat(2);
const place = fc.constantFrom<Place>('before', 'at', 'past', 'end', 'start');
const everyMs = fc.constantFrom(0, 300, 1_200);

const wanted = (sights: readonly Sight[]): fc.Arbitrary<Wanted> =>
  fc.record({
    synchronizer: fc.nat(2),
    events: fc.array(fc.record({ archives: fc.option(fc.nat(3), { freq: 2 }), sight: fc.constantFrom(...sights) }), {
      minLength: 1,
      maxLength: 2,
    }),
  });

/** Schedules of some variety. They shrink to few steps. */
export function historySchedules({
  readers,
  actions,
  nodes: [minNodes, maxNodes],
  modes,
  knowsAll = [true],
  isApart = [true],
  isPushed = false,
}: Variety): fc.Arbitrary<HistorySchedule> {
  const sights: Sight[] = ['always', 'always', 'always', 'never'];
  if (actions.includes('see')) sights.push('uploaded', 'granted', 'uploaded');
  const update = wanted(sights);
  const growth = fc.array(update, { maxLength: 12 });
  const all: Record<Action['does'], readonly [weight: number, action: fc.Arbitrary<Action>]> = {
    commit: [10, update.map((fields) => ({ does: 'commit', ...fields }))],
    advance: [2, of('advance', { node, offsets: fc.integer({ min: 1, max: 5 }) })],
    fail: [2, of('fail', { how: fc.constantFrom('cut', '503'), forMs: shortMs })],
    see: [2, of('see', { sight: fc.constantFrom('uploaded', 'granted') })],
    prune: [1, of('prune', { node, to: fc.constantFrom<Place>('before', 'at', 'before', 'at', 'past') })],
    restore: [2, of('restore', { node, to: place, isSame: fc.boolean(), everyMs, downMs: shortMs })],
    lose: [1, of('lose', { to: place, growth })],
    replace: [1, of('replace', { isOtherParticipant: fc.boolean(), growth, downMs: shortMs })],
    move: [3, of('move', { node, isFailing: fc.boolean() })],
    turn: [1, of('turn', { node, forMs: shortMs })],
    lag: [1, of('lag', { node, forMs: shortMs, everyMs })],
    stop: [2, of('stop', { forMs: shortMs })],
  };
  const step = fc
    .tuple(
      fc.oneof(...actions.map((does) => ({ weight: all[does][0], arbitrary: all[does][1] }))),
      fc.constantFrom(0, 0, 10, 700, 3_000, 14_000),
    )
    .map(([action, afterMs]) => ({ ...action, afterMs }));
  const schedules: fc.Arbitrary<HistorySchedule> = fc.record({
    reader: fc.constantFrom(...readers),
    onOtherNode: fc.constantFrom(...modes),
    nodes: fc.array(fc.record({ firstOffset: fc.constantFrom(0, 0, 7, 500), seed: fc.nat(1_000) }), {
      minLength: minNodes,
      maxLength: maxNodes,
    }),
    synchronizers: fc.integer({ min: 1, max: 3 }),
    knowsAll: fc.constantFrom(...knowsAll),
    isApart: fc.constantFrom(...isApart),
    isPushed: fc.constant(isPushed),
    latencyMs: fc.constantFrom(0, 5, 80),
    checkpointMs: fc.option(fc.constant(450), { freq: 3 }),
    maxPageSize: fc.constantFrom(200, 200, 3, 1),
    known: fc.array(update, { maxLength: 15 }),
    steps: fc.array(step, { maxLength: 24, size: 'max' }),
  });
  return schedules.filter(({ steps }) => !isBeyondPromise(steps));
}

/**
 * Whether a schedule may have what the guide does not promise: a lost update that is also pruned, and a last update that is back
 * at its offset although synchronizers have changed their order before it.
 */
function isBeyondPromise(steps: readonly Action[]): boolean {
  const has = (does: Action['does']): boolean => steps.some((step) => step.does === does);
  const restores = steps.filter((step) => step.does === 'restore');
  const firstOther = restores.findIndex(({ isSame }) => !isSame);
  const isMixed = firstOther >= 0 && restores.slice(firstOther).some(({ isSame }) => isSame);
  const isLost = steps.some((step) => step.does === 'replace' && !step.isOtherParticipant);
  const isLostAndPruned = isLost && steps.some((step) => step.does === 'prune' && step.to === 'past');
  return isMixed || isLostAndPruned || (has('lose') && has('prune'));
}

/** What the events of a schedule may be. */
export type Sights = readonly Sight[];

/**
 * Schedules of a participant that is restored while the reader is stopped or gets no answers, and has not read the last updates.
 * What is read again may come in another order, and still get offsets that something else had before.
 */
export const restoresToFormerOffsets = (
  readers: readonly ReaderKind[],
  sights: Sights,
): fc.Arbitrary<HistorySchedule> => {
  const update = wanted(sights);
  const outage = fc.constantFrom<Action>({ does: 'stop', forMs: 20_000 }, { does: 'fail', how: 'cut', forMs: 20_000 });
  const seen = fc.constantFrom(...sights.filter((sight) => sight !== 'always'), undefined);
  const restored = fc
    .record({
      prunes: fc.constantFrom(false, false, true),
      outage,
      unread: fc.array(update, { minLength: 1, maxLength: 8 }),
      seen,
      place: fc.constantFrom<Place>('before', 'start', 'at'),
      everyMs: fc.constantFrom(0, 0, 300),
      news: fc.array(update, { maxLength: 3 }),
    })
    .map(({ prunes, outage, unread, seen, place, everyMs, news }): HistorySchedule['steps'] => [
      ...(prunes ? [{ does: 'prune', node: 0, to: 'before', afterMs: 30_000 } as const] : []),
      { ...outage, afterMs: 14_000 },
      ...unread.map((fields) => ({ does: 'commit', ...fields, afterMs: 0 }) as const),
      ...(seen === undefined ? [] : [{ does: 'see', sight: seen, afterMs: 700 } as const]),
      { does: 'restore', node: 0, to: place, isSame: false, everyMs, downMs: 15_000, afterMs: 3_000 },
      ...news.map((fields) => ({ does: 'commit', ...fields, afterMs: 30_000 }) as const),
    ]);
  return fc.record<HistorySchedule>({
    reader: fc.constantFrom(...readers),
    onOtherNode: fc.constant('fail'),
    nodes: fc.tuple(fc.record({ firstOffset: fc.constant(0), seed: fc.nat(10_000) })),
    synchronizers: fc.integer({ min: 2, max: 3 }),
    knowsAll: fc.constant(true),
    isApart: fc.constant(false),
    isPushed: fc.constant(false),
    latencyMs: fc.constant(5),
    checkpointMs: fc.option(fc.constant(450)),
    maxPageSize: fc.constantFrom(200, 200, 3, 1),
    known: fc.array(update, { maxLength: 8 }),
    steps: fc.array(restored, { minLength: 1, maxLength: 2 }).map((all) => all.flat()),
  });
};

/**
 * Schedules in which another participant takes the place of the first without a failed request, when the reader has just begun.
 * Both may have other updates at the same offsets.
 */
export const movesToSameOffsets = (isPushed: boolean): fc.Arbitrary<HistorySchedule> => {
  const update = wanted(['always']);
  const commits = (afterMs: number): fc.Arbitrary<HistorySchedule['steps']> =>
    fc.array(
      update.map((fields) => ({ does: 'commit', ...fields, afterMs }) as const),
      { maxLength: 6 },
    );
  const first = { firstOffset: fc.constant(0), seed: fc.nat(1_000) };
  const moved = of('move', { node: fc.constant(1), isFailing: fc.constant(false) });
  return fc.record<HistorySchedule>({
    reader: fc.constant('updates'),
    onOtherNode: fc.constant('relocate'),
    nodes: fc.tuple(fc.record(first), fc.record({ ...first, firstOffset: fc.constantFrom(0, 0, 1) })),
    synchronizers: fc.integer({ min: 2, max: 3 }),
    knowsAll: fc.constant(true),
    isApart: fc.constant(false),
    isPushed: fc.constant(isPushed),
    latencyMs: fc.constant(80),
    checkpointMs: fc.option(fc.constant(450)),
    maxPageSize: fc.constantFrom(200, 3, 2, 1),
    known: fc.array(update, { maxLength: 10 }),
    steps: fc
      .tuple(moved, fc.integer({ min: 100, max: 600 }), commits(5), fc.constantFrom(10, 700, 90_000), commits(50))
      .map(([move, afterMs, soon, laterMs, late]) => [
        { ...move, afterMs },
        ...soon,
        { does: 'advance', node: 0, offsets: 1, afterMs: laterMs },
        ...late,
      ]),
  });
};

/** Actions of a kind. */
const of = <D extends Action['does']>(
  does: D,
  fields: { readonly [K in keyof Fields<D>]: fc.Arbitrary<Fields<D>[K]> },
): fc.Arbitrary<Action> => fc.record<object>(fields).map((chosen) => ({ does, ...chosen }) as Action);

type Fields<D> = Omit<Extract<Action, { readonly does: D }>, 'does'>;

/** A schedule in lines to read. */
export function describeSchedule({ known, steps, nodes, ...rest }: HistorySchedule): string {
  const lines = steps.map(({ afterMs, ...action }) => {
    const fields = Object.entries(action).filter(([name]) => name !== 'does' && name !== 'events' && name !== 'growth');
    const events = 'events' in action ? ` ${describeWanted(action)}` : '';
    const growth = 'growth' in action ? ` growth: ${action.growth.map(describeWanted).join(' ')}` : '';
    return `  +${afterMs} ms: ${action.does} ${fields.map(([name, value]) => `${name}=${String(value)}`).join(' ')}${events}${growth}`;
  });
  return [
    Object.entries(rest)
      .map(([name, value]) => `${name}=${String(value)}`)
      .join(' '),
    `nodes: ${nodes.map(({ firstOffset, seed }) => `from ${firstOffset} (seed ${seed})`).join(', ')}`,
    `known: ${known.map(describeWanted).join(' ')}`,
    ...lines,
  ].join('\n');
}

const describeWanted = ({ synchronizer, events }: Wanted): string =>
  `s${synchronizer}[${events.map(({ archives, sight }) => `${archives === null ? 'create' : 'archive'} ${sight}`).join(', ')}]`;
