import { describe, it } from '@jest/globals';
import { either as E } from 'fp-ts';
import { mergeMap, type Observable, of, type OperatorFunction } from 'rxjs';
import { filterEvents } from '../../src/operators/filterEvents.js';
import { ofEvent, ofVariant } from '../../src/operators/byTag.js';
import { ofTemplate } from '../../src/operators/ofTemplate.js';
import { onSynchronizer } from '../../src/operators/onSynchronizer.js';
import { recordTimes } from '../../src/operators/recordTimes.js';
import { toEither } from '../../src/operators/toEither.js';
import { toEvents } from '../../src/operators/toEvents.js';
import { at, created, GLOBAL, transaction } from './samples.js';
import { marbles } from '../helpers/time.js';

const event = created();
const update = transaction({ events: [event], recordTime: at(1) });

/** An operator, an element, and what the operator emits for it. */
const law = (operator: (source: Observable<never>) => Observable<unknown>, element: unknown, emitted: unknown) => ({
  operator: operator as OperatorFunction<unknown, unknown>,
  element,
  emitted,
});

const operatorLaws = {
  ofVariant: law(ofVariant('Transaction'), update, update),
  ofEvent: law(ofEvent('CreatedEvent'), event, event),
  ofTemplate: law(ofTemplate('Finance.Bonds:Bond'), event, event),
  onSynchronizer: law(onSynchronizer(GLOBAL), update, update),
  toEvents: law(toEvents(), update, event),
  filterEvents: law(filterEvents(ofEvent('CreatedEvent')), update, update),
  recordTimes: law(recordTimes(), update, new Map([[GLOBAL, at(1)]])),
  toEither: law(toEither(), update, E.right(update)),
};

describe.each(Object.entries(operatorLaws))('%s', (_, { operator, element, emitted }) => {
  const values = { a: element, b: emitted };

  it.each([
    ['completes with an empty source', '      |      ', '|', '     (^!)'],
    ['never ends if the source never does', ' ---a---', '---b---', '^'],
    ['completes with the source', '           ---a---|', '---b---|', '^------!'],
    ['delivers the error of the source', '    ---a---#', '---b---#', '^------!'],
  ])('%s', (_name, source, expected, subscription) => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold(source.trim(), values);
      expectObservable(source$.pipe(operator)).toBe(expected, values);
      expectSubscriptions(source$.subscriptions).toBe(subscription.trim());
    });
  });

  it('unsubscribes from the source when it is unsubscribed from', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('---a---|', values);
      const unsub = '       ----!';
      const chain$ = source$.pipe(
        mergeMap((value) => of(value)),
        operator,
        mergeMap((value) => of(value)),
      );
      expectObservable(chain$, unsub).toBe('---b-', values);
      expectSubscriptions(source$.subscriptions).toBe('^---!');
    });
  });

  it('serves two subscriptions independently', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('---a---|', values);
      const result$ = source$.pipe(operator);
      expectObservable(result$, '^').toBe('---b---|', values);
      expectObservable(result$, '--^').toBe('-----b---|', values);
      expectSubscriptions(source$.subscriptions).toBe(['^------!', '--^------!']);
    });
  });
});
