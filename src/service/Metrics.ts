import type { Diagnostic } from '../diagnostics/Diagnostic.js';
import {
  boundedErrorType,
  countDiagnostic,
  type MetricName,
  metrics,
  type MetricSink,
} from '../diagnostics/metrics.js';
import type { ServiceStatus } from './ServiceStatus.js';

/** The labels of a series, by name. */
type Labels = Readonly<Record<string, string | number>>;

/** A metric: its kind, its unit and its description, and the bounds of the buckets of a histogram. */
type Definition = readonly [kind: string, unit: string, help: string, buckets?: readonly number[]];

/** The metrics that are read from the status, in addition to those of diagnostics. They have the names that OpenTelemetry gives them. */
const ofStatus = {
  ready: ['Gauge', '{service}', '1 if every part of the service is ready, otherwise 0'],
  'part.ready': ['Gauge', '{part}', '1 if the processor, rule or outbox is ready, otherwise 0'],
  'part.failed': ['Gauge', '{part}', '1 if the processor, rule or outbox has ended with an error, otherwise 0'],
  'lag.offsets': ['Gauge', '{offset}', 'Offsets between the processor and the last known ledger end'],
  'lag.record_time': [
    'Gauge',
    's',
    'Age of the newest record time that the processor which holds its name has handled',
  ],
  'commit.age': ['Gauge', 's', 'Time since the last commit of the processor that holds its name'],
  'updates.waiting': ['Gauge', '{update}', 'Updates that are parked now'],
} as const satisfies Readonly<Record<string, Definition>>;

/** The distribution of the values of a series, or its present value. */
interface Series {
  readonly labels: Labels;
  value: number;
  count: number;
  readonly buckets: number[];
}

/**
 * Counts the diagnostics of a ledger, and writes them and the status of a service as a page of metrics in the text format of
 * Prometheus, under the names that an exporter of OpenTelemetry gives them: rules for alerts fit both.
 */
export class Metrics implements MetricSink {
  readonly errorType = boundedErrorType();
  readonly #series = new Map<string, Map<string, Series>>();

  /** Counts a diagnostic. */
  count(diagnostic: Diagnostic): void {
    countDiagnostic(this, diagnostic);
  }

  measure(name: MetricName, value: number, labels: Labels): void {
    const [kind, , , buckets] = metrics[name] as Definition;
    const series = seriesOf(this.#series, name, labels);
    series.value = kind === 'Gauge' ? value : series.value + value;
    series.count += 1;
    buckets?.forEach((bound, index) => {
      series.buckets[index] = (series.buckets[index] ?? 0) + (value <= bound ? 1 : 0);
    });
  }

  /** Writes the page. */
  write(status: ServiceStatus): string {
    const present = readStatus(status);
    const pages = [
      ...Object.entries<Definition>(ofStatus).map(([name, each]) => writeMetric(name, each, present.get(name))),
      ...Object.entries<Definition>(metrics).map(([name, each]) => writeMetric(name, each, this.#series.get(name))),
    ];
    return pages.join('');
  }
}

/** Returns the series of a metric with some labels. */
function seriesOf(all: Map<string, Map<string, Series>>, name: string, labels: Labels): Series {
  const ofMetric = all.get(name) ?? new Map<string, Series>();
  all.set(name, ofMetric);
  const key = writeLabels(labels);
  const series = ofMetric.get(key) ?? { labels, value: 0, count: 0, buckets: [] };
  ofMetric.set(key, series);
  return series;
}

/** The gauges that follow from a status. */
function readStatus(status: ServiceStatus): ReadonlyMap<string, Map<string, Series>> {
  const all = new Map<string, Map<string, Series>>();
  /** Parts with stores of different schemas may have the same name: their series has the worst value. */
  const gauge = (name: keyof typeof ofStatus, labels: Labels, value: number | undefined, worst = Math.max): void => {
    if (value === undefined) return;
    const isFirst = all.get(name)?.has(writeLabels(labels)) !== true;
    const series = seriesOf(all, name, labels);
    series.value = isFirst ? value : worst(series.value, value);
  };
  gauge('ready', {}, Number(status.isReady));
  status.processors.forEach((part, index) => {
    const labels = { 'canton_rx.processor.name': part.processor ?? String(index) };
    notePart(labels, part);
    gauge('lag.offsets', labels, part.lagOffsets);
    // what a processor that has lost its name handled before says nothing about the one that works now
    if (part.role === 'leader') {
      gauge('lag.record_time', labels, seconds(part.recordTimeLagMs));
      if (part.committedAt !== undefined) gauge('commit.age', labels, seconds(part.at - part.committedAt));
    }
    gauge('updates.waiting', labels, part.parked);
  });
  // a part that has not been read yet has no name: an empty label would be that of no part
  status.rules.forEach((part, index) => {
    notePart({ 'canton_rx.rule.name': part.rule ?? String(index + 1) }, part);
  });
  status.outboxes.forEach((part, index) => {
    notePart({ 'canton_rx.outbox.name': part.outbox ?? String(index + 1) }, part);
  });
  return all;

  function notePart(
    labels: Labels,
    part: { readonly isReady: boolean; readonly state: string; readonly error?: string },
  ) {
    gauge('part.ready', labels, Number(part.isReady), Math.min);
    gauge('part.failed', labels, Number(part.state === 'ended' && part.error !== undefined));
  }
}

const seconds = (ms: number | undefined): number | undefined =>
  ms === undefined ? undefined : Math.max(0, ms) / 1_000;

/** Writes a metric with all its series; nothing if it has none. */
function writeMetric(
  name: string,
  [kind, unit, help, buckets]: Definition,
  series: ReadonlyMap<string, Series> | undefined,
): string {
  if (series === undefined) return '';
  const isCounter = kind === 'Counter';
  const full = `canton_rx_${name.replaceAll('.', '_')}${unit === 's' ? '_seconds' : ''}${isCounter ? '_total' : ''}`;
  const lines = [...series].flatMap(([labels, each]) =>
    buckets === undefined ? [line(full, labels, each.value)] : writeHistogram(full, each, buckets),
  );
  const type = { Counter: 'counter', Histogram: 'histogram' }[kind] ?? 'gauge';
  return [`# HELP ${full} ${help}`, `# TYPE ${full} ${type}`, ...lines, ''].join('\n');
}

const writeHistogram = (name: string, series: Series, bounds: readonly number[]): readonly string[] => [
  ...bounds.map((bound, index) =>
    line(`${name}_bucket`, writeLabels({ ...series.labels, le: bound }), series.buckets[index] ?? 0),
  ),
  line(`${name}_bucket`, writeLabels({ ...series.labels, le: '+Inf' }), series.count),
  line(`${name}_sum`, writeLabels(series.labels), series.value),
  line(`${name}_count`, writeLabels(series.labels), series.count),
];

const line = (name: string, labels: string, value: number): string =>
  `${name}${labels === '' ? '' : `{${labels}}`} ${value}`;

/** Writes labels in the order of their names, so that equal ones are equal texts. */
const writeLabels = (labels: Labels): string =>
  Object.entries(labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name.replaceAll('.', '_')}="${escapeLabel(String(value))}"`)
    .join(',');

const escapeLabel = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
