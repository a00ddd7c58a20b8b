import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Sandbox, UpdateVariant } from '../../src/sandbox/index.js';
import { stream } from './webSockets.js';
import { effort } from '../helpers/effort.js';
import { acsDelta, anyParty, forParty, ledgerEffects } from './requests.js';
import { listAt, post, sandboxWith } from './client.js';

const variants: readonly UpdateVariant[] = ['Transaction', 'Reassignment', 'TopologyTransaction'];

/** Update formats for the parties and shapes of a sandbox. */
interface Selection {
  readonly party: number | null;
  readonly template: string | null;
  readonly shape: (format: unknown) => object;
  readonly transactions: boolean;
  readonly reassignments: boolean;
  readonly topology: boolean;
  readonly legacy: boolean;
}

const selections: fc.Arbitrary<Selection> = fc.record({
  party: fc.option(fc.nat({ max: 9 })),
  template: fc.option(fc.constantFrom('#sandbox-assets:Main:Asset', '#sandbox-tasks:Tasks.Model:Task')),
  shape: fc.constantFrom(acsDelta, ledgerEffects),
  transactions: fc.boolean(),
  reassignments: fc.boolean(),
  topology: fc.boolean(),
  legacy: fc.boolean(),
});

const ledgers = fc.record({
  seed: fc.nat({ max: 1000 }),
  count: fc.nat({ max: 150 }),
  gap: fc.nat({ max: 5 }),
  mix: fc.subarray([...variants], { minLength: 1 }),
});

function formatOf(sandbox: Sandbox, selection: Selection) {
  const { parties } = sandbox;
  const filters =
    selection.template === null
      ? []
      : [{ TemplateFilter: { value: { templateId: selection.template, includeCreatedEventBlob: false } } }];
  const events =
    selection.party === null ? anyParty : forParty(parties[selection.party % parties.length] ?? '', ...filters);
  if (selection.legacy) return { filter: events };
  return {
    updateFormat: {
      ...(selection.transactions && { includeTransactions: selection.shape(events) }),
      ...(selection.reassignments && { includeReassignments: events }),
      ...(selection.topology && { includeTopologyEvents: { includeParticipantAuthorizationEvents: { parties: [] } } }),
    },
  };
}

describe('the elements of a WebSocket', () => {
  it('are those of a list, for any ledger, range and filter', async () => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(
        ledgers,
        selections,
        fc.nat({ max: 160 }),
        fc.nat({ max: 160 }),
        fc.nat({ max: 100 }),
        fc.boolean(),
        fc.constantFrom('/v2/updates', '/v2/updates/flats'),
        async ({ seed, count, gap, mix }, selection, begin, length, pruned, descendingOrder, path) => {
          const sandbox = await sandboxWith({ maxListElements: 10_000 });
          sandbox.generate(count, { seed, variants: mix });
          sandbox.advance(gap);
          sandbox.prune(Math.min(pruned < 70 ? 0 : pruned - 70, sandbox.ledgerEnd));
          const endInclusive = begin + length;
          const body = { beginExclusive: begin, endInclusive, descendingOrder, ...formatOf(sandbox, selection) };
          const headers = { traceparent: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01` };
          const [list, client] = await Promise.all([
            post(sandbox, path, body, { headers }),
            stream(sandbox, body, { path, headers }),
          ]);
          expect(await client.closed).toBe(1000);
          expect(client.messages).toEqual([list.json].flat());
          compared += list.status === 200 ? listAt(list.json).length : 0;
          await sandbox.close();
        },
      ),
      { numRuns: effort(60, 120) },
    );
    expect(compared).toBeGreaterThan(effort(0, 100));
  });

  it('are those of a list if the ledger grows meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(ledgers, { minLength: 1, maxLength: 4 }),
        selections,
        fc.nat({ max: 20 }),
        async (parts, selection, begin) => {
          const sandbox = await sandboxWith({ maxListElements: 10_000, earlyCheckpointMs: false });
          sandbox.advance(begin);
          const request = { beginExclusive: begin, ...formatOf(sandbox, selection) };
          const client = await stream(sandbox, request);
          for (const { seed, count, gap, mix } of parts) {
            sandbox.generate(Math.min(count, 30), { seed, variants: mix });
            sandbox.advance(gap);
            await new Promise(setImmediate);
          }
          const { json } = await post(sandbox, '/v2/updates', { ...request, endInclusive: sandbox.ledgerEnd });
          if (Array.isArray(json)) expect(await client.received(json.length)).toEqual(json);
          else expect(await client.received(1)).toMatchObject([{ code: expect.any(String) }]);
          await sandbox.close();
        },
      ),
      { numRuns: effort(30, 60) },
    );
  });
});
