import { setTimeout } from 'node:timers/promises';
import { combineLatest, defer, lastValueFrom, map, type Observable, startWith, takeWhile, tap, timeout } from 'rxjs';
import type { Update } from '../../../src/codecs/Update.js';
import type { Diagnostic } from '../../../src/diagnostics/Diagnostic.js';
import type { HttpPort } from '../../../src/http/HttpPort.js';
import { createLedger } from '../../../src/ledger/createLedger.js';
import type { Ledger } from '../../../src/ledger/Ledger.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.js';
import { updateValue } from '../../../src/sandbox/wire/WireUpdate.js';
import { webSocketTransport } from '../../../src/ws/index.js';
import { type OperatorAction, rewrites, type SocketSchedule } from './SocketSchedule.js';

/** A sandbox to which a schedule is applied, and a client of it. */
export interface SocketWorld {
  readonly sandbox: Sandbox;
  readonly client: Ledger;
  /** Where an earlier feed stopped. */
  readonly beginExclusive: number;
  /** Applies the actions of the schedule at their times; resolves after the last of them. */
  readonly run: () => Promise<void>;
}

/** Starts a sandbox with the faults of a schedule. `port` is that of the client; by default the library's own. */
export async function socketWorld(schedule: SocketSchedule, port?: HttpPort): Promise<SocketWorld> {
  const { profile, interfaceOnly, maxListElements } = schedule;
  const start = Date.now();
  // by the clock alone, so that it cannot expire twice
  const token = (): string => `TOKEN-SECRET-${Date.now() - start < schedule.expiresAtMs ? 1 : 2}`;
  const sandbox = await startSandbox({
    // 3.6 turns off the first of the two operations of the interface document, and 3.7 has removed it
    profile: interfaceOnly && profile === '3.7' ? '3.6' : profile,
    interfaceOnly,
    deprecatedApis: interfaceOnly,
    maxListElements,
    // the last updates may be invisible, and releases before 3.5 have no early checkpoint that shows their offset
    idleCheckpointMs: 5_000,
    checkToken: (given) => given === token(),
  });
  const traffic = {
    seed: schedule.seed,
    ...(usesOldProfile(schedule) && { variants: ['Transaction', 'Reassignment'] as const }),
  };
  sandbox.generate(schedule.known, traffic);
  const offsetAt = (percent: number): number => {
    const update = sandbox.updates[Math.floor((schedule.known * percent) / 100) - 1];
    return update === undefined ? 0 : updateValue(update).offset;
  };
  const pruneUpTo = offsetAt(schedule.prunesUpTo);
  for (const { fault, after, times } of schedule.faults) {
    const sandboxFault = fault.kind === 'rewrite' ? { kind: fault.kind, body: rewrites[fault.how] } : fault;
    sandbox.fault(sandboxFault, { path: /^\/v2\/(updates|state)/, after, times });
  }
  for (const fault of schedule.socketFaults) sandbox.fault(fault);
  const apply = (action: OperatorAction): Promise<void> | number | undefined => {
    switch (action.kind) {
      case 'generate':
        return sandbox.generate(action.count, traffic);
      case 'advance':
        return sandbox.advance(action.offsets);
      case 'restart':
        return sandbox.restart(action);
      case 'profile':
        // a service of the interface document alone has no versions
        return interfaceOnly ? undefined : (sandbox.configure({ profile: action.profile }), undefined);
    }
  };
  return {
    sandbox,
    beginExclusive: offsetAt(schedule.seenBefore),
    client: createLedger({
      baseUrl: sandbox.url,
      ...(port !== undefined && { port }),
      token: schedule.keepsToken === true ? 'TOKEN-SECRET-1' : token,
      requestTimeoutMs: 150,
      ...(schedule.transport === 'websocket' && { transport: webSocketTransport({ pingEveryMs: 20 }) }),
      // a token that the service accepted before may be accepted again: without end, nobody would wait for that
      retry: { baseDelayMs: 1, maxDelayMs: 10, giveUpAfterMs: schedule.keepsToken === true ? 2_000 : 600_000 },
    }),
    run: async () => {
      const actions = schedule.actions.map(async ({ action, atMs }) => {
        await setTimeout(atMs);
        await apply(action);
      });
      const pruning = setTimeout(schedule.prunesAtMs).then(() => {
        if (schedule.prunes === true) sandbox.prune(pruneUpTo);
      });
      await Promise.all([...actions, pruning]);
    },
  };
}

/** Releases before 3.5 lack some kinds of topology events, so what a feed receives would depend on the time of its request. */
const usesOldProfile = ({ profile, actions }: SocketSchedule): boolean =>
  profile < '3.5' || actions.some(({ action }) => action.kind === 'profile' && action.profile < '3.5');

/** What a feed and its ledger have emitted. */
export interface WatchedFeed<A = Update> {
  readonly updates: A[];
  readonly events: Diagnostic[];
  error: unknown;
}

/** How long a feed that is not done may emit nothing. */
const silenceLimitMs = 45_000;

/** Watches a feed until it ends, or until a schedule has run and the feed has received enough. */
export async function watchFeed<A = Update>(
  client: Ledger,
  feed$: Observable<A>,
  run: () => Promise<void>,
  isEnough: (seen: WatchedFeed<A>) => boolean,
): Promise<WatchedFeed<A>> {
  const seen: WatchedFeed<A> = { updates: [], events: [], error: undefined };
  const subscription = client.diagnostics$.subscribe((event) => seen.events.push(event));
  const watch$ = combineLatest([
    feed$.pipe(
      tap((update) => seen.updates.push(update)),
      startWith(undefined),
    ),
    client.diagnostics$.pipe(startWith(undefined)),
    defer(run).pipe(
      map(() => true),
      startWith(false),
    ),
  ]).pipe(
    takeWhile(([, , hasRun]) => !hasRun || !isEnough(seen)),
    timeout({ each: silenceLimitMs }),
  );
  await lastValueFrom(watch$, { defaultValue: undefined }).catch((error: unknown) => {
    seen.error = error;
  });
  subscription.unsubscribe();
  return seen;
}
