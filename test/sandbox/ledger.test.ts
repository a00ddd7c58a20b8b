import { describe, expect, it } from '@jest/globals';
import { acsDelta, creation, forParty, ledgerEffects, readUpdates } from './requests.js';
import { at, eventsIn, offsets, sandboxWith } from './client.js';

describe('appended updates', () => {
  it('get default values for absent fields', async () => {
    const sandbox = await sandboxWith();
    expect(sandbox.append(creation(), { TopologyTransaction: { value: { offset: 10 } } })).toBe(10);
    const [first] = sandbox.synchronizers;
    expect(sandbox.updates[0]).toMatchObject({
      Transaction: {
        value: {
          offset: 1,
          updateId: expect.stringMatching(/^1220[0-9a-f]{64}$/),
          synchronizerId: first,
          recordTime: '2026-01-01T00:00:01Z',
          events: [{ CreatedEvent: { offset: 1, nodeId: 0, contractId: expect.stringMatching(/^00[0-9a-f]+$/) } }],
        },
      },
    });
  });

  it('must have offsets greater than the ledger end', async () => {
    const sandbox = await sandboxWith();
    sandbox.advance(3);
    expect(() => sandbox.append({ Transaction: { value: { offset: 3 } } })).toThrow(RangeError);
    expect(sandbox.ledgerEnd).toBe(3);
  });

  it('get the event of the other shape for an archive', async () => {
    const sandbox = await sandboxWith();
    const gone = { contractId: '00aa', templateId: '#assets:Main:Asset', witnessParties: ['alice'] };
    sandbox.append(
      { Transaction: { value: { events: [{ ArchivedEvent: gone }] } } },
      { Transaction: { value: { events: [{ ExercisedEvent: { ...gone, choice: 'Give', consuming: true } }] } } },
      { Transaction: { value: { events: [{ ExercisedEvent: { ...gone, choice: 'Look', consuming: false } }] } } },
    );
    const kinds = sandbox.updates.map((update) =>
      'Transaction' in update ? update.Transaction.value.events.flatMap((event) => Object.keys(event)) : [],
    );
    expect(kinds).toEqual([
      ['ArchivedEvent', 'ExercisedEvent'],
      ['ArchivedEvent', 'ExercisedEvent'],
      ['ExercisedEvent'],
    ]);
    expect(at(sandbox.updates[0], 'Transaction', 'value', 'events', 0, 'ArchivedEvent')).toMatchObject({
      packageName: 'assets',
      templateId: expect.stringMatching(/^[0-9a-f]{64}:Main:Asset$/),
      witnessParties: ['alice'],
    });
  });
});

describe('an archive of an unknown contract', () => {
  it('has the package name of the event, also beside a non-consuming choice', async () => {
    const sandbox = await sandboxWith();
    const event = {
      contractId: '00aa',
      templateId: `${'c'.repeat(64)}:Main:Asset`,
      packageName: 'my-pkg',
      witnessParties: ['alice'],
    };
    const look = { ExercisedEvent: { ...event, choice: 'Look', consuming: false } };
    sandbox.append({ Transaction: { value: { events: [look, { ArchivedEvent: event }] } } });
    const read = async (shape: (format: unknown) => unknown) => {
      const filter = { TemplateFilter: { value: { templateId: '#my-pkg:Main:Asset' } } };
      const updateFormat = { includeTransactions: shape(forParty('alice', filter)) };
      return eventsIn(await readUpdates(sandbox, { updateFormat }), 'Transaction');
    };
    expect(await read(acsDelta)).toMatchObject([{ ArchivedEvent: { contractId: '00aa', packageName: 'my-pkg' } }]);
    expect(await read(ledgerEffects)).toMatchObject([
      { ExercisedEvent: { choice: 'Look', consuming: false } },
      { ExercisedEvent: { choice: 'Archive', consuming: true } },
    ]);
  });
});

describe('a restored ledger', () => {
  it('ends earlier and may continue with other updates', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(creation(), creation(), creation());
    const [, second] = sandbox.updates;
    sandbox.restore(1);
    expect([sandbox.ledgerEnd, sandbox.updates.length]).toEqual([1, 1]);
    expect((await readUpdates(sandbox, { beginExclusive: 3 })).json).toMatchObject({ code: 'OFFSET_AFTER_LEDGER_END' });
    sandbox.append(creation());
    expect(sandbox.ledgerEnd).toBe(2);
    const updateId = (update: unknown) => at(update, 'Transaction', 'value', 'updateId');
    expect(updateId(sandbox.updates[1])).not.toBe(updateId(second));
  });

  it('cannot be later than the ledger', async () => {
    const sandbox = await sandboxWith();
    expect(() => {
      sandbox.restore(1);
    }).toThrow(RangeError);
  });
});

describe('pruning', () => {
  it('rejects offsets after the ledger end, and keeps the updates in sandbox.updates', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(creation(), creation());
    sandbox.prune(1);
    expect(sandbox.updates).toHaveLength(2);
    expect(() => {
      sandbox.prune(3);
    }).toThrow(RangeError);
    expect(offsets(await readUpdates(sandbox, { beginExclusive: 1 }))).toEqual([2]);
  });
});
