import { describe, expect, it } from '@jest/globals';
import { catchError, of } from 'rxjs';
import { CompletionElement, type CompletionResponse } from '../../src/codecs/Completion.js';
import { awaitIngested, ofChange, ofTransaction } from '../../src/operators/ofTransaction.js';
import { decode } from '../codecs/support.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';
import { completion, completionCheckpoint, rejection } from '../helpers/wire.js';
import { checkpoint, emits, reassignment, transaction } from './samples.js';

describe('ofTransaction', () => {
  const mine = { updateId: '1220ab', offset: 7 };
  const updates = {
    a: transaction({ offset: 5, updateId: '1220aa' }),
    m: transaction({ ...mine, events: [] }),
    c: { ...checkpoint(), offset: 7 },
    r: reassignment({ offset: 6, updateId: '1220ab' }),
    d: transaction({ offset: 12, updateId: '1220ac' }),
  };

  it.each([
    ['emits the transaction of the feed, and unsubscribes', '--a-r-m-d--|', '^-----!', '------(m|)'],
    [
      'completes after its offset, but not at a checkpoint of the same offset',
      '--a-c---d--|',
      '^-------!',
      '--------|',
    ],
    ['completes with the feed', '--a-|', '^---!', '----|'],
    ['errors with the feed', '--a-#', '^---!', '----#'],
  ])('%s', (_, feed, subscription, expected) => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold(feed, updates);
      expectObservable(source.pipe(ofTransaction(mine))).toBe(expected, updates);
      expectSubscriptions(source.subscriptions).toBe(subscription);
    });
  });
});

describe('ofChange', () => {
  const change = { commandId: 'order-7', userId: 'app', actAs: ['alice::1', 'bob::2', 'alice::1'] };
  const own = { commandId: 'order-7', actAs: ['bob::2', 'alice::1'] };
  const at = (wire: object): CompletionResponse => decode(CompletionElement, wire);
  const completions = {
    a: at(rejection(1, own)),
    // a reassignment
    b: at(completion(2, { ...own, deduplicationPeriod: null })),
    c: at(completion(3, own)),
    d: at(completion(4, { ...own, commandId: 'order-8' })),
    e: at(completion(5, { ...own, userId: 'other' })),
    f: at(completion(6, { ...own, actAs: ['alice::1'] })),
    g: at(completion(7, { ...own, actAs: ['alice::1', 'bob::2', 'carol::3'] })),
    h: at(completionCheckpoint(8)),
    // of as many parties as the change, and of more
    i: at(completion(9, { ...own, submissionId: 'canton-rx/2/x' })),
    j: at(completion(10, { ...own, submissionId: 'canton-rx/3/x' })),
  };

  it.each([
    ['the completions of all attempts of the change, without reassignments', ofChange(change), 'a-c-----i-|'],
    ['those of any user if it names none', ofChange({ ...change, userId: undefined }), 'a-c-e---i-|'],
    [
      'those of the parties that the request names',
      ofChange(change, { parties: ['alice::1', 'dave::4'] }),
      '-----f----|',
    ],
  ])('emits %s', (_, operator, to) => {
    emits(operator, completions, { from: 'abcdefghij|', to });
  });
});

describe('awaitIngested', () => {
  const updates = {
    a: transaction({ offset: 5 }),
    b: transaction({ offset: 7 }),
    c: { ...checkpoint(), offset: 9 },
    d: transaction({ offset: 12 }),
  };

  it.each([
    ['an update at the offset', 7, '----(x|)', 7],
    ['one beyond it', 6, '----(x|)', 7],
    ['a checkpoint', 8, '------(x|)', 9],
    ['the first of all', 1, '--(x|)', 5],
  ])('waits for %s, and unsubscribes', (_, offset, expected, x) => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('--a-b-c-d--|', updates);
      expectObservable(source.pipe(awaitIngested(offset))).toBe(expected, { x });
      expectSubscriptions(source.subscriptions).toBe(`^${'-'.repeat(expected.indexOf('(') - 1)}!`);
    });
  });

  itInVirtualTime('errors if the feed completes before, and delivers the error of the feed', (helpers) => {
    const { cold, expectObservable } = helpers;
    const name$ = cold('--a-|', updates).pipe(
      awaitIngested(8),
      catchError((error: unknown) => of(error instanceof Error && error.name)),
    );
    expectObservable(name$).toBe('----(e|)', { e: 'EmptyError' });
    expectObservable(cold('--a-#', updates).pipe(awaitIngested(8))).toBe('----#');
  });

  it('refuses what is no offset', () => {
    expect(() => awaitIngested(-1)).toThrow(TypeError);
    expect(() => awaitIngested(undefined as never)).toThrow(TypeError);
  });
});
