import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Sandbox, UpdateVariant } from '../../src/sandbox/index.js';
import { acsDelta, anyParty, forParty, ledgerEffects, listAt, post, sandboxWith } from './support.js';
import { stream } from './webSockets.js';

const variants: readonly UpdateVariant[] = ['Transaction', 'Reassignment', 'TopologyTransaction'];

/** What is asked for, among the parties and shapes that a sandbox has. */
interface Choice {
  readonly party: number | null;
  readonly template: string | null;
  readonly shape: (format: unknown) => object;
  readonly transactions: boolean;
  readonly reassignments: boolean;
  readonly topology: boolean;
  readonly legacy: boolean;
}

const choices: fc.Arbitrary<Choice> = fc.record({
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

function formatOf(sandbox: Sandbox, choice: Choice) {
  const { parties } = sandbox;
  const filters =
    choice.template === null
      ? []
      : [{ TemplateFilter: { value: { templateId: choice.template, includeCreatedEventBlob: false } } }];
  const events = choice.party === null ? anyParty : forParty(parties[choice.party % parties.length] ?? '', ...filters);
  if (choice.legacy) return { filter: events };
  return {
    updateFormat: {
      ...(choice.transactions && { includeTransactions: choice.shape(events) }),
      ...(choice.reassignments && { includeReassignments: events }),
      ...(choice.topology && { includeTopologyEvents: { includeParticipantAuthorizationEvents: { parties: [] } } }),
    },
  };
}

describe('what a WebSocket gets', () => {
  it('is what a list has, for whatever ledger, range and filter', async () => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(
        ledgers,
        choices,
        fc.nat({ max: 160 }),
        fc.nat({ max: 160 }),
        fc.nat({ max: 100 }),
        fc.boolean(),
        async ({ seed, count, gap, mix }, choice, begin, length, pruned, descendingOrder) => {
          const sandbox = await sandboxWith({ maxListElements: 10_000 });
          sandbox.generate(count, { seed, variants: mix });
          sandbox.advance(gap);
          sandbox.prune(Math.min(pruned < 70 ? 0 : pruned - 70, sandbox.ledgerEnd));
          const endInclusive = begin + length;
          const body = { beginExclusive: begin, endInclusive, descendingOrder, ...formatOf(sandbox, choice) };
          const headers = { traceparent: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01` };
          const [listed, client] = await Promise.all([
            post(sandbox, '/v2/updates', body, { headers }),
            stream(sandbox, body, { headers }),
          ]);
          expect(await client.closed).toBe(1000);
          expect(client.messages).toEqual([listed.json].flat());
          compared += listed.status === 200 ? listAt(listed.json).length : 0;
          await sandbox.close();
        },
      ),
      { numRuns: 120 },
    );
    expect(compared).toBeGreaterThan(100);
  });

  it('is what a list has, when the ledger grows meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(ledgers, { minLength: 1, maxLength: 4 }),
        choices,
        fc.nat({ max: 20 }),
        async (parts, choice, begin) => {
          const sandbox = await sandboxWith({ maxListElements: 10_000, earlyCheckpointMs: false });
          sandbox.advance(begin);
          const request = { beginExclusive: begin, ...formatOf(sandbox, choice) };
          const client = await stream(sandbox, request);
          for (const { seed, count, gap, mix } of parts) {
            sandbox.generate(Math.min(count, 30), { seed, variants: mix });
            sandbox.advance(gap);
            await new Promise(setImmediate);
          }
          const { json } = await post(sandbox, '/v2/updates', { ...request, endInclusive: sandbox.ledgerEnd });
          if (Array.isArray(json)) expect(await client.has(json.length)).toEqual(json);
          else expect(await client.has(1)).toMatchObject([{ code: expect.any(String) }]);
          await sandbox.close();
        },
      ),
      { numRuns: 60 },
    );
  });
});
