import { describe, it } from '@jest/globals';
import { CompletionElement, type CompletionResponse } from '../../src/codecs/Completion.js';
import { ofChange } from '../../src/operators/ofSubmission.js';
import { decode } from '../codecs/support.js';
import { marbles } from '../helpers/time.js';
import { completion, completionCheckpoint, rejection } from '../helpers/wire.js';

const change = { commandId: 'order-7', userId: 'app', actAs: ['alice::1', 'bob::2', 'alice::1'] };
const own = { commandId: 'order-7', actAs: ['bob::2', 'alice::1'] };
const at = (wire: object): CompletionResponse => decode(CompletionElement, wire);

const completions = {
  a: at(rejection(1, own)),
  b: at(completion(2, { ...own, deduplicationPeriod: null })),
  c: at(completion(3, own)),
  d: at(completion(4, { ...own, commandId: 'order-8' })),
  e: at(completion(5, { ...own, userId: 'other' })),
  f: at(completion(6, { ...own, actAs: ['alice::1'] })),
  g: at(completion(7, { ...own, actAs: ['alice::1', 'bob::2', 'carol::3'] })),
  h: at(completionCheckpoint(8)),
};

describe('ofChange', () => {
  it('emits the completions of all attempts of the change, without reassignments', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('abcdefgh|', completions);
      const subs = '       ^-------!';
      const expected = '   a-c-----|';

      expectObservable(source.pipe(ofChange(change))).toBe(expected, completions);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('emits those of any user if it names none', () => {
    marbles(({ cold, expectObservable }) => {
      const { commandId, actAs } = change;

      expectObservable(cold('abcdefgh#', completions).pipe(ofChange({ commandId, actAs }))).toBe(
        'a-c-e---#',
        completions,
      );
    });
  });

  it('compares only the parties that the request names', () => {
    marbles(({ cold, expectObservable }) => {
      const ofPart = ofChange(change, { parties: ['alice::1', 'dave::4'] });

      expectObservable(cold('abcdefgh|', completions).pipe(ofPart)).toBe('-----f--|', completions);
    });
  });
});
