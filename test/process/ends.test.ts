import { describe, expect, it } from '@jest/globals';
import type { HandlerResult } from '../../src/process/ProcessOptions.js';
import { concat, NEVER, type Observable, of, throwError } from 'rxjs';
import { logTo } from '../../src/diagnostics/logTo.js';
import type { Transactions } from '../../src/process/CheckpointStore.js';
import { observe } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';
import { mockPlatform, name, PlainStore, processWorld, until } from './support.js';

mockPlatform();

type Process = ReturnType<typeof processWorld>['process'];
type Options = NonNullable<Parameters<Process>[1]>;

const down = throwError(() => new Error('the database is down'));

/** A transactional store of which one call fails, or does not answer. */
const failing = (call: 'hold' | 'load' | 'save', result$: Observable<never>): object => ({
  hold: () =>
    call === 'hold' ? result$ : concat(of<Transactions<string>>({ transact: (inside) => inside('tx') }), NEVER),
  load: () => (call === 'load' ? result$ : of()),
  save: () => (call === 'save' ? result$ : of(undefined)),
});

const fail = (): never => {
  throw new Error('no such table');
};

const storeFailures = [5_000, 0].flatMap((giveUpAfterMs) =>
  (['hold', 'load', 'save'] as const).flatMap((call) => {
    const options = (result$: Observable<never>): object => ({
      name,
      store: failing(call, result$),
      retry: { giveUpAfterMs },
      storeTimeoutMs: 1_000,
    });
    const cases: [string, object][] = [[`${call} fails, retried for ${giveUpAfterMs} ms`, options(down)]];
    // a processor may wait for its name for any time
    if (call !== 'hold') cases.push([`${call} hangs, retried for ${giveUpAfterMs} ms`, options(NEVER)]);
    return cases;
  }),
);

/** The ends that are reported, the error lines that are logged, and the error that the subscriber receives. */
function endOf(handler: () => HandlerResult, options: object, participant: object = {}): object {
  const errors: string[] = [];
  const ends: unknown[] = [];
  let error: unknown;
  marbles(({ flush }) => {
    const { client, process } = processWorld(3, participant);
    const skip = (): void => undefined;
    client.diagnostics$.subscribe(logTo({ info: skip, warn: skip, error: (line) => errors.push(line) }));
    client.diagnostics$.subscribe((diagnostic) => {
      if (diagnostic._tag === 'FeedEnded') ends.push({ how: diagnostic.how, error: diagnostic.error });
    });
    const seen = observe(process(handler, options as Options).pipe(until(200_000)));
    flush();
    ({ error } = seen);
  });
  return { ends, errors, error };
}

describe('the end of a processor', () => {
  it.each<[string, () => HandlerResult, object]>([
    ['the handler fails', fail, {}],
    ['the handler fails and is not retried', fail, { handlerRetry: { giveUpAfterMs: 0 } }],
    ['the handler fails with a store', fail, { name, store: new PlainStore() }],
    ...storeFailures.map(([title, options]): [string, () => HandlerResult, object] => [
      title,
      () => undefined,
      options,
    ]),
  ])('with an error is reported and logged once: %s', (_, handler, options) => {
    const end = endOf(handler, options);
    const error: unknown = expect.objectContaining({ _tag: expect.stringMatching(/^(Handler|Store)Error$/) });
    expect(end).toEqual({
      ends: [{ how: 'failed', error }],
      errors: [
        expect.stringMatching(
          /^canton-rx: (?:feed 1|processor balances): ended with an error: The (handler|store) failed/,
        ),
      ],
      error,
    });
  });

  it('is reported and logged once if the ledger refuses the updates', () => {
    const refusal = { status: 403, headers: {}, text: 'no' };
    expect(endOf(() => undefined, {}, { fault: () => refusal })).toMatchObject({
      ends: [{ how: 'failed', error: { _tag: 'ApiError' } }],
      errors: [expect.stringContaining('answered 403: no')],
    });
  });

  it('is reported once if the store fails for a while and the processor is then stopped', () => {
    let failures = 0;
    const store = new PlainStore((call) => (call === 'save' && (failures += 1) < 3 ? down : undefined));
    expect(endOf(() => undefined, { name, store })).toEqual({
      ends: [{ how: 'unsubscribed', error: undefined }],
      errors: [],
      error: undefined,
    });
  });
});
