import { context, trace } from '@opentelemetry/api';
import { describe, expect, it } from '@jest/globals';
import { filter, firstValueFrom, lastValueFrom, take, toArray } from 'rxjs';
import { automate, type Rule } from '../../src/automation/index.js';
import type { Sandbox } from '../../src/sandbox/index.js';
import { sandboxes } from '../helpers/localServers.js';
import { ledgerWith, sdk, withContexts } from './support.js';

const start = sandboxes();
withContexts();
const templateId = '#sandbox-assets:Main:Asset';

/** A traced ledger of a sandbox, and a rule that exercises a choice on each contract of a party. */
function setUp(sandbox: Sandbox, choice: string) {
  const telemetry = sdk();
  const ledger = ledgerWith({ baseUrl: sandbox.url, retry: { baseDelayMs: 5 } }, telemetry);
  const alice = sandbox.hostedParty('alice');
  const create = (serial: number) =>
    lastValueFrom(
      ledger.submitAndWaitForTransaction({
        userId: 'app',
        actAs: [alice],
        commands: [
          {
            CreateCommand: {
              templateId,
              createArguments: { owner: alice, amount: '1.0', tag: null, serial: String(serial) },
            },
          },
        ],
      }),
    );
  const rule: Rule = {
    name: 'sweep',
    query: { parties: [alice] },
    actAs: [alice],
    userId: 'app',
    act: ({ contractId }) => ({ ExerciseCommand: { templateId, contractId, choice, choiceArgument: {} } }),
  };
  return { telemetry, ledger, create, rule };
}

describe('telemetry of a rule', () => {
  it('has a span for each submission, linked to the trace in which the contract was created', async () => {
    const { telemetry, ledger, create, rule } = setUp(await start(), 'Archive');
    await create(1);
    const first = firstValueFrom(ledger.diagnostics$.pipe(filter(({ _tag }) => _tag === 'ActionCommitted')));
    const caller = telemetry.tracerProvider.getTracer('test').startSpan('caller');
    const acting = context.with(trace.setSpan(context.active(), caller), () =>
      firstValueFrom(automate(ledger, rule).pipe(take(2), toArray())),
    );
    // the first contract is in the snapshot, the second is created while the rule runs
    await first;
    const created = await create(2);
    const acted = await acting;
    const spans = telemetry.spans('act sweep');
    expect(spans.map(({ attributes }) => attributes['canton.contract.id'])).toEqual(
      acted.map(({ contractId }) => contractId),
    );
    expect(spans[1]?.attributes).toMatchObject({
      'canton_rx.rule.name': 'sweep',
      'canton.command.id': `sweep:${acted[1]?.contractId ?? ''}`,
      'canton.submission.outcome': 'committed',
    });
    const creation = created.traceContext?.traceparent ?? '';
    const linked = (index: number) => spans[index]?.links.map(({ context: { traceId } }) => creation.includes(traceId));
    expect(linked(0)).not.toContain(true);
    expect(linked(1)).toContain(true);
    // a rule has no end, and neither would its trace
    const { traceId } = caller.spanContext();
    expect(spans.map((span) => span.spanContext().traceId)).not.toContain(traceId);
    expect(spans.map(({ parentSpanContext }) => parentSpanContext)).toEqual([undefined, undefined]);
    expect(spans[0]?.links.map(({ context: linkedTo }) => linkedTo.traceId)).toContain(traceId);
    // its own request is in its trace
    const requests = telemetry.spans('POST /v2/commands/submit-and-wait-for-transaction');
    expect(requests.at(-1)?.parentSpanContext?.spanId).toBe(spans[1]?.spanContext().spanId);
  });

  it('counts actions by outcome, and measures the time from the creation to the commit', async () => {
    const { telemetry, ledger, create, rule } = setUp(await start(), 'Touch');
    await create(1);
    await create(2);
    await firstValueFrom(automate(ledger, rule).pipe(take(2), toArray()));
    await firstValueFrom(automate(ledger, rule).pipe(take(2), toArray()));
    const failing = { ...rule, name: 'fails', act: () => Promise.reject(new Error('secret')) };
    await firstValueFrom(automate(ledger, failing).pipe(take(1)));
    expect((await telemetry.measured('canton_rx.actions')).map(({ attributes, value }) => [attributes, value])).toEqual(
      [
        [{ 'canton_rx.rule.name': 'sweep', 'canton_rx.action.outcome': 'committed' }, 2],
        [{ 'canton_rx.rule.name': 'sweep', 'canton_rx.action.outcome': 'repeated' }, 2],
        [{ 'canton_rx.rule.name': 'fails', 'canton_rx.action.outcome': 'failed', 'error.type': 'RuleError' }, 1],
      ],
    );
    expect(await telemetry.measured('canton_rx.action.latency')).toMatchObject([
      { attributes: { 'canton_rx.rule.name': 'sweep' }, value: 2, unit: 's' },
    ]);
    expect(await telemetry.exported()).not.toContain('secret');
  });

  it('changes nothing about other submissions', async () => {
    const { telemetry, create } = setUp(await start(), 'Archive');
    await create(1);
    expect(telemetry.spans('submit commands')).toHaveLength(1);
    expect(await telemetry.measured('canton_rx.actions')).toEqual([]);
  });
});
