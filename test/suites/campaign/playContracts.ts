import fc from 'fast-check';
import { asyncScheduler, BehaviorSubject, map, NEVER, type Observable, of, takeUntil, tap, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import type { ContractChange } from '../../../src/contracts/ContractChange.js';
import { contractChanges } from '../../../src/contracts/contractChanges.js';
import type { Diagnostic } from '../../../src/diagnostics/Diagnostic.js';
import type { Transport } from '../../../src/feed/LedgerFeed.js';
import { socketTransport } from '../../../src/ws/socketTransport.js';
import { contractsAt, entriesAt, type HistoryUpdate } from '../../helpers/contractHistory.js';
import { type Observed, observe } from '../../helpers/observe.js';
import { showTo, type Stakeholders } from '../../helpers/partyHistory.js';
import { type Reply, scriptedSockets } from '../../helpers/scripted.js';
import { contractsWorld, listPath } from '../../helpers/virtualContracts.js';
import { errorBody, errorReply, ok } from '../../helpers/wire.js';
import { marbles } from '../../contracts/joinSupport.js';
import { ContractsAudit, type States, type Truth } from './ContractsAudit.js';
import { PartiesAudit } from './PartiesAudit.js';
import {
  type ContractsSchedule,
  type Incident,
  incidentsEndMs,
  releases,
  type RequestFault,
} from './ContractsSchedule.js';
import { randomFrom } from './runs.js';

/** Which parties a view selects, and when. */
export interface PartiesPlan {
  readonly stakeholdersOf: (contractId: string) => Stakeholders;
  /** The lists, the first of which is there from the start. In any order. */
  readonly first: readonly string[];
  readonly lists: readonly { readonly atMs: number; readonly parties: readonly string[] }[];
}

/** Checks what a subscriber receives. */
interface Auditor {
  readonly add: (change: ContractChange) => void;
}

/** What came of a schedule. */
export interface ContractsOutcome<A extends Auditor = ContractsAudit> {
  readonly schedule: ContractsSchedule;
  readonly audit: A;
  readonly seen: Observed<unknown>;
  readonly diagnostics: readonly Diagnostic[];
  /** The end of the ledger. */
  readonly end: number;
  /** How many lists without a limit were not answered in time. */
  readonly slowLists: number;
  readonly requests: number;
  /** The requests that were open when everything was over. */
  readonly open: number;
}

/** When the rest of the history is committed, in milliseconds. A client has recovered from all faults before. */
const recoveredMs = 180_000;

/** Plays a schedule in virtual time, for one party that sees all. */
export const playContracts = (schedule: ContractsSchedule): ContractsOutcome => {
  const { history } = schedule;
  return play(schedule, undefined, (resumeFrom) => new ContractsAudit(truthOf(history), resumeFrom));
};

/** Plays a schedule in virtual time, for parties that come and go. */
export const playParties = (schedule: ContractsSchedule, plan: PartiesPlan): ContractsOutcome<PartiesAudit> =>
  play(schedule, plan, (resumeFrom) => new PartiesAudit(schedule.history, plan, resumeFrom));

function play<A extends Auditor>(
  schedule: ContractsSchedule,
  plan: PartiesPlan | undefined,
  auditFrom: (resumeFrom: number | undefined) => A,
): ContractsOutcome<A> {
  const { history, resumesAt, restore } = schedule;
  let tokens = 0;
  let committed = 0;
  let isRestored = false;
  let slowLists = 0;
  const { participant, service, client } = contractsWorld({
    ...releases[schedule.release],
    ...(plan && { show: showTo(plan.stakeholdersOf) }),
    latencyMs: schedule.latencyMs,
    maxListElements: schedule.maxListElements,
    client: {
      retry: { baseDelayMs: 100, maxDelayMs: 5_000, giveUpAfterMs: 36_000_000 },
      token: () => `token-${(tokens += 1)}`,
    },
    fault: ({ path, query }, count) => {
      if (asyncScheduler.now() > incidentsEndMs) return undefined;
      const fault = schedule.faults.find(({ after }) => after === count)?.fault;
      const isWholeList = path === listPath && Number(query['limit']) > 10_000;
      if (isWholeList && (fault === 'hang' || fault === 'slow503')) slowLists += 1;
      return fault && replies[fault]();
    },
  });
  const { ledger } = participant;
  participant.elementsAt = (offset) => entriesAt(history, offset);
  participant.socketCuts.push(...schedule.socketCuts);
  const commit = (count: number): void => {
    for (const { offset, element } of history.slice(committed, committed + count)) {
      ledger.append(offset, element);
      committed += 1;
    }
  };
  const offsetAt = (percent: number): number => history[Math.ceil((committed * percent) / 100) - 1]?.offset ?? 0;
  const apply = (incident: Incident): void => {
    switch (incident.kind) {
      case 'commit':
        // a ledger that grows beyond the cursor before anybody looks shows no reset
        if (!isRestored) commit(incident.count);
        break;
      case 'disconnect':
        ledger.disconnect();
        break;
      case 'prune':
        if (!isRestored) ledger.pruned = Math.max(ledger.pruned, offsetAt(incident.percent));
        break;
      case 'leap':
        if (isRestored) break;
        ledger.disconnect();
        commit(incident.count);
        ledger.pruned = Math.max(ledger.pruned, offsetAt(incident.percent));
        break;
      case 'release':
        participant.reconfigure(releases[incident.release]);
        break;
      case 'otherNode':
        participant.reconfigure({ node: incident.node });
        break;
      case 'advance': {
        const next = history[committed]?.offset ?? Infinity;
        if (!isRestored) ledger.end = Math.min(ledger.end + incident.offsets, next - 1);
      }
    }
  };
  commit(Math.ceil((history.length * schedule.known) / 100));
  const resumeFrom = resumesAt === null ? undefined : offsetAt(resumesAt);
  const audit = auditFrom(resumeFrom);
  const parties$ = plan && new BehaviorSubject(plan.first);
  const diagnostics: Diagnostic[] = [];
  let seen: Observed<unknown> | undefined;
  runVirtually(schedule.seed, () => {
    client.diagnostics$.subscribe((diagnostic) => diagnostics.push(diagnostic));
    for (const incident of schedule.incidents)
      timer(incident.atMs).subscribe(() => {
        apply(incident);
      });
    for (const { atMs, parties } of plan?.lists ?? [])
      timer(atMs).subscribe(() => {
        parties$?.next(parties);
      });
    if (restore !== null)
      timer(restore.atMs).subscribe(() => {
        const offset = Math.max(ledger.pruned, offsetAt(restore.percent));
        committed = history.filter((update) => update.offset <= offset).length;
        isRestored = true;
        ledger.restore(offset);
      });
    timer(recoveredMs).subscribe(() => {
      commit(Infinity);
    });
    const sockets = scriptedSockets(ledger.streamText);
    const transport: Transport = {
      ...participant.transport,
      over: socketTransport(sockets.port).over,
    };
    const changes$ = contractChanges(
      client,
      { ...marbles, parties: parties$ ?? marbles.parties },
      {
        maxSnapshotPageSize: schedule.maxSnapshotPageSize,
        maxPageSize: schedule.maxPageSize,
        ...(schedule.hasSocket && { transport }),
        resumeFrom,
      },
    );
    seen = observe(
      changes$.pipe(
        tap((change) => {
          audit.add(change);
        }),
        takeUntil(timer(recoveredMs + 30_000)),
      ),
    );
  });
  if (seen === undefined) throw new Error('nothing was played');
  const { end } = ledger;
  const requests = service.requests.length;
  return { schedule, audit, seen, diagnostics, end, slowLists, requests, open: service.open };
}

function truthOf(history: readonly HistoryUpdate[]): Truth {
  const states = new Map<number, States>();
  const offsets = history.map(({ offset }) => offset);
  return {
    offsets: () => offsets,
    statesAt: (offset) => {
      const known = states.get(offset) ?? contractsAt(history, offset);
      states.set(offset, known);
      return known;
    },
  };
}

/** The replies of a participant, or of something before it, that does not answer as it should. */
const replies: Readonly<Record<RequestFault, () => Reply | Observable<Reply>>> = {
  cut: () => new Error('ECONNRESET'),
  hang: () => NEVER,
  status503: () => unavailable,
  slow503: () => timer(20_000).pipe(map(() => unavailable)),
  backpressure: () => errorReply(409, errorBody('PARTICIPANT_BACKPRESSURE', 2)),
  truncated: () => ({ ...ok([]), text: '[{"update":{"Tran' }),
  unauthorized: () => of(errorReply(401, errorBody('NA', -1))),
  badGateway: () => errorReply(502, '<html><body>Bad Gateway</body></html>'),
};

const unavailable = errorReply(503, 'The server was not able to produce a timely response to your request.');

/**
 * Runs something in virtual time, with random numbers of its own. RxJS's TestScheduler fails where one of two timers that are
 * due at once cancels the other, which timers of the machine may do: such a schedule is left out.
 */
function runVirtually(seed: number, run: () => void): void {
  const { random } = Math;
  Math.random = randomFrom(seed);
  try {
    new TestScheduler(() => undefined).run(({ flush }) => {
      run();
      flush();
    });
  } catch (error) {
    fc.pre(!(error instanceof Error && error.message === 'Expected a due immediate or interval'));
    throw error;
  } finally {
    Math.random = random;
  }
}
