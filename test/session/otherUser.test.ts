import { expect, it } from '@jest/globals';
import { concatMap, defer, EMPTY, type Observable, of, tap, throwError, timer } from 'rxjs';
import type { SubmittedTransaction } from '../../src/codecs/Transaction.js';
import type { HttpPort } from '../../src/http/HttpPort.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { createSandbox } from '../../src/sandbox/createSandbox.js';
import { ledgerSession } from '../../src/session/index.js';
import { observe, type Observed } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';
import { brokenConnection, errorBody, errorReply } from '../helpers/wire.js';

const unauthorized = errorReply(401, errorBody('NA', -1));

const tokenOf = (user: string): string => `header.${btoa(JSON.stringify({ sub: user }))}.signature`;

const userIn = (token: string): string => (JSON.parse(atob(token.split('.')[1] ?? '')) as { readonly sub: string }).sub;

/** A participant that takes the user of commands from the token, and whose first answer to a submission is lost. */
function participant({ onLost }: { readonly onLost: () => void }) {
  const sandbox = createSandbox();
  const submitters: string[] = [];
  const accepted = new Set(['alice', 'bob']);
  const port: HttpPort = (request) =>
    defer(() => {
      const user = userIn(request.headers['authorization'] ?? '');
      if (!accepted.has(user)) return of(unauthorized);
      if (!request.url.includes('/submit')) return sandbox.port(request);
      submitters.push(user);
      const { commands, ...rest } = JSON.parse(String(request.body)) as { readonly commands: object };
      const body = JSON.stringify({ commands: { ...commands, userId: user }, ...rest });
      const isLost = submitters.length === 1;
      const lose = (): Observable<never> => {
        // before the next attempt, however short the delay until it
        accepted.delete('alice');
        onLost();
        return throwError(() => brokenConnection);
      };
      return sandbox.port({ ...request, body }).pipe(concatMap((response) => (isLost ? lose() : of(response))));
    });
  return { sandbox, port, submitters, accepted };
}

/** Runs something at a time of the virtual clock. */
const at = (ms: number, run: () => unknown): void => {
  timer(ms).pipe(tap(run)).subscribe();
};

it.each(['expires', 'is left'])(
  'a submission is not sent again as another user who signs in after the session %s, so that it is committed once',
  (how) => {
    marbles(({ flush }) => {
      const { sandbox, port, submitters, accepted } = participant({
        onLost: () => {
          if (how === 'is left') void session.signOut();
        },
      });
      const owner = sandbox.hostedParty('desk');
      let user = 'alice';
      const session = ledgerSession({
        token: (refused) => (refused === tokenOf(user) ? undefined : tokenOf(user)),
        signIn: () => {
          user = user === 'alice' ? 'bob' : 'alice';
          return EMPTY;
        },
        name: `other user ${how}`,
      });
      const ledger = createLedger({ baseUrl: sandbox.url, port, token: session.token, interceptors: [session] });
      const createArguments = { owner, amount: '1.0', tag: null, serial: '1' };
      const submission$: Observable<SubmittedTransaction> = ledger.submitAndWaitForTransaction({
        actAs: [owner],
        commands: [{ CreateCommand: { templateId: '#sandbox-assets:Main:Asset', createArguments } }],
      });
      const first = observe(submission$);
      const seen: Observed<SubmittedTransaction>[] = [];
      const submitAgain = (): void => {
        seen.push(observe(submission$));
      };
      at(5_000, () => void session.signIn());
      at(8_000, submitAgain);
      at(20_000, () => {
        expect([first.values, seen[0]?.values]).toEqual([[], []]);
        expect(seen[0]?.error).toMatchObject({ _tag: 'OutcomeUnknownError' });
        // the user who has sent it can find out
        accepted.add('alice');
        void session.signOut();
      });
      at(21_000, () => void session.signIn());
      at(22_000, submitAgain);
      at(40_000, () => {
        expect(seen[1]?.values).toHaveLength(1);
        expect(sandbox.updates).toHaveLength(1);
        expect(new Set(submitters)).toEqual(new Set(['alice']));
      });
      flush();
    });
  },
);
