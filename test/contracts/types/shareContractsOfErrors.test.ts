import { afterEach, describe, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { asyncScheduler, map, timer } from 'rxjs';
import { contractType } from '../../../src/codecs/TemplateType.js';
import { liveContracts } from '../../../src/contracts/liveContracts.js';
import { shareContractsOf } from '../../../src/contracts/shareContractsOf.js';
import { createLedger } from '../../../src/ledger/createLedger.js';
import { createSandbox } from '../../../src/sandbox/index.js';
import { observe } from '../../helpers/observe.js';
import { later, runVirtually } from '../../helpers/virtualTime.js';
import { errorBody } from '../../helpers/wire.js';
import { brief as briefChange } from '../brief.js';
import { archive, create, Marble, marbles } from '../joinSupport.js';
import { clearAll, paints, selects, unknownType, worldWith } from './typesWorld.js';

const Task = contractType('#sandbox-tasks:Tasks.Model:Task', t.UnknownRecord);
const Asset = contractType('#sandbox-assets:Main:Asset', t.UnknownRecord);
/** The same template, with a decoder that refuses its contracts. */
const Strange = contractType(Asset.templateId, t.type({ nothing: t.string }));

/** The answer of a participant that does not know one of the types. */
const rejected = {
  ...{ status: 404, headers: { 'content-type': 'application/json' } },
  text: JSON.stringify(errorBody('NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME', 11)),
};

afterEach(clearAll);

describe('a view that is read together with others, at an error', () => {
  it('does not include a transaction after the contract that it cannot decode, although the others have read it', () => {
    runVirtually(() => {
      const sandbox = createSandbox({ scheduler: asyncScheduler, latencyMs: 5 });
      let isDown = false;
      const down = { status: 503, headers: {}, text: 'down' };
      const ledger = createLedger({
        baseUrl: sandbox.url,
        port: (request) => (isDown ? timer(5).pipe(map(() => down)) : sandbox.port(request)),
      });
      const shared = shareContractsOf(ledger, [Asset, Task], { keepMs: 0 });
      const query = { types: { task: Task, strange: Strange }, parties: 'any', onUndecodable: 'fail' } as const;
      const views = [shared.view(query), liveContracts(ledger, query)];
      later(60_000, () => {
        const recordTime = '2999-01-01T00:00:00Z';
        const transaction = { offset: 30, synchronizerId: String(sandbox.synchronizers[0]), recordTime };
        const waiting = views.map((view) => observe(view.after(transaction)));
        isDown = true;
        // the feed reads all of them in one page
        sandbox.fault({ kind: 'truncate', bytes: 40 }, { times: 6 });
        later(100, () => {
          sandbox.generate(30, { seed: 3 });
        });
        later(10_000, () => {
          isDown = false;
        });
        later(500_000, () => {
          expect(waiting.map(({ values }) => values.length)).toEqual([0, 0]);
          expect(waiting.map(({ error }) => error)).toMatchObject([{ _tag: 'DecodeError' }, { _tag: 'DecodeError' }]);
        });
      });
      const seen = views.map((view) => observe(view.state$));
      later(600_000, () => {
        for (const { subscription } of seen) subscription.unsubscribe();
      });
    });
  });

  it('has a reset if the types are rejected while another ledger is read, also without contracts', async () => {
    let isKnown = true;
    const { clock, shared, participant } = worldWith({
      // a feed by these types is served until the contracts are read again
      fault: (request) =>
        !isKnown && request.path.includes('active-contracts') && selects(request, Marble) ? unknownType : undefined,
    });
    participant.append(archive(3, 'paint1'));
    const marble = observe(shared.view(marbles).state$);
    await clock.advance(100);
    const changes = observe(shared.view(paints).changes$);
    isKnown = false;
    participant.elementsAt = () => [];
    participant.ledger.replace([], 0, 'participant::1220cd');
    participant.append(create(7, 'x2'));
    participant.ledger.disconnect();
    await clock.advance(120_000);
    expect(marble.error).toMatchObject({ status: 404 });
    expect(changes.values.filter(({ _tag }) => _tag === 'Reset').map(briefChange)).toEqual([
      'Reset 3 start',
      'Reset 7 ledgerReset',
    ]);
  });

  it.each([1, 2, 3, 7])(
    'finds its updates on a participant that was restored and rejects the types: no reset, and none twice (%s)',
    (seed) => {
      runVirtually(() => {
        const synchronizers = ['one::1220ab', 'two::1220ab'];
        const sandbox = createSandbox({ scheduler: asyncScheduler, latencyMs: 5, synchronizers });
        let isRejected = false;
        const ledger = createLedger({
          baseUrl: sandbox.url,
          port: (request) => {
            const hasBoth = [Asset, Task].every(({ templateId }) => request.body?.includes(templateId));
            return isRejected && hasBoth ? timer(5).pipe(map(() => rejected)) : sandbox.port(request);
          },
        });
        const shared = shareContractsOf(ledger, [Asset, Task], { keepMs: 0 });
        const query = { types: { asset: Asset }, parties: 'any' } as const;
        const seen = [shared.view(query), liveContracts(ledger, query)].map(({ changes$ }) => observe(changes$));
        later(60_000, () => {
          sandbox.generate(30, { seed });
        });
        later(120_000, () => {
          isRejected = true;
          sandbox.restore(2, { readAgain: true, offsets: 'other' });
        });
        later(180_000, () => {
          sandbox.generate(10, { seed: seed + 100 });
        });
        later(600_000, () => {
          const [together, alone] = seen.map(({ values }) =>
            values.flatMap((change) => ('updateId' in change ? [change.updateId] : [])),
          );
          expect(together?.length).toBeGreaterThan(5);
          expect(together).toEqual(alone);
          for (const { values, subscription } of seen) {
            expect(values.filter(({ _tag }) => _tag === 'Reset').map(briefChange)).toEqual(['Reset 0 start']);
            subscription.unsubscribe();
          }
        });
      });
    },
  );
});
