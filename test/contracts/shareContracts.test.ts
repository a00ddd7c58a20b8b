import { afterEach, describe, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { NEVER } from 'rxjs';
import { contractType, interfaceType } from '../../src/codecs/TemplateType.js';
import type { ContractPolicies, ContractQuery, ContractsOptions } from '../../src/contracts/ContractQuery.js';
import type { LiveState } from '../../src/contracts/LiveState.js';
import { shareContracts, type SharedContracts } from '../../src/contracts/shareContracts.js';
import type { Transport } from '../../src/feed/LedgerFeed.js';
import { observe } from '../helpers/observe.js';
import { stopClock } from '../helpers/time.js';
import { contractsWorld, type ContractsWorld, listPath, pagePath } from '../helpers/virtualContracts.js';
import { errorBody, errorReply, notFound } from '../helpers/wire.js';
import { brief as briefChange, ids } from './brief.js';
import { archive, create, Marble, marbles, Paint } from './joinSupport.js';

const keepMs = 30_000;
const refusal = errorReply(403, errorBody('PERMISSION_DENIED', 7));

const opened: SharedContracts[] = [];
afterEach(() => {
  for (const shared of opened.splice(0)) shared.clear();
});

function worldWith(options: Parameters<typeof contractsWorld>[0] = {}) {
  // without the requests of diagnostics, which are not those of views
  const fault: typeof options.fault = (request, count) =>
    request.path === '/v2/state/connected-synchronizers' ? notFound : options.fault?.(request, count);
  const world = contractsWorld({ latencyMs: 1, ...options, fault });
  world.participant.append(create(1, 'x'));
  const shared = shareContracts(world.client);
  opened.push(shared);
  return { ...world, shared };
}

/** The same, with a clock that the test advances. */
const stoppedWorld = (...options: Parameters<typeof worldWith>) => ({ clock: stopClock(), ...worldWith(...options) });

const snapshots = ({ service }: ContractsWorld): number =>
  service.requests.filter(({ path }) => [pagePath, listPath].includes(path)).length;

/** A state in short. */
const brief = (state: LiveState | undefined): string =>
  state === undefined || state.data === 'loading' ? 'loading' : `${state.data} ${ids(state.contracts)}`;

describe('shareContracts', () => {
  it('reads equal queries once, and emits the current contracts to a later subscriber at once', async () => {
    const { clock, shared, ...world } = stoppedWorld();
    const first = observe(shared.view(marbles).all$());
    await clock.advance(100);
    world.participant.append(create(2, 'y'), archive(3, 'x'));
    await clock.advance(100);
    const later = observe(shared.view({ ...marbles, types: { ...marbles.types } }).all$());
    expect(later.values.map(ids)).toEqual(['y']);
    expect(ids(first.values.at(-1) ?? [])).toBe('y');
    expect([snapshots(world), world.service.open]).toEqual([1, 1]);
  });

  it('shows each subscriber the last state, if another one reloads at once', async () => {
    const { clock, shared } = stoppedWorld();
    const view = shared.view(marbles);
    let reloads = 0;
    const reloading = view.state$.subscribe(({ data }) => {
      if (data === 'live' && (reloads += 1) === 1) view.reload();
    });
    const states = observe(view.state$);
    while (reloads === 0) await clock.advance(1);
    expect(brief(states.values.at(-1))).toBe('stale x');
    await clock.advance(100);
    expect([brief(states.values.at(-1)), reloads]).toEqual(['live x', 2]);
    for (const subscription of [reloading, states.subscription]) subscription.unsubscribe();
  });

  it('requests nothing before a subscription', async () => {
    const { clock, shared, service } = stoppedWorld();
    const view = shared.view(marbles);
    expect(view.current()).toMatchObject({ connection: { status: 'connecting' } });
    view.reload();
    await clock.advance(100);
    expect(service.requests).toEqual([]);
  });

  it('keeps a view up to date after its last subscriber for 30 seconds, and then reads anew', async () => {
    const { clock, shared, ...world } = stoppedWorld();
    const view = shared.view(marbles);
    const states = (): string[] => {
      const seen = observe(view.state$);
      seen.subscription.unsubscribe();
      return seen.values.map(brief);
    };
    const first = observe(view.all$());
    await clock.advance(100);
    first.subscription.unsubscribe();
    world.participant.append(create(2, 'y'));
    await clock.advance(keepMs - 1);
    expect(states()).toEqual(['live xy']);
    await clock.advance(keepMs - 1);
    expect(world.service.open).toBe(1);
    await clock.advance(1);
    expect(world.service.open).toBe(0);
    expect(states()).toEqual(['loading']);
    shared.clear();
    expect(world.service.open).toBe(0);
  });

  it('keeps the two views that were used last', async () => {
    const { clock, shared, service } = stoppedWorld();
    const visit = async (...parties: readonly string[]): Promise<void> => {
      const seen = observe(shared.view({ ...marbles, parties }).all$());
      await clock.advance(100);
      seen.subscription.unsubscribe();
    };
    const isKept = (...parties: readonly string[]): boolean =>
      shared.view({ ...marbles, parties }).current().known !== undefined;
    for (const party of ['a', 'b', 'a', 'b', 'c']) await visit(party);
    expect(['a', 'b', 'c'].map((party) => isKept(party))).toEqual([false, true, true]);
    expect(service.open).toBe(2);
  });

  it.each([undefined, Infinity])('keeps two of hundreds of views that were left, if keepMs is %d', async (forMs) => {
    const { clock, client, service } = stoppedWorld();
    const shared = shareContracts(client, { keepMs: forMs });
    opened.push(shared);
    for (let n = 0; n < 200; n += 1) {
      const seen = observe(shared.view({ ...marbles, parties: [`p${n}`] }).all$());
      // some leave before their view has begun
      if (n % 3 > 0) await clock.advance(10);
      seen.subscription.unsubscribe();
    }
    await clock.advance(100);
    const kept = Array.from({ length: 200 }, (_, n) => shared.view({ ...marbles, parties: [`p${n}`] }).current());
    expect(kept.filter(({ known }) => known !== undefined).length).toBeLessThanOrEqual(2);
    expect(service.open).toBeLessThanOrEqual(2);
    await clock.advance(30_000);
    expect(service.open > 0).toBe(forMs === Infinity);
  });

  it('ends a view with its last subscriber if keepMs is 0, never if it is Infinity, and refuses a negative time', async () => {
    const { clock, client, service } = stoppedWorld();
    const visit = async (shared: SharedContracts): Promise<number> => {
      const seen = observe(shared.view(marbles).all$());
      await clock.advance(100);
      seen.subscription.unsubscribe();
      await clock.advance(0);
      return service.open;
    };
    expect(await visit(shareContracts(client, { keepMs: 0 }))).toBe(0);
    const forever = shareContracts(client, { keepMs: Infinity });
    expect(await visit(forever)).toBe(1);
    await clock.advance(3_600_000);
    expect(service.open).toBe(1);
    forever.clear();
    expect(service.open).toBe(0);
    for (const wrong of [-1, NaN]) expect(() => shareContracts(client, { keepMs: wrong })).toThrow(TypeError);
  });

  it('throws for an invalid query when the view is requested', () => {
    const { shared } = worldWith();
    expect(() => shared.view({ parties: [] })).toThrow(TypeError);
    expect(() => shared.view(marbles, { maxPageSize: 0 })).toThrow(TypeError);
  });

  it('does not keep a view that has ended with an error', async () => {
    let isRefused = true;
    const { clock, shared, ...world } = stoppedWorld({ fault: () => (isRefused ? refusal : undefined) });
    const view = shared.view(marbles);
    const [first, second] = [observe(view.all$()), observe(shared.view(marbles).state$)];
    await clock.advance(100);
    for (const { error } of [first, second]) expect(error).toMatchObject({ _tag: 'ApiError', status: 403 });
    isRefused = false;
    const later = observe(view.state$);
    expect(later.values.map(brief)).toEqual(['loading']);
    await clock.advance(100);
    expect(brief(later.values.at(-1))).toBe('live x');
    const last = observe(shared.view(marbles).state$);
    expect(last.values.map(brief)).toEqual(['live x']);
    expect([snapshots(world), world.service.open]).toEqual([1, 1]);
  });

  it('reads again for all subscribers, with the previous contracts until then', async () => {
    let isHeld = false;
    const { clock, shared, ...world } = stoppedWorld({ fault: () => (isHeld ? NEVER : undefined) });
    const view = shared.view(marbles);
    const states = observe(view.state$);
    const changes = observe(shared.view(marbles).changes$);
    await clock.advance(100);
    isHeld = true;
    const [before, changesBefore] = [states.values.length, changes.values.length];
    let reloads = 0;
    const reloading = view.reload$.subscribe(() => (reloads += 1));
    shared.view({ ...marbles }).reload();
    expect(reloads).toBe(1);
    const during = observe(view.state$);
    expect(during.values.map(brief)).toEqual(['stale x']);
    expect(view.current().isReloading).toBe(true);
    world.participant.append(create(2, 'y'));
    isHeld = false;
    view.reload();
    await clock.advance(100);
    const shown = new Set(states.values.slice(before).map(brief));
    expect([...shown]).toEqual(['stale x', 'stale xy', 'live xy']);
    const [reset] = changes.values.slice(changesBefore);
    expect(reset && briefChange(reset)).toBe('Reset 2 start x,y');
    expect(view.current().isReloading).toBeUndefined();
    expect(world.service.open).toBe(1);
    reloading.unsubscribe();
  });

  it('begins new views after clear, and ends those before it with their last subscriber', async () => {
    const { clock, shared, ...world } = stoppedWorld();
    const view = shared.view(marbles);
    const before = observe(view.state$);
    await clock.advance(100);
    shared.clear();
    const after = observe(view.state$);
    expect(after.values.map(brief)).toEqual(['loading']);
    await clock.advance(100);
    expect(world.service.open).toBe(2);
    before.subscription.unsubscribe();
    expect(world.service.open).toBe(1);
    expect(view.current().known?.contracts.size).toBe(1);
    after.subscription.unsubscribe();
    expect(world.service.open).toBe(1);
    shared.clear();
    expect(world.service.open).toBe(0);
  });

  it('reads the query as it was, whatever its caller does with the object', async () => {
    const { clock, shared, ...world } = stoppedWorld();
    const [alice, bob] = ['alice::1220ab', 'bob::1220ab'] as const;
    const parties: string[] = [alice];
    const types = { ...marbles.types };
    const query = { types, parties };
    const view = shared.view(query);
    parties[0] = bob;
    Object.assign(query, { parties: [bob] });
    Object.assign(types, { paint: Paint });
    const all = observe(view.all$());
    await clock.advance(100);
    shared.view({ types: { ...marbles.types }, parties: [alice] }).reload();
    await clock.advance(100);
    expect(all.values.map(ids)).toContain('x');
    const bodies = world.service.requests.map(({ body }) => JSON.stringify(body)).join();
    expect(bodies).toContain(alice);
    expect(bodies).not.toContain(bob);
    expect(bodies).not.toContain(Paint.templateId);
  });

  it('shares nothing between ledgers', async () => {
    const clock = stopClock();
    const [one, other] = [worldWith(), worldWith()];
    other.participant.append(create(2, 'y'));
    const seen = [one, other].map(({ shared }) => observe(shared.view(marbles).all$()));
    await clock.advance(100);
    expect(seen.map(({ values }) => ids(values.at(-1) ?? []))).toEqual(['x', 'xy']);
  });
});

describe('queries of shared contracts', () => {
  const { shared } = worldWith();
  const [alice, bob] = ['alice::1220ab', 'bob::1220ab'];
  const Holding = interfaceType('#marbles:Holdings:Holding', t.type({ owner: t.string }));
  const decoderOfMarble = { templateId: Marble.templateId, decoder: Marble.decoder };
  const transport = (over: Transport['over']): Transport => ({ _tag: 'Transport', over, readList: () => NEVER });
  const one = transport((source) => source);
  type Asked = readonly [ContractQuery & ContractPolicies, ContractsOptions?];
  const isEqual = (a: Asked, b: Asked): boolean => shared.keyOf(...a) === shared.keyOf(...b);

  const any = { parties: 'any' } as const;
  const typed = (types: ContractQuery['types']): Asked => [{ ...any, types }];
  const owner = contractType('#marbles:Marbles:Marble', t.type({ owner: t.string }));
  const paged = { maxPageSize: 3 };

  it.each<readonly [string, Asked, Asked]>([
    ['parties', [{ parties: [alice, bob] }], [{ parties: [bob, alice, bob] }]],
    ['types', typed({ a: Marble, b: Paint }), [{ types: { b: Paint, a: Marble }, ...any }]],
    ['copies of types', typed({ a: Marble }), typed({ a: decoderOfMarble })],
    ['absent parts', [{ ...any, onGap: undefined }, {}], [any, { maxPageSize: undefined }]],
    [
      'options',
      [any, { retry: { baseDelayMs: 1, maxDelayMs: 2 }, ...paged }],
      [any, { ...paged, retry: { maxDelayMs: 2, baseDelayMs: 1 } }],
    ],
    ['functions', [any, { transport: { ...one } }], [any, { transport: { ...one } }]],
  ])('are equal with the same %s in any order', (_what, a, b) => {
    expect(isEqual(a, b)).toBe(true);
  });

  it.each<readonly [string, Asked, Asked]>([
    ['parties', [{ parties: [alice] }], [{ parties: [bob] }]],
    ['any party and a party of that name', [any], [{ parties: ['any'] }]],
    ['names', typed({ a: Marble }), typed({ b: Marble })],
    ['decoders', typed({ a: Marble }), typed({ a: owner })],
    [
      'orders of types that may match the same contract',
      typed({ a: Marble, h: Holding }),
      typed({ h: Holding, a: Marble }),
    ],
    ['no types and an empty list', [any], typed({})],
    ['policies', [any], [{ ...any, onGap: 'fail' }]],
    ['options', [any, paged], [any]],
    ['functions', [any, { transport: one }], [any, { transport: transport((source) => ({ ...source })) }]],
  ])('are not equal with other %s', (_what, a, b) => {
    expect(isEqual(a, b)).toBe(false);
  });
});
