import { describe, expect, it } from '@jest/globals';
import { asyncScheduler, takeUntil, timer } from 'rxjs';
import type { ContractType } from '../../src/codecs/ContractType.js';
import { contractChanges, type ContractChangesOptions } from '../../src/contracts/contractChanges.js';
import type { ContractPolicies } from '../../src/contracts/ContractQuery.js';
import { liveContracts } from '../../src/contracts/liveContracts.js';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import { active } from '../helpers/contractEvents.js';
import { contractsAt, type HistoryUpdate } from '../helpers/contractHistory.js';
import { observe } from '../helpers/observe.js';
import type { ServiceRequest } from '../helpers/scripted.js';
import { itInVirtualTime, marbles as inVirtualTime } from '../helpers/time.js';
import { contractsWorld, listPath, pagePath } from '../helpers/virtualContracts.js';
import { errorBody, errorReply } from '../helpers/wire.js';
import { useAverageDelays } from './averageDelays.js';
import { archive, create, follow, home, Marble, Paint, record, reported, templateOf, toBrief } from './joinSupport.js';

useAverageDelays();

const minute = 60_000;
const waiting = { onUnknownPackage: 'wait' } as const;
const both = { types: { marble: Marble, paint: Paint }, parties: ['alice::1220ab'] };

/** Whether a request is one for a single type, to find out whether it is known. */
const isProbe = ({ path, query }: ServiceRequest): boolean => path === listPath && query['limit'] === '1';
const isSnapshot = ({ path }: ServiceRequest): boolean => path === pagePath;
const isUpdates = ({ path }: ServiceRequest): boolean => path.startsWith('/v2/updates');

/** The templates that a request selects. */
const templatesOf = ({ body }: ServiceRequest): string[] =>
  [...JSON.stringify(body).matchAll(/"templateId":"([^"]+)"/g)].map(([, id = '']) => id);

/** A participant that knows the packages of some types only, and answers with an error for the others. */
function typesWorld(types: readonly ContractType[], code = 'PACKAGE_NAMES_NOT_FOUND') {
  const known = new Set(types.map(({ templateId }) => templateId));
  const history: HistoryUpdate[] = [];
  const { participant, service, client } = contractsWorld({
    latencyMs: 5,
    fault: (request) =>
      templatesOf(request).some((id) => !known.has(id)) ? errorReply(404, errorBody(code, 11)) : undefined,
  });
  participant.elementsAt = (offset) =>
    [...contractsAt(history, offset).keys()].map((contractId) =>
      active({ contractId, offset: 1, ...templateOf(contractId) }, home),
    );
  const commit = (...updates: readonly HistoryUpdate[]): void => {
    history.push(...updates);
    participant.append(...updates);
  };
  const watch = (untilMs = 10 * minute, policies: ContractPolicies = waiting, from: ContractChangesOptions = {}) =>
    observe(contractChanges(client, { ...both, ...policies }, from).pipe(toBrief(), takeUntil(timer(untilMs))));
  const diagnostics = record(client.diagnostics$);
  return { service, diagnostics, commit, watch, known };
}

/** After how many minutes each request for unknown types is repeated. */
const waits = (diagnostics: readonly Diagnostic[]): number[] =>
  reported(diagnostics, 'TypesUnknown').map(({ retryInMs }) => retryInMs / minute);

describe('a query with a type that the participant does not know', () => {
  itInVirtualTime('has the contracts of the other types, and all when the type is known (pitfall 37)', ({ flush }) => {
    const { commit, watch, known, diagnostics, service } = typesWorld([Marble]);
    commit(create(2, 'a'));
    const seen = watch();
    timer(1_000).subscribe(() => {
      commit(create(3, 'b'));
    });
    timer(40_000).subscribe(() => {
      known.add(Paint.templateId);
      commit(create(4, 'paint-1'), archive(5, 'a'));
    });
    timer(3 * minute).subscribe(() => {
      commit(create(7, 'paint-2'));
    });
    flush();
    expect(seen.error).toBeUndefined();
    expect(seen.values).toEqual([
      'Reset 2 start a',
      'CaughtUp 2',
      'ContractsChanged 3 +b',
      'OffsetCheckpoint 4',
      'ContractsChanged 5 -a',
      'FellBehind 5',
      'Reset 5 packageFound b,paint-1',
      'CaughtUp 5',
      'ContractsChanged 7 +paint-2',
    ]);
    expect(reported(diagnostics, 'TypesUnknown')).toMatchObject([
      { types: ['paint'], retryInMs: 30_000 },
      { types: ['paint'], retryInMs: 60_000 },
    ]);
    // each alone, with a limit of one
    const probed = [Marble, Paint, Paint, Paint].map(({ templateId }) => [templateId]);
    expect(service.requests.filter(isProbe).map(templatesOf)).toEqual(probed);
  });

  itInVirtualTime('has nothing without a known type, and never all contracts of the participant', ({ flush }) => {
    const { commit, watch, known, service } = typesWorld([]);
    commit(create(2, 'a', 'paint-1'));
    const seen = watch();
    timer(minute).subscribe(() => {
      expect(seen.values).toEqual([]);
      known.add(Paint.templateId);
    });
    timer(3 * minute).subscribe(() => known.add(Marble.templateId));
    flush();
    expect(seen.error).toBeUndefined();
    const before = ['Reset 2 start paint-1', 'CaughtUp 2', 'FellBehind 2'];
    expect(seen.values).toEqual([...before, 'Reset 2 packageFound a,paint-1', 'CaughtUp 2']);
    const selecting = service.requests.filter((request) => isSnapshot(request) || isUpdates(request));
    expect(selecting.every((request) => templatesOf(request).length > 0)).toBe(true);
    expect(JSON.stringify(service.requests)).not.toContain('WildcardFilter');
  });

  itInVirtualTime(
    'is asked about after 30 seconds, and then half as often each time, up to every 15 minutes',
    ({ flush }) => {
      const { commit, watch, diagnostics } = typesWorld([Marble]);
      commit(create(2, 'a'));
      watch(80 * minute);
      flush();
      expect(waits(diagnostics)).toEqual([0.5, 1, 2, 4, 8, 15, 15, 15, 15, 15]);
    },
  );

  it.each([
    'PACKAGE_NAMES_NOT_FOUND',
    'NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME',
    'NO_INTERFACE_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME',
    'TEMPLATES_OR_INTERFACES_NOT_FOUND',
  ])('fails with %s by default, and can wait (G31)', (code) => {
    inVirtualTime(({ flush }) => {
      const { commit, watch } = typesWorld([Marble], code);
      commit(create(2, 'a'));
      const [failing, patient] = [watch(minute, {}), watch()];
      flush();
      expect(failing).toMatchObject({ values: [], error: { _tag: 'ApiError', code } });
      expect(patient.values).toEqual(['Reset 2 start a', 'CaughtUp 2']);
    });
  });

  itInVirtualTime('does not wait after another error', ({ flush }) => {
    const { commit, watch } = typesWorld([], 'CONTRACT_NOT_FOUND');
    commit(create(2, 'a'));
    const seen = watch();
    flush();
    expect(seen).toMatchObject({ values: [], error: { _tag: 'ApiError', code: 'CONTRACT_NOT_FOUND' } });
  });

  itInVirtualTime('goes on without a type that the participant has lost, when the feed finds out', ({ flush }) => {
    const { commit, watch, known } = typesWorld([Marble, Paint]);
    commit(create(2, 'a', 'paint-1'));
    const seen = watch();
    timer(1_000).subscribe(() => known.delete(Paint.templateId));
    flush();
    expect(seen.error).toBeUndefined();
    const before = ['Reset 2 start a,paint-1', 'CaughtUp 2', 'FellBehind 2'];
    expect(seen.values).toEqual([...before, 'Reset 2 packageFound a', 'CaughtUp 2']);
  });

  itInVirtualTime('begins with all contracts where it resumes: it may have lacked those of a type', ({ flush }) => {
    const { commit, watch } = typesWorld([Marble, Paint]);
    commit(create(2, 'a'), create(3, 'paint-1'), create(4, 'b'));
    const seen = watch(minute, waiting, { resumeFrom: 3 });
    flush();
    expect(seen.values).toEqual(['Reset 4 packageFound a,b,paint-1', 'CaughtUp 4']);
  });

  it('is asked about slowly by a participant that contradicts itself', () => {
    // says of each type alone that it knows it
    const { seen, service } = follow({
      query: { ...both, ...waiting },
      fault: (request) => (isSnapshot(request) ? errorReply(404, errorBody('PACKAGE_NAMES_NOT_FOUND', 11)) : undefined),
      forMs: 5 * minute,
    });
    expect(seen.values).toEqual([]);
    expect(service.requests.filter(isSnapshot).length).toBeLessThan(40);
  });

  itInVirtualTime('does not disturb the others when requests about it fail for long', ({ flush }) => {
    const { participant, client } = contractsWorld({
      latencyMs: 5,
      fault: (request) => {
        const now = asyncScheduler.now();
        // of requests about a type that nothing else asks about
        if (isProbe(request) && now > 20_000 && now < 15 * minute) return errorReply(503, 'not in time');
        const isPaint = templatesOf(request).includes(Paint.templateId);
        return isPaint && now < 15 * minute ? errorReply(404, errorBody('PACKAGE_NAMES_NOT_FOUND', 11)) : undefined;
      },
    });
    participant.append(create(2, 'a'));
    const query = { ...both, ...waiting };
    const diagnostics = record(client.diagnostics$);
    const end$ = timer(20 * minute);
    const seen = observe(contractChanges(client, query).pipe(toBrief(), takeUntil(end$)));
    const states = observe(liveContracts(client, query).state$.pipe(takeUntil(end$)));
    flush();
    expect([seen.error, states.error]).toEqual([undefined, undefined]);
    const resets = seen.values.filter((line) => line.startsWith('Reset'));
    expect(resets).toEqual(['Reset 2 start a', 'Reset 2 packageFound a']);
    const briefs = states.values.map(({ data, connection }) => `${data}/${connection.status}`);
    const loads = ['stale/open', 'live/open'];
    const distinct = briefs.filter((state, i) => state !== briefs[i - 1]);
    expect(distinct).toEqual(['loading/connecting', 'loading/open', ...loads, ...loads]);
    expect(reported(diagnostics, 'RetryScheduled')).toEqual([]);
    expect(waits(diagnostics)).toEqual([0.5, 0.5, 1, 1, 2, 2, 4, 4, 8, 8]);
  });
});
