import { describe, expect, it } from '@jest/globals';
import { NEVER, of, Subject, throwError } from 'rxjs';
import type { SubmittedTransaction } from '../../src/codecs/Transaction.js';
import { type AwaitedView, SingleSubmission } from '../../src/contracts/SingleSubmission.js';
import { observe } from '../helpers/observe.js';
import { withoutText } from '../helpers/thrown.js';
import { marbles } from '../helpers/time.js';

const transaction = { _tag: 'Transaction', updateId: 'u1', offset: 2 } as SubmittedTransaction;

/** The states of a submission that is answered at once, with their times. */
const statesWith = (awaits: AwaitedView | undefined): unknown =>
  marbles(({ flush }) => {
    const form = new SingleSubmission();
    const states = observe(form.state$);
    void form.submit(() => of(transaction), awaits);
    flush();
    return states.values.map(({ pending, outcome }, index) => [
      states.times[index],
      pending ? 'pending' : outcome?._tag,
    ]);
  });

const thrower = (): never => {
  throw new Error('refused');
};

describe('a submission that awaits a view', () => {
  it('has its outcome while the view emits, in the same step', () => {
    const form = new SingleSubmission();
    const after$ = new Subject<unknown>();
    void form.submit(() => of(transaction), { after: () => after$ });
    expect(form.state.pending).toBe(true);
    after$.next(1);
    expect(form.state).toEqual({ pending: false, outcome: { _tag: 'Committed', transaction } });
    expect(after$.observed).toBe(false);
  });

  it.each<[string, AwaitedView | undefined, number]>([
    ['there is none', undefined, 0],
    ['the view fails', { after: () => throwError(() => new Error('refused')) }, 0],
    ['the view ends', { after: () => of() }, 0],
    ['the view throws', { after: thrower }, 0],
    ['the view does not include it for ten seconds', { after: () => NEVER }, 10_000],
  ])('is committed if %s', (_, awaits, afterMs) => {
    expect(statesWith(awaits)).toEqual([
      [0, undefined],
      [0, 'pending'],
      [afterMs, 'Committed'],
    ]);
  });

  it('does not submit again what is committed', async () => {
    const form = new SingleSubmission();
    await form.submit(() => of(transaction), undefined);
    expect(await form.retry(undefined)).toBeUndefined();
    expect(form.state.outcome?._tag).toBe('Committed');
  });

  it.each(withoutText)('has failed, whatever its error is: %s', async (_, thrown) => {
    const form = new SingleSubmission();
    const outcome = await form.submit(() => throwError(() => thrown), undefined);
    expect(outcome).toMatchObject({ _tag: 'Failed', error: expect.any(Error) });
    expect(form.state).toEqual({ pending: false, outcome });
  });

  it('has failed if it throws before there is an Observable, such as that of a mere reader', async () => {
    const form = new SingleSubmission();
    const outcome = await form.submit(thrower, undefined);
    expect(outcome).toEqual({ _tag: 'Failed', error: new Error('refused') });
    expect(form.state).toEqual({ pending: false, outcome });
    expect(await form.retry(undefined)).toEqual(outcome);
  });

  it('awaits nothing after a failure', async () => {
    const form = new SingleSubmission();
    const after = (): never => {
      throw new Error('called');
    };
    const outcome = await form.submit(() => throwError(() => new Error('no')), { after });
    expect(outcome).toEqual({ _tag: 'Failed', error: new Error('no') });
  });
});
