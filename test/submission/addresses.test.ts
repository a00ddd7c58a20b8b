import { describe, expect } from '@jest/globals';
import { asyncScheduler, concatMap, defer, delay, map, type Observable, of, takeUntil, throwError, timer } from 'rxjs';
import {
  type CommandsRequest,
  createLedger,
  type HttpPort,
  isLedgerError,
  type HttpResponse,
} from '../../src/index.js';
import { observe } from '../helpers/observe.js';
import { itInVirtualTime } from '../helpers/time.js';
import { brokenConnection, notFound, ok, refusedConnection } from '../helpers/wire.js';
import { updateFormat } from '../helpers/world.js';
import { committedAnswer, signedRequest } from './support.js';

const one = 'http://one.example';
const two = 'http://two.example';
const submissions = [
  '/v2/commands/submit-and-wait-for-transaction',
  '/v2/interactive-submission/executeAndWaitForTransaction',
];

type Reply = HttpResponse | Error;

/** A ledger of two participants, whose ends are 100 and 5, and the submissions that each gets. */
function participants(submit: (host: string, ms: number) => Reply, read: (host: string, ms: number) => boolean) {
  const start = asyncScheduler.now();
  const sent: { readonly host: string; readonly ms: number; readonly body: string }[] = [];
  const port: HttpPort = ({ url, body = '' }) =>
    timer(5).pipe(
      concatMap((): Observable<HttpResponse> => {
        const { origin, pathname } = new URL(url);
        const ms = asyncScheduler.now() - start;
        const reply = defer(() => {
          if (submissions.includes(pathname)) {
            sent.push({ host: origin, ms, body });
            return [submit(origin, ms)];
          }
          if (!read(origin, ms)) return [refusedConnection];
          if (pathname === '/v2/state/ledger-end') return [ok({ offset: origin === one ? 100 : 5 })];
          if (pathname === '/v2/parties/participant-id') return [ok({ participantId: `participant::${origin}` })];
          return [notFound];
        });
        return reply.pipe(concatMap((answer) => (answer instanceof Error ? throwError(() => answer) : of(answer))));
      }),
    );
  const ledger = createLedger({ baseUrl: [one, two], port, nextAddressAfterMs: 1_000 });
  // a feed, for example, leads the ledger to the other address
  const readAt = (...times: readonly number[]): void => {
    for (const ms of times) observe(timer(ms).pipe(concatMap(() => ledger.ledgerEnd())));
  };
  return { ledger, sent, readAt, hosts: () => sent.map(({ host }) => host) };
}

const committed = committedAnswer(101);
const commands: CommandsRequest = {
  commandId: 'c-1',
  actAs: ['alice::1220ab'],
  commands: [{ CreateCommand: { templateId: '#a:M:T', createArguments: {} } }],
};
describe.each(['commands', 'signed bytes'] as const)('a submission of %s, on a ledger of two participants', (kind) => {
  const submitTo = ({ ledger }: ReturnType<typeof participants>) =>
    kind === 'commands'
      ? ledger.submitAndWaitForTransaction(commands)
      : ledger.executeAndWaitForTransaction(signedRequest);

  itInVirtualTime('stays where an attempt may have been committed, when the ledger goes elsewhere', ({ flush }) => {
    const isUp = (ms: number): boolean => ms < 50 || ms > 20_000;
    const world = participants(
      (host, ms) => (host === one && ms > 20_000 ? committed : brokenConnection),
      (host, ms) => host === two || isUp(ms),
    );
    const seen = observe(submitTo(world));
    world.readAt(100, 2_000, 3_000);
    flush();
    expect(new Set(world.hosts())).toEqual(new Set([one]));
    expect(world.sent.length).toBeGreaterThan(1);
    expect(seen.values).toMatchObject([{ offset: 101 }]);
  });

  itInVirtualTime('goes on there when it is subscribed to again, after its outcome was unknown', ({ flush }) => {
    const world = participants(
      (host, ms) => (host === one && ms > 600_000 ? committed : brokenConnection),
      (host, ms) => host === two || ms < 50 || ms > 500_000,
    );
    const submission$ = submitTo(world);
    const first = observe(submission$);
    world.readAt(100, 2_000, 3_000);
    let again: ReturnType<typeof observe> | undefined;
    timer(610_000).subscribe(() => {
      again = observe(submission$);
    });
    flush();
    expect(isLedgerError(first.error, 'OutcomeUnknownError')).toBe(true);
    expect(new Set(world.hosts())).toEqual(new Set([one]));
    expect(again?.values).toMatchObject([{ offset: 101 }]);
  });

  itInVirtualTime('goes to the other participant, with its offsets, if nothing was sent to the first', ({ flush }) => {
    const world = participants(
      (host) => (host === two ? committedAnswer(6) : refusedConnection),
      (host, ms) => host === two || ms < 50,
    );
    const submission$ = submitTo(world);
    const first = observe(submission$);
    world.readAt(100, 2_000);
    let again: ReturnType<typeof observe> | undefined;
    timer(5_000).subscribe(() => {
      again = observe(submission$);
    });
    flush();
    expect(isLedgerError(first.error, 'NotSentError')).toBe(true);
    expect(world.hosts()).toEqual([one, two]);
    expect(again?.values).toMatchObject([{ offset: 6 }]);
    // the end of the first participant's ledger would protect nothing at the second
    expect(world.sent[1]?.body).not.toContain('"value":100}');
    if (kind === 'commands') expect(world.sent[1]?.body).toContain('"DeduplicationOffset":{"value":5}');
  });

  itInVirtualTime('is not sent if the function baseUrl has no address', ({ flush }) => {
    const ledger = createLedger({
      baseUrl: () => throwError(() => new Error('no node')),
      port: () => throwError(() => new Error('not called')),
    });
    const seen = observe(
      kind === 'commands'
        ? ledger.submitAndWaitForTransaction(commands)
        : ledger.executeAndWaitForTransaction(signedRequest),
    );
    flush();
    expect(seen.error).toMatchObject({ _tag: 'NotSentError', reason: 'the function baseUrl failed' });
  });
});

describe('commands on a ledger whose baseUrl is a function', () => {
  itInVirtualTime('may be committed by an earlier process, although there is no address now', ({ flush }) => {
    const ledger = createLedger({
      baseUrl: () => throwError(() => new Error('no node')),
      port: () => throwError(() => new Error('not called')),
    });
    const seen = observe(ledger.submitAndWaitForTransaction(commands, { since: 7 }));
    flush();
    expect(seen.error).toMatchObject({
      ...{ _tag: 'OutcomeUnknownError', lastError: { reason: 'the function baseUrl failed' } },
      submission: { commandId: 'c-1', since: 7, attempts: 0 },
    });
  });

  itInVirtualTime('are sent although another address was in use when the participant reported its id', ({ flush }) => {
    let baseUrl = one;
    const port: HttpPort = ({ url }) => {
      const { origin, pathname } = new URL(url);
      const isId = pathname === '/v2/parties/participant-id';
      return timer(isId && origin === one ? 1_000 : 5).pipe(
        map(() => {
          if (isId) return ok({ participantId: `participant::${origin}` });
          if (submissions.includes(pathname)) return committed;
          return pathname === '/v2/state/ledger-end' ? ok({ offset: 100 }) : notFound;
        }),
      );
    };
    const ledger = createLedger({ baseUrl: () => baseUrl, port });
    observe(ledger.updates({ beginExclusive: 100, updateFormat }).pipe(takeUntil(timer(1_200))));
    const submission$ = timer(500).pipe(
      concatMap(() => {
        baseUrl = two;
        return ledger.ledgerEnd();
      }),
      delay(1_000),
      concatMap(() => ledger.submitAndWaitForTransaction(commands)),
    );
    const seen = observe(submission$);
    flush();
    expect(seen.values).toMatchObject([{ offset: 101 }]);
  });
});
