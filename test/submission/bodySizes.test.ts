import { describe, expect, it } from '@jest/globals';
import { asyncScheduler, delay, type Observable, of, throwError } from 'rxjs';
import { type CommandsRequest, createLedger, type Ledger, type SubmittedTransaction } from '../../src/index.js';
import type { HttpPort } from '../../src/http/HttpPort.js';
import { submitPath } from '../helpers/CommandService.js';
import { observe, type Observed } from '../helpers/observe.js';
import { type Reply, scriptedService } from '../helpers/scripted.js';
import { marbles } from '../helpers/time.js';
import { signedHash } from '../helpers/virtualCommands.js';
import { brokenConnection, errorBody, errorReply, ok, transactionValue } from '../helpers/wire.js';
import { signedRequest } from './support.js';

const tooLarge = 'exceeded size limit (8388608 bytes)!';

const commandsOf = (kilobytes: number): CommandsRequest => ({
  actAs: ['alice::1220'],
  userId: 'me',
  commandId: 'order-1',
  commands: [{ CreateCommand: { templateId: '#p:M:T', createArguments: { text: 'é'.repeat(512 * kilobytes) } } }],
});

type Submit = (kilobytes: number) => Observed<SubmittedTransaction>;

/** Plays submissions to a participant with these answers, and returns how many it has received. */
const play = (answer: (kilobytes: number) => Observable<Reply>, run: (submit: Submit) => void): number =>
  marbles(({ flush }) => {
    const service = scriptedService(({ path, body }) => {
      if (path === submitPath) return answer(Math.floor(Buffer.byteLength(JSON.stringify(body)) / 1024));
      return path === '/v2/state/ledger-end' ? [ok({ offset: 10 })] : [errorReply(404, '')];
    });
    const ledger: Ledger = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
    run((kilobytes) => observe(ledger.submitAndWaitForTransaction(commandsOf(kilobytes), { recover: false })));
    flush();
    return sentTo(service.requests, submitPath);
  });

const after = (ms: number, step: () => void): void => {
  asyncScheduler.schedule(step, ms);
};

const committed = ok({ transaction: transactionValue(11) });
const limited =
  (limit: number) =>
  (kilobytes: number): Observable<Reply> =>
    of(kilobytes >= limit ? errorReply(413, tooLarge) : committed);

describe('commands that are too large', () => {
  it('are not sent if as much was refused before, and the error has the sizes', () => {
    const seen: Observed<SubmittedTransaction>[] = [];
    const sent = play(limited(100), (submit) => {
      for (const [index, kilobytes] of [90, 110, 120, 110, 105].entries())
        after(index * 1_000, () => seen.push(submit(kilobytes)));
    });
    // the last one may be accepted
    expect(sent).toBe(3);
    expect(seen.map(({ values, error }) => values.length || (error as Error).name)).toEqual([
      1,
      ...Array.from({ length: 4 }, () => 'SubmissionRejectedError'),
    ]);
    const { explanation } = seen[2]?.error as { explanation: string };
    expect(explanation).toMatch(
      /^not sent, because it is too large: it has 123\d{3} bytes; a request of 11[23]\d{3} bytes was refused, and the largest that was accepted 92\d{3}$/,
    );
    expect(seen[2]?.error).toMatchObject({ status: 413, reason: 'invalid' });
    expect((seen[1]?.error as { explanation: string }).explanation).toBe(tooLarge);
  });

  it('are sent again after a while: the limit may have been raised', () => {
    const sent = play(limited(100), (submit) => {
      submit(110);
      after(500_000, () => submit(110));
      after(700_000, () => submit(110));
    });
    expect(sent).toBe(2);
  });

  it.each([
    ['committed', committed],
    ['refused for another reason', errorReply(400, errorBody('DAML_FAILURE', 9))],
  ])('are sent if more was accepted meanwhile: %s', (_, accepted) => {
    let isFirst = true;
    const answer = (): Observable<Reply> => {
      const reply$ = isFirst ? of(accepted).pipe(delay(5_000)) : of(errorReply(413, tooLarge));
      isFirst = false;
      return reply$;
    };
    const sent = play(answer, (submit) => {
      submit(200);
      after(1_000, () => submit(110));
      after(2_000, () => submit(110));
      after(6_000, () => submit(110));
    });
    expect(sent).toBe(3);
  });

  it('are not said to be smaller than what was accepted before the limit was lowered', () => {
    let limit = 300;
    const seen: Observed<SubmittedTransaction>[] = [];
    play(
      (kilobytes) => limited(limit)(kilobytes),
      (submit) => {
        submit(200);
        after(1_000, () => {
          limit = 100;
          submit(110);
        });
        after(2_000, () => seen.push(submit(120)));
      },
    );
    expect((seen[0]?.error as { explanation: string }).explanation).toMatch(/was refused$/);
  });

  it('are sent if what was refused is so small that its size is not the reason', () => {
    const sent = play(limited(1), (submit) => {
      submit(10);
      after(1_000, () => submit(10));
    });
    expect(sent).toBe(2);
  });

  it('are sent although the connection is reset', () => {
    const reset = (): Observable<Reply> => throwError(() => brokenConnection);
    expect(
      play(reset, (submit) => {
        submit(110);
        after(1_000, () => submit(110));
      }),
    ).toBe(2);
  });
});

describe('commands that are too large at another address', () => {
  it('are sent to this one, which may accept them', () => {
    const answering = (answer: Reply) =>
      scriptedService(({ path }) => {
        if (path === submitPath) return [answer];
        return path === '/v2/state/ledger-end' ? [ok({ offset: 10 })] : [errorReply(404, '')];
      });
    const [one, two] = [answering(errorReply(413, tooLarge)), answering(committed)];
    const seen: Observed<SubmittedTransaction>[] = [];
    marbles(({ flush }) => {
      let baseUrl = '';
      const port: HttpPort = (request) => (request.url.startsWith('http://one.') ? one : two).port(request);
      const ledger = createLedger({ baseUrl: () => baseUrl, port });
      for (const [count, address] of ['http://one.example', 'http://two.example', 'http://one.example'].entries())
        after(count * 10_000, () => {
          baseUrl = address;
          seen.push(observe(ledger.submitAndWaitForTransaction(commandsOf(110), { recover: false })));
        });
      flush();
    });
    expect(seen.map(({ values }) => values.length)).toEqual([0, 1, 0]);
    expect([one, two].map(({ requests }) => sentTo(requests, submitPath))).toEqual([1, 1]);
  });
});

describe('signed bytes that are too large', () => {
  it('are not sent again, because they stay so, and are settled by reading', () => {
    const executePath = '/v2/interactive-submission/executeAndWaitForTransaction';
    const sent = marbles(({ flush }) => {
      const service = scriptedService(({ path }) => {
        if (path === executePath)
          return sentTo(service.requests, path) === 1 ? [brokenConnection] : [errorReply(413, tooLarge)];
        return path === '/v2/state/ledger-end' ? [ok({ offset: 10 })] : [errorReply(404, '')];
      });
      const ledger = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
      const transactionHash = signedHash.toString('base64');
      observe(ledger.executeAndWaitForTransaction(signedRequest, { transactionHash }));
      flush();
      return sentTo(service.requests, executePath);
    });
    expect(sent).toBe(2);
  });
});

const sentTo = (requests: readonly { readonly path: string }[], to: string): number =>
  requests.filter(({ path }) => path === to).length;
