import { asyncScheduler } from 'rxjs';
import { createLedger } from '../../../../src/ledger/createLedger.js';
import { socketTransport } from '../../../../src/ws/socketTransport.js';
import { later, runVirtually } from '../../../helpers/virtualTime.js';
import { randomFrom } from '../runs.js';
import { History } from './History.js';
import { Participant } from './Participant.js';
import { type Reader, type ReaderWorld, type Reading, readerOf } from './Reader.js';
import type { Action, HistorySchedule, Place } from './Schedule.js';
import { socketsOf } from './sockets.js';
import { World } from './World.js';

/** What came of a schedule. */
export interface HistoryOutcome {
  readonly schedule: HistorySchedule;
  readonly world: World;
  readonly reading: Reading;
  /** All histories that there were, the present one last. */
  readonly histories: readonly History[];
  /** Whether the ledgers or the address changed when the reader had emitted nothing: a bare offset proves nothing. */
  readonly isBare: boolean;
  /** How many requests were open when the reader was stopped in the end. */
  readonly open: number;
}

/** How long readers may retry, in milliseconds. */
export const giveUpAfterMs = 120_000;

/** After the last step, in milliseconds: until readers have given up or caught up. Then they are started again. */
const settleMs = giveUpAfterMs + 60_000;

export type MakeReader = (world: ReaderWorld & { readonly world: World }) => Reader;

/** Plays a schedule in virtual time. */
export function playHistory(schedule: HistorySchedule, makeReader: MakeReader = readerOf): HistoryOutcome {
  let run: Run | undefined;
  const { random } = Math;
  Math.random = randomFrom(schedule.nodes[0]?.seed ?? 0);
  try {
    runVirtually(() => {
      run = new Run(schedule, makeReader);
      run.start();
    });
  } finally {
    Math.random = random;
  }
  if (run === undefined) throw new Error('nothing was played');
  return run.outcome();
}

const create = { archives: null, sight: 'always' } as const;

class Run {
  private readonly world: World;
  private readonly histories: History[];
  private readonly reader: Reader;
  private readonly reading: Reading = { emitted: [], states: [], resets: [], error: undefined, endedAt: undefined };
  private failing = 0;
  private open = 0;
  private isBare = false;

  constructor(
    private readonly schedule: HistorySchedule,
    makeReader: MakeReader,
  ) {
    const synchronizerIds = Array.from({ length: schedule.synchronizers }, (_, i) => `sync${i}::1220ab`);
    const history = new History('a', synchronizerIds);
    this.histories = [history];
    const nodes = schedule.nodes.map(
      ({ firstOffset, seed }, i) =>
        new Participant(`node${i}::1220ab`, history, firstOffset, seed + i, schedule.isApart, i),
    );
    this.world = new World(nodes, history, schedule);
    const client = () =>
      createLedger({
        baseUrl: 'http://ledger.example',
        port: this.world.service.port,
        ...(schedule.isPushed && { transport: socketTransport(socketsOf(this.world)) }),
        retry: { baseDelayMs: 100, maxDelayMs: 2_000, giveUpAfterMs },
      });
    this.reader = makeReader({ client, schedule, reading: this.reading, world: this.world });
  }

  start(): void {
    const { known, steps, synchronizers, knowsAll } = this.schedule;
    const first = Array.from({ length: knowsAll ? synchronizers : 0 }, (_, synchronizer) => ({
      synchronizer,
      events: [create],
    }));
    for (const wanted of [...first, ...known]) this.history.commit(wanted, asyncScheduler.now());
    for (const node of this.world.nodes) node.readAll(0);
    this.reader.start();
    let at = 0;
    for (const step of steps) {
      at += step.afterMs;
      later(at, () => {
        this.apply(step);
      });
    }
    // a position is proven again, and the rest read, at a last start
    later(at + settleMs, () => {
      this.reader.stop();
    });
    later(at + settleMs + 1_000, () => {
      this.reader.start();
    });
    later(at + settleMs + 60_000, () => {
      this.reader.stop();
      this.open = this.world.service.open;
    });
  }

  outcome(): HistoryOutcome {
    const { schedule, world, reading, histories, open, isBare } = this;
    return { schedule, world, reading, histories, open, isBare };
  }

  /** Whether the reader has emitted enough to find its place again. */
  private get hasBegun(): boolean {
    const { emitted } = this.reading;
    const { synchronizerIds } = this.history;
    if (!this.schedule.knowsAll) return emitted.length > 0;
    return synchronizerIds.every((_, i) => emitted.some(({ updateId }) => updateId === `a${i}x0`));
  }

  private get history(): History {
    const { history } = this.world;
    return history;
  }

  private apply(action: Action): void {
    const { world } = this;
    this.isBare ||= changesLedger(action) && !this.hasBegun;
    switch (action.does) {
      case 'commit':
        this.history.commit(action, asyncScheduler.now());
        for (const node of world.nodes) node.notice();
        break;
      case 'advance':
        world.nodeAt(action.node).advance(action.offsets);
        break;
      case 'fail':
        this.fail(action.how, action.forMs);
        break;
      case 'see':
        if (!world.seenFrom.has(action.sight)) world.seenFrom.set(action.sight, asyncScheduler.now());
        break;
      case 'prune': {
        const node = world.nodeAt(action.node);
        node.pruned = Math.max(node.pruned, Math.min(node.end, this.offsetOf(node, action.to)));
        break;
      }
      case 'restore': {
        const node = world.nodeAt(action.node);
        this.fail('cut', action.downMs);
        node.restore(this.offsetOf(node, action.to), action);
        break;
      }
      case 'lose': {
        const { node } = world;
        const end = this.offsetOf(node, action.to);
        const kept = node.listing.filter(({ offset }) => offset <= end).map(({ record }) => record);
        this.fail('cut', 0);
        this.begin(new History(this.newName(), this.history.synchronizerIds, kept), action.growth);
        break;
      }
      case 'replace':
        this.fail('cut', action.downMs);
        this.begin(new History(this.newName(), this.history.synchronizerIds), action.growth);
        if (action.isOtherParticipant)
          for (const node of world.nodes) node.participantId = `${this.history.name}-${node.participantId}`;
        world.noteLead();
        break;
      case 'move':
        world.lead(world.nodeAt(action.node), action.isFailing);
        break;
      case 'turn': {
        const other = world.nodeAt(action.node);
        world.noteLead(other);
        world.inTurn = other;
        later(action.forMs, () => {
          if (world.inTurn === other) world.inTurn = undefined;
          world.noteLead();
        });
        break;
      }
      case 'lag':
        world.nodeAt(action.node).lag(action.forMs, action.everyMs);
        break;
      case 'stop':
        this.reader.stop();
        later(action.forMs, () => {
          this.reader.start();
        });
    }
  }

  /** Lets all requests fail for some time. */
  private fail(how: 'cut' | '503' | '404', forMs: number): void {
    const { world } = this;
    this.failing += 1;
    const own = this.failing;
    world.failure = world.failWith(how);
    world.cut();
    // where a socket was cut, a request follows at once
    later(Math.max(1, forMs), () => {
      if (own === this.failing) world.failure = undefined;
    });
  }

  private newName(): string {
    return 'abcdefghijklmnopqrstuvwxyz'.charAt(this.histories.length);
  }

  /** Puts another history in the place of the present one. */
  private begin(history: History, growth: Extract<Action, { does: 'lose' }>['growth']): void {
    this.histories.push(history);
    this.world.history = history;
    for (const wanted of growth) history.commit(wanted, asyncScheduler.now());
    for (const node of this.world.nodes) node.turnTo(history);
    this.world.noteLead();
  }

  /** The offset of a place. */
  private offsetOf({ listing, end }: Participant, place: Place): number {
    const last = this.reading.emitted.at(-1)?.updateId;
    const reached = this.reading.states.at(-1)?.offset ?? 0;
    const index = listing.findLastIndex(({ record, offset }) =>
      last === undefined ? offset <= reached : record.updateId === last,
    );
    const before = listing[Math.max(0, index - 2)]?.offset ?? 0;
    switch (place) {
      case 'start':
        return 0;
      case 'before':
        return Math.max(0, before - 1);
      case 'at':
        return index < 0 ? 0 : (listing[index]?.offset ?? 0);
      case 'past':
        return index < 0 ? end : (listing[index + 1]?.offset ?? end);
      case 'end':
        return end;
    }
  }
}

/** Whether an action may put another ledger, or other offsets, in the place of the former. */
export const changesLedger = ({ does }: Action): boolean =>
  ['restore', 'lose', 'replace', 'move', 'turn'].includes(does);
