import { afterEach, describe, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { contractType, interfaceType } from '../../../src/codecs/TemplateType.js';
import type { ContractQuery } from '../../../src/contracts/ContractQuery.js';
import type { LiveState } from '../../../src/contracts/LiveState.js';
import { shareContractsOf } from '../../../src/contracts/shareContractsOf.js';
import { observe } from '../../helpers/observe.js';
import { contractsWorld, type ContractsWorld, listPath, pagePath } from '../../helpers/virtualContracts.js';
import { errorBody, errorReply } from '../../helpers/wire.js';
import { brief as briefChange, ids } from '../brief.js';
import { archive, create, Marble, marbles, Paint, undecodable } from '../joinSupport.js';
import { clearAll, paints, selects, show, unknownType, worldWith } from './typesWorld.js';

/** Queries of both types. */
const both: readonly ContractQuery[] = [marbles, paints];
const Big = contractType(Marble.templateId, t.type({ size: t.literal('big') }));

afterEach(clearAll);

const snapshots = ({ service }: Pick<ContractsWorld, 'service'>): number =>
  service.requests.filter(({ path }) => [pagePath, listPath].includes(path)).length;

/** A state in short. */
const brief = (state: LiveState | undefined): string =>
  state === undefined || state.data === 'loading' ? 'loading' : `${state.data} ${ids(state.contracts)}`;

describe('shareContractsOf', () => {
  it('reads views of different types by one snapshot and one feed, and each has the contracts and changes of its types', async () => {
    const { clock, shared, participant, service } = worldWith();
    const seen = both.map((query) => {
      const view = shared.view(query);
      return { states: observe(view.state$), changes: observe(view.changes$) };
    });
    await clock.advance(100);
    participant.append(create(3, 'y'), create(4, 'paint2'), archive(5, 'x'));
    await clock.advance(100);
    expect(seen.map(({ states }) => brief(states.values.at(-1)))).toEqual(['live y', 'live paint1paint2']);
    expect(seen.map(({ changes }) => changes.values.map(briefChange))).toEqual([
      ['Reset 2 start x', 'CaughtUp 2', 'ContractsChanged 3 +y', 'ContractsChanged 5 -x'],
      ['Reset 2 start paint1', 'CaughtUp 2', 'ContractsChanged 4 +paint2'],
    ]);
    expect([snapshots({ service }), service.open]).toEqual([1, 1]);
    for (const { states, changes } of seen)
      for (const { subscription } of [states, changes]) subscription.unsubscribe();
    expect(service.open).toBe(0);
  });

  it('shows a view that comes later what is known, without a request, and emits nothing to it for the changes of others', async () => {
    const { clock, shared, participant, service } = worldWith();
    const first = observe(shared.view(marbles).state$);
    await clock.advance(100);
    const before = service.requests.length;
    const later = observe(shared.view(paints).state$);
    expect(brief(later.values.at(-1))).toBe('live paint1');
    expect(service.requests).toHaveLength(before);
    const count = later.values.length;
    participant.append(create(3, 'y'));
    await clock.advance(50);
    expect([brief(first.values.at(-1)), later.values.length]).toEqual(['live xy', count]);
  });

  it('ends only the view whose contracts cannot be decoded, after a stale state with those before', async () => {
    const { clock, shared, participant, diagnostics } = worldWith();
    const big = shared.view({ types: { big: Big }, parties: marbles.parties, onUndecodable: 'fail' });
    const emitting = shared.view({ types: { big: Big }, parties: marbles.parties });
    participant.append(archive(3, 'x'));
    const [failing, others, paint] = [
      observe(big.state$),
      observe(emitting.state$),
      observe(shared.view(paints).state$),
    ];
    await clock.advance(100);
    expect(brief(failing.values.at(-1))).toBe('live ');
    participant.append(create(4, 'paint2'), create(5, 'y'), create(6, 'paint3'));
    await clock.advance(100);
    expect(failing.error).toMatchObject({ _tag: 'DecodeError' });
    expect(brief(failing.values.at(-1))).toBe('stale ');
    expect([brief(others.values.at(-1)), brief(paint.values.at(-1))]).toEqual(['live y', 'live paint1paint2paint3']);
    const undecoded = diagnostics.filter(({ _tag }) => _tag === 'ContractUndecoded');
    expect(undecoded).toMatchObject([{ contractId: 'y', expectedType: 'big' }]);
    expect(diagnostics.filter(({ _tag }) => _tag === 'FeedEnded')).toMatchObject([{ how: 'failed' }]);
  });

  it('reads each view alone if the participant does not know one of the types, and only that one ends', async () => {
    const { clock, shared, participant, ...world } = worldWith({
      fault: (request) => (selects(request, Paint) ? unknownType : undefined),
    });
    const [marble, paint] = [observe(shared.view(marbles).state$), observe(shared.view(paints).state$)];
    await clock.advance(100);
    participant.append(create(3, 'y'));
    await clock.advance(100);
    expect([marble.error, brief(marble.values.at(-1))]).toEqual([undefined, 'live xy']);
    expect(paint.error).toMatchObject({ _tag: 'ApiError', status: 404 });
    expect(world.service.open).toBe(1);
  });

  it('continues each view alone without a reset if the request for all types is rejected later', async () => {
    let isKnown = true;
    const { clock, shared, participant } = worldWith({
      fault: (request) => (!isKnown && selects(request, Paint) ? unknownType : undefined),
    });
    const changes = observe(shared.view(marbles).changes$);
    const paint = observe(shared.view(paints).state$);
    await clock.advance(100);
    isKnown = false;
    participant.ledger.disconnect();
    participant.append(create(3, 'y'));
    await clock.advance(60_000);
    participant.append(create(4, 'z'));
    await clock.advance(60_000);
    expect(paint.error).toMatchObject({ _tag: 'ApiError', status: 404 });
    expect(changes.error).toBeUndefined();
    expect(changes.values.filter(({ _tag }) => ['Reset', 'ContractsChanged'].includes(_tag)).map(briefChange)).toEqual([
      'Reset 2 start x',
      'ContractsChanged 3 +y',
      'ContractsChanged 4 +z',
    ]);
  });

  it('ends the views that see an update which cannot be decoded, and no others', async () => {
    const { clock, shared, participant } = worldWith({
      show: (element, body) =>
        JSON.stringify(element).includes('events') || !('update' in element) || JSON.stringify(body).includes('Paint')
          ? show(element, body)
          : undefined,
    });
    const [marble, paint] = [observe(shared.view(marbles).state$), observe(shared.view(paints).state$)];
    await clock.advance(100);
    participant.append(create(3, 'y'), create(4, 'paint2'), undecodable(5), create(6, 'z'));
    await clock.advance(1_000);
    expect(paint.error).toMatchObject({ _tag: 'DecodeError' });
    expect(brief(paint.values.at(-1))).toBe('stale paint1paint2');
    expect([marble.error, brief(marble.values.at(-1))]).toEqual([undefined, 'live xyz']);
  });

  it('ends all views if a right is missing, and requests nothing more', async () => {
    let isAllowed = true;
    const { clock, shared, participant, service } = worldWith({
      fault: () => (isAllowed ? undefined : errorReply(403, errorBody('PERMISSION_DENIED', 7))),
    });
    const seen = both.map((query) => observe(shared.view(query).state$));
    await clock.advance(100);
    isAllowed = false;
    participant.ledger.disconnect();
    await clock.advance(5_000);
    expect(seen.map(({ error }) => error)).toMatchObject([{ status: 403 }, { status: 403 }]);
    const count = service.requests.length;
    await clock.advance(60_000);
    expect([service.requests.length, service.open]).toEqual([count, 0]);
  });

  it('reads views alone that select other types, all contracts, or wait for a type, and those that reload', async () => {
    const { clock, shared, service } = worldWith({}, [Marble]);
    const seen = [
      shared.view(marbles),
      shared.view({ types: { big: Big }, parties: marbles.parties }),
      shared.view(paints),
      shared.view({ parties: marbles.parties }),
      shared.view({ ...marbles, onUnknownPackage: 'wait' }),
    ].map((view) => ({ view, states: observe(view.state$) }));
    await clock.advance(100);
    expect([snapshots({ service }), service.open]).toEqual([4, 4]);
    seen[0]?.view.reload();
    await clock.advance(100);
    expect([snapshots({ service }), service.open]).toEqual([5, 5]);
    expect(seen.map(({ states }) => brief(states.values.at(-1)))).toEqual([
      'live x',
      'live x',
      'live paint1',
      'live xpaint1',
      'live x',
    ]);
  });

  it('reads again after clear: what another user has read is not shown', async () => {
    const { clock, shared, participant, service } = worldWith();
    const before = observe(shared.view(marbles).state$);
    await clock.advance(100);
    shared.clear();
    const after = observe(shared.view(paints).state$);
    expect(after.values.map(brief)).toEqual(['loading']);
    participant.append(create(3, 'paint2'));
    await clock.advance(100);
    expect([brief(before.values.at(-1)), brief(after.values.at(-1))]).toEqual(['live x', 'live paint1paint2']);
    expect(snapshots({ service })).toBe(2);
  });

  it.each([
    ['no types', []],
    [
      'ambiguous interfaces',
      [1, 2].map((id) => interfaceType(`${id === 1 ? '#api' : `${id}`.repeat(64)}:Api:Thing`, t.unknown)),
    ],
  ])('throws for %s', (_, types) => {
    const { client } = contractsWorld();
    expect(() => shareContractsOf(client, types)).toThrow(TypeError);
  });
});
