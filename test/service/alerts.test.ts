import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { NEVER, of } from 'rxjs';
import { acsDelta, createLedger } from '../../src/index.js';
import { metrics } from '../../src/diagnostics/metrics.js';
import { memoryStore, processFeed, updatesFeed } from '../../src/process/index.js';
import { runService, type ServiceStatus } from '../../src/service/index.js';
import { describeWithServer } from '../helpers/describeWithServer.js';
import { sandboxes } from '../helpers/localServers.js';
import { until } from '../helpers/time.js';

const folder = join(import.meta.dirname, '..', '..', 'docs', 'alerts');
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
const promtool = (args: readonly string[], input = '') => {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: folder, input, encoding: 'utf8' });
  return { status, output: stdout + stderr };
};
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
const newSandbox = sandboxes();

/** The alerts that a file names. */
const alertsIn = (text: string, key: string): readonly string[] =>
  [...text.matchAll(new RegExp(`${key}: (CantonRx\\w+)`, 'g'))].map(([, name = '']) => name);

/** The names of metrics in expressions, also those of a histogram. */
const metricsIn = (text: string): readonly string[] => [
  ...new Set(
    [
      ...text.matchAll(/\bcanton_rx_(?!processor_name|rule_name|outbox_name|processor_role\b(?==)|work_state)[a-z_]+/g),
    ].map(([name]) => name),
  ),
];

describeWithServer(hasPromtool, 'prometheus')('the alerts of the documentation', () => {
  it('are valid, fire for their faults, and do not fire without', () => {
    expect(promtool(['check', 'rules', 'canton-rx.rules.yml'])).toMatchObject({ status: 0 });
    expect(promtool(['test', 'rules', 'canton-rx.test.yml'])).toMatchObject({ status: 0 });
    const tests = read('canton-rx.test.yml');
    const alerts = alertsIn(read('canton-rx.rules.yml'), 'alert').toSorted();
    expect(alerts.length).toBeGreaterThan(10);
    // each once with a fault, and once without
    expect(alertsIn(tests, 'alertname').toSorted()).toEqual(alerts.flatMap((alert) => [alert, alert]));
    expect(tests.match(/exp_alerts: \[\]/g)).toHaveLength(alerts.length);
  });

  it('each have a row in the runbook', () => {
    const runbook = readFileSync(join(folder, '..', 'runbook.md'), 'utf8');
    expect(
      alertsIn(read('canton-rx.rules.yml'), 'alert').filter((alert) => !runbook.includes(`| \`${alert}\``)),
    ).toEqual([]);
  });

  it('read metrics that a service with faults serves', async () => {
    const sandbox = await newSandbox();
    sandbox.generate(20);
    const ledger = createLedger({ baseUrl: sandbox.url, retry: { baseDelayMs: 20, maxDelayMs: 50 } });
    const feed = updatesFeed(ledger, { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) });
    const handlerRetry = { giveUpAfterMs: 50, baseDelayMs: 10 };
    const processorWith = (name: string, onHandlerFailure: 'stop' | 'skip' | 'park') =>
      processFeed(
        feed,
        (update) => {
          if (update.offset > 10) throw new Error('no account');
        },
        { name, store: memoryStore(), onHandlerFailure, handlerRetry },
      );
    const work = { waiting: 1, due: 2, running: 0, parked: 1, oldestMs: 7_000 };
    const outbox = { outbox: 'payments', role: 'leader', state: 'running', ...work } as const;
    let last: ServiceStatus | undefined;
    const running = runService(
      {
        ledger,
        processors: [processorWith('stops', 'stop'), processorWith('skips', 'skip'), processorWith('parks', 'park')],
        outboxes: [Object.assign(NEVER, { status$: of(outbox), stop: () => undefined })],
      },
      { port: 0, log: () => undefined },
    ).subscribe((status) => (last = status));
    try {
      const states = () => last?.processors.map(({ state }) => state) ?? [];
      await until(() => states().join(' ') === 'ended caughtUp caughtUp');
      sandbox.fault({ kind: 'reset', when: 'before' }, { path: '/v2/updates/flats', times: 2 });
      sandbox.generate(1);
      const page = async () => (await fetch(`${last?.url ?? ''}/metrics`)).text();
      await until(async () => (await page()).includes('canton_rx_retries_total'));
      const served = await page();
      expect(promtool(['check', 'metrics'], served)).toMatchObject({ status: 0 });
      for (const line of [
        'canton_rx_part_failed{canton_rx_processor_name="stops"} 1',
        'canton_rx_ready 0',
        'canton_rx_processor_role{canton_rx_processor_name="parks",canton_rx_processor_role="leader"} 1',
      ])
        expect(served).toContain(`${line}\n`);
      for (const start of [
        'canton_rx_feed_failures_total{canton_rx_processor_name="stops",error_type="HandlerError"} ',
        'canton_rx_handler_failures_total{canton_rx_processor_name="stops",error_type="Error"} ',
        'canton_rx_updates_skipped_total{canton_rx_processor_name="skips",error_type="Error"} ',
        'canton_rx_updates_parked_total{canton_rx_processor_name="parks",error_type="Error"} ',
        'canton_rx_commit_age_seconds{canton_rx_processor_name="parks"} ',
        'canton_rx_handler_duration_seconds_bucket{canton_rx_processor_name="parks",le="0.005"} ',
      ])
        expect(served).toContain(`\n${start}`);
    } finally {
      running.unsubscribe();
    }
  });

  it.each(['canton-rx.rules.yml', 'dashboard.json'])('%s reads only metrics that there are', (file) => {
    const known = new Set([
      ...[
        'ready',
        'part_ready',
        'part_failed',
        'lag_offsets',
        'lag_record_time_seconds',
        'commit_age_seconds',
        'updates_waiting',
      ],
      ...Object.entries(metrics).flatMap(([name, [kind, unit]]) => {
        const base = `${name.replaceAll('.', '_')}${unit === 's' ? '_seconds' : ''}`;
        return kind === 'Histogram' ? [`${base}_bucket`] : [`${base}${kind === 'Counter' ? '_total' : ''}`];
      }),
    ]);
    const text = file.endsWith('json')
      ? (JSON.parse(read(file)) as { panels: { targets: { expr: string }[] }[] }).panels
          .flatMap(({ targets }) => targets.map(({ expr }) => expr))
          .join('\n')
      : read(file).replaceAll('canton_rx_updates_(parked|skipped)_total', 'canton_rx_updates_parked_total');
    const used = metricsIn(text).map((name) => name.slice('canton_rx_'.length));
    expect(used.length).toBeGreaterThan(8);
    expect(used.filter((name) => !known.has(name))).toEqual([]);
  });
});
