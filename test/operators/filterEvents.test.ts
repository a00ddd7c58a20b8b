import { describe, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { filter, mergeMap, of, pipe, take, type Observable } from 'rxjs';
import { contractType } from '../../src/codecs/TemplateType.js';
import type { Update } from '../../src/codecs/Update.js';
import { DecodeError } from '../../src/errors/feed.js';
import type { UndecodedUpdate } from '../../src/feed/Page.js';
import { filterEvents } from '../../src/operators/filterEvents.js';
import { ofEvent } from '../../src/operators/ofVariant.js';
import { ofTemplate } from '../../src/operators/ofTemplate.js';
import {
  added,
  archived,
  assigned,
  at,
  checkpoint,
  created,
  exercised,
  GLOBAL,
  reassignment,
  topology,
  transaction,
  unassigned,
  unknownUpdate,
  emits,
} from './samples.js';
import { observe } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';

const other = created({ contractId: '00c2', templateId: '1220f0:Finance.Bonds:Note' });

const updates: Record<string, Update> = {
  b: transaction({ offset: 1, events: [created(), archived(), other] }),
  o: transaction({ offset: 2, events: [archived()] }),
  e: transaction({ offset: 3, events: [] }),
  s: reassignment({ offset: 4, events: [assigned()] }),
  u: reassignment({ offset: 5, events: [unassigned()] }),
  t: topology({ offset: 6, events: [added] }),
  c: checkpoint({ synchronizerId: GLOBAL, recordTime: at(1) }),
  k: unknownUpdate({ value: { offset: 8, events: [created()] } }),
};
const withEvents = (letter: string, events: readonly unknown[]): object => ({ ...updates[letter], events });

describe('filterEvents', () => {
  it('emits each transaction with the events that are left, even if none are', () => {
    const as = { B: withEvents('b', [created(), other]), O: withEvents('o', []), E: updates['e'] };
    emits(filterEvents(ofEvent('CreatedEvent')), updates, { from: '--b-o-e-b--|', to: '--B-O-E-B--|', as });
  });

  it('filters the events of reassignments and topology transactions', () => {
    const as = { s: updates['s'], U: withEvents('u', []), T: withEvents('t', []) };
    emits(filterEvents(ofEvent('AssignedEvent')), updates, { from: '--s-u-t--|', to: '--s-U-T--|', as });
  });

  it('passes checkpoints, unknown variants and invalid updates unchanged', () => {
    const invalid: UndecodedUpdate = { _tag: 'UndecodedUpdate', offset: 9, problems: [] };
    const source: Record<string, Update | UndecodedUpdate> = { ...updates, i: invalid };
    emits(filterEvents(ofEvent('CreatedEvent')), source, { from: '--c-k-i--|', to: '--c-k-i--|' });
  });

  it('takes a template, a predicate, or several operators', () => {
    const bonds = ofTemplate('#finance:Finance.Bonds:Bond');
    const leaves = (...events: readonly unknown[]) => ({ from: 'b', to: 'B', as: { B: withEvents('b', events) } });
    emits(filterEvents(bonds), updates, leaves(created(), archived()));
    emits(filterEvents(filter((event) => event === other)), updates, leaves(other));
    emits(filterEvents(pipe(bonds, ofEvent('ArchivedEvent'))), updates, leaves(archived()));
  });

  it('applies the operator to each update separately', () => {
    const as = { B: withEvents('b', [created()]), o: updates['o'] };
    emits(filterEvents(take(1)), updates, { from: 'b-o|', to: 'B-o|', as });
  });

  it('decodes events, and ends before an update with one that does not decode', () => {
    const Bond = contractType('#finance:Finance.Bonds:Bond', t.type({ owner: t.string }));
    const good = transaction({ events: [created({ createArgument: { owner: 'alice' } })] });
    const bad = transaction({ offset: 2, events: [created({ createArgument: {}, offset: 2 })] });
    const { values, error } = observe(of(good, bad).pipe(filterEvents(ofTemplate(Bond))));
    expect(values).toMatchObject([{ events: [{ payload: { owner: 'alice' } }] }]);
    expect(error).toBeInstanceOf(DecodeError);
  });

  it('leaves the update of the source as it is', () => {
    const update = transaction({ events: [created(), exercised()] });
    const { values } = observe(of(update).pipe(filterEvents(ofEvent('ExercisedEvent'))));
    expect(values).toMatchObject([{ events: [exercised()] }]);
    expect(update.events).toHaveLength(2);
  });

  it('keeps the order of updates if the operator emits later', () => {
    marbles(({ cold, expectObservable }) => {
      const first = (events$: Observable<object>) => events$.pipe(mergeMap((event) => cold('--(e|)', { e: event })));
      expectObservable(cold('oc|', updates).pipe(filterEvents(first))).toBe('--(oc|)', updates);
    });
  });
});
