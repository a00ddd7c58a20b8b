import { asyncScheduler, finalize, queueScheduler } from 'rxjs';
import { type CommandsRequest, createLedger, type Ledger, type SubmittedTransaction } from '../../../src/index.js';
import { type CommandCommit, executePath, signedCommandId, submitPath } from '../../helpers/CommandService.js';
import { observe, type Observed } from '../../helpers/observe.js';
import { type Reply, scriptedService, type ServiceRequest } from '../../helpers/scripted.js';
import { later, runVirtually } from '../../helpers/virtualTime.js';
import { contractId, signedHash, VirtualCommands } from '../../helpers/virtualCommands.js';
import { signedRequest } from '../../submission/support.js';
import { replace } from './commandsIngress.js';
import type { Event, Life, Replaced, Schedule } from './commandsSchedule.js';
import { outboxWith, ruleWith, untilCommitted, type Worker, type WorkerEvent } from './workers.js';
import { randomFrom } from './runs.js';
import type { Observable } from 'rxjs';

/** One life of a submission. */
export interface Lived {
  readonly seen: Observed<SubmittedTransaction>;
  readonly startedAt: number;
  /** By the clock of the ledger: that of the machine may be set. */
  readonly endedAt: number;
  /** The first life whose attempts it knows of. */
  readonly knowsFrom: number;
  /** Whether it has the start of the change from its caller. */
  readonly isGiven: boolean;
  /** The submission ids of its attempts, each with the command id. */
  readonly attempts: Map<string, string>;
  /** What a worker has said, when, and which attempts there were by then. */
  readonly said: Said[];
}

/** What a worker has said. */
export interface Said {
  readonly kind: WorkerEvent['kind'];
  readonly atMs: number;
  readonly era: number;
  readonly error?: unknown;
  readonly attempts: readonly string[];
}

/** When a worker, which is endless, is stopped, in milliseconds. */
const workEndsMs = 900_000;

/** What happened in a schedule. */
export interface Played {
  readonly schedule: Schedule;
  readonly node: VirtualCommands;
  readonly lives: readonly Lived[];
  /** When the ledger was restored or replaced. */
  readonly replacedAt: readonly number[];
  /** When the last fault that a schedule has was over. */
  readonly disturbedUntil: number;
  /** When the participant was pruned, and up to which offset. */
  readonly prunings: readonly Pruning[];
}

interface Pruning {
  readonly atMs: number;
  readonly offset: number;
}

/** Plays a schedule in virtual time, to its end. */
export function play(schedule: Schedule): Played {
  const random = Math.random;
  const wallClock = asyncScheduler.now;
  Math.random = randomFrom(schedule.seed);
  try {
    const game = new Game(schedule);
    runVirtually(() => {
      game.begin(wallClock);
    });
    return game.played;
  } finally {
    Math.random = random;
    asyncScheduler.now = wallClock;
  }
}

/** The commits of a life's ledger: the one that was there when it ended. */
export const commitsSeen = ({ node, replacedAt }: Played, lived: Lived): readonly CommandCommit[] => {
  const era = replacedAt.filter((at) => at <= lived.endedAt).length;
  return node.commits.filter((commit) => commit.era === era);
};

export const submissionIdOf = (body: ServiceRequest['body']): string => attemptOf(body).submissionId;

/** What an attempt of commands, or of a signed transaction, says of itself. */
const attemptOf = (body: ServiceRequest['body']) =>
  (body['commands'] ?? body) as { readonly submissionId: string; readonly commandId?: string };

class Game {
  private readonly node: VirtualCommands;
  private readonly lives: Lived[] = [];
  private readonly replacedAt: number[] = [];
  private ledger: Ledger;
  private transaction$: Observable<SubmittedTransaction>;
  private submissions = 0;
  private disturbedUntil = 0;
  private readonly prunings: Pruning[] = [];
  private ingress: Replaced | undefined;
  private readonly worker: Worker | undefined;

  constructor(private readonly schedule: Schedule) {
    this.node = new VirtualCommands({ ...schedule, holds: true });
    this.ledger = this.connect();
    this.worker = this.createWorker();
    this.transaction$ = this.submit(undefined);
  }

  get played(): Played {
    const { schedule, node, lives, replacedAt, disturbedUntil, prunings } = this;
    return { schedule, node, lives, replacedAt, disturbedUntil, prunings };
  }

  begin(wallClock: () => number): void {
    this.live(0);
    if (this.worker !== undefined) later(workEndsMs, () => this.lives.at(-1)?.seen.subscription.unsubscribe());
    for (const event of this.schedule.events) {
      const until = event.atMs + ('forMs' in event ? event.forMs : 0);
      if (event.kind !== 'live') this.disturbedUntil = Math.max(this.disturbedUntil, until);
      later(event.atMs, () => {
        if (event.kind === 'clock') asyncScheduler.now = () => wallClock() + event.byMs;
        else this.happen(event);
      });
    }
  }

  private connect(): Ledger {
    return createLedger({
      baseUrl: 'http://ledger.example',
      port: scriptedService((request) => this.exchange(request)).port,
    });
  }

  private exchange(request: ServiceRequest): Observable<Reply> {
    const isSubmission = request.path === submitPath || request.path === executePath;
    if (!isSubmission)
      return this.ingress === undefined
        ? this.node.reply(request)
        : replace(this.ingress, () => this.node.reply(request), 1);
    this.record(request);
    const count = this.submissions++;
    const fault = this.schedule.faults[this.node.attempts.length] ?? undefined;
    const replaced = this.ingress ?? this.schedule.replaced[count] ?? undefined;
    const heldMs = fault !== undefined && 'ms' in fault ? fault.ms : 0;
    const isDisturbed = fault !== undefined || replaced !== undefined;
    if (isDisturbed) this.disturbedUntil = Math.max(this.disturbedUntil, queueScheduler.now() + heldMs);
    const reply$ =
      replaced === undefined
        ? this.node.reply(request)
        : replace(replaced, () => this.node.reply(request), this.schedule.latencyMs);
    return reply$.pipe(
      finalize(() => {
        if (isDisturbed) this.disturbedUntil = Math.max(this.disturbedUntil, queueScheduler.now());
      }),
    );
  }

  private record({ body }: ServiceRequest): void {
    const { commandId } = attemptOf(body);
    this.lives.at(-1)?.attempts.set(submissionIdOf(body), commandId ?? signedCommandId);
  }

  /** A life begins. */
  private live(knowsFrom: number, isGiven = false): void {
    const lived = {
      startedAt: queueScheduler.now(),
      endedAt: Infinity,
      knowsFrom,
      isGiven,
      attempts: new Map<string, string>(),
      said: [],
    };
    // recorded before it begins: it may send at once
    this.lives.push(lived as unknown as Lived);
    const transaction$ = this.transaction$.pipe(
      finalize(() => {
        lived.endedAt = queueScheduler.now();
      }),
    );
    Object.assign(lived, { seen: observe(transaction$) });
  }

  private get commandId(): string {
    return this.schedule.worker === 'rule' ? `order:${contractId}` : 'order-1';
  }

  private createWorker(): Worker | undefined {
    const { worker, kind } = this.schedule;
    if (worker === 'outbox') return outboxWith(this.request);
    const [command] = this.request.commands;
    return worker === 'rule' && command !== undefined ? ruleWith(contractId, command, kind === 'consume') : undefined;
  }

  /** Records what a worker says. */
  private note(event: WorkerEvent): void {
    const { kind } = event;
    // a rule keeps nothing, and knows of the attempts of its own process
    const known =
      this.schedule.worker === 'rule' ? this.lives.slice(-1) : this.lives.slice(this.lives.at(-1)?.knowsFrom);
    const attempts = known.flatMap((lived) => [...lived.attempts.keys()]);
    this.lives.at(-1)?.said.push({
      ...('error' in event && { error: event.error }),
      kind,
      atMs: queueScheduler.now(),
      era: this.replacedAt.length,
      attempts,
    });
  }

  private get request(): CommandsRequest {
    const { period, minLedgerTimeRel, hasCommandId, kind } = this.schedule;
    return {
      actAs: ['alice::1220'],
      userId: 'me',
      ...(hasCommandId && { commandId: 'order-1' }),
      ...(period !== undefined && { deduplicationPeriod: period }),
      ...(minLedgerTimeRel !== undefined && { minLedgerTimeRel: { seconds: minLedgerTimeRel } }),
      commands: [
        kind === 'create'
          ? { CreateCommand: { templateId: '#p:M:T', createArguments: {} } }
          : { ExerciseCommand: { templateId: '#p:M:T', contractId, choice: 'Act', choiceArgument: {} } },
      ],
    };
  }

  private submit(since: number | undefined): Observable<SubmittedTransaction> {
    const { isSigned, recovers, period, knowsHash } = this.schedule;
    if (this.worker !== undefined)
      return untilCommitted(this.worker(this.ledger, recovers), (event) => {
        this.note(event);
      });
    const recover = recovers ? {} : { recover: false as const };
    const deduplicationPeriod = period === undefined ? {} : { deduplicationPeriod: period };
    if (isSigned) {
      const submissionId = `call-${this.lives.length}`;
      return this.ledger.executeAndWaitForTransaction(
        { ...signedRequest, submissionId, ...deduplicationPeriod },
        { ...recover, ...(knowsHash && { transactionHash: signedHash.toString('base64') }) },
      );
    }
    return this.ledger.submitAndWaitForTransaction(this.request, { ...recover, ...(since !== undefined && { since }) });
  }

  private happen(event: Exclude<Event, { readonly kind: 'clock' }>): void {
    const { node } = this;
    const byUs = { userId: 'me', actAs: ['alice::1220', 'bob::1220'] };
    const me = { ...byUs, submissionId: 'canton-rx/2/other' };
    switch (event.kind) {
      case 'archive':
        node.archive();
        break;
      case 'prune':
        node.prune();
        this.prunings.push({ atMs: queueScheduler.now(), offset: node.ledger.pruned });
        break;
      case 'pruneOld':
        node.pruneOlderThan(30_000);
        this.prunings.push({ atMs: queueScheduler.now(), offset: node.ledger.pruned });
        break;
      case 'other':
        node.appendOther('');
        break;
      case 'otherCommand':
        node.appendOther('order-2', { userId: 'me', submissionId: 'canton-rx/1/other' });
        break;
      case 'otherUser':
        node.appendOther(this.commandId);
        break;
      case 'superset':
        node.appendOther(this.commandId, me);
        break;
      case 'supersetArchives':
        node.archive(this.commandId, me);
        break;
      case 'foreignSuperset':
        node.appendOther(this.commandId, byUs);
        break;
      case 'otherParties':
        node.appendOther(this.commandId, { userId: 'me', actAs: ['bob::1220'] });
        break;
      case 'reassign':
        node.reassign(this.commandId, [...(this.lives.at(-1)?.attempts.keys() ?? [])].at(-1));
        break;
      case 'restore':
        this.replacedAt.push(queueScheduler.now());
        node.restore();
        break;
      case 'replace':
      case 'replaceParticipant':
        this.replacedAt.push(queueScheduler.now());
        node.replace(event.kind === 'replace' ? 'participant::1220' : 'participant::1221');
        break;
      case 'down':
        node.goDown(event.forMs);
        break;
      case 'ingress':
        this.ingress = event;
        later(event.forMs, () => {
          this.ingress = undefined;
        });
        break;
      case 'live':
        this.goOn(event.as);
    }
  }

  /** The present life ends, and the next one begins as the caller's promises allow. */
  private goOn(as: Life): void {
    const { hasCommandId, isSigned, period = { Empty: {} } } = this.schedule;
    this.lives.at(-1)?.seen.subscription.unsubscribe();
    // a command id that only the call that ended has known is of no use to the next one, and the caller's own period is too short
    const isShort = 'DeduplicationDuration' in period || ('DeduplicationOffset' in period && isSigned);
    const isPossible = isSigned || hasCommandId;
    const number = this.lives.length;
    if (this.worker !== undefined) {
      if (as !== 'again') this.ledger = this.connect();
      this.transaction$ = this.submit(undefined);
      // the rows of an outbox, and the contracts of a rule, outlive a process
      const { DeduplicationOffset: given = { value: 0 } } = period as {
        readonly DeduplicationOffset?: { value: number };
      };
      // the own start of the caller may be after what is lost
      const isRestored = as === 'restored' && this.worker.restore !== undefined && given.value === 0;
      if (isRestored) this.worker.restore();
      this.live(isRestored ? number : (this.lives.at(-1)?.knowsFrom ?? 0));
    } else if (as === 'call' && isPossible && !isShort) {
      this.transaction$ = this.submit(undefined);
      this.live(number);
    } else if ((as === 'process' || as === 'restored') && isPossible && !(isShort && isSigned)) {
      this.ledger = this.connect();
      this.transaction$ = this.submit(10);
      // a signed transaction has no option for it
      this.live(isSigned ? number : 0, !isSigned);
    } else this.live(this.lives.at(-1)?.knowsFrom ?? 0, this.lives.at(-1)?.isGiven);
  }
}
