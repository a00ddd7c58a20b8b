import type { Counter, Gauge, Histogram, Meter, ObservableGauge, UpDownCounter } from '@opentelemetry/api';

/** What is measured. */
export interface Instruments {
  readonly meter: Meter;
  readonly requests: Histogram;
  readonly polls: Counter;
  readonly updates: Counter;
  readonly retries: Counter;
  readonly gaps: Counter;
  readonly feedFailures: Counter;
  readonly pageLimit: Gauge;
  readonly undecodable: Counter;
  readonly handlerFailures: Counter;
  readonly skipped: Counter;
  readonly parked: Counter;
  readonly submissions: Counter;
  readonly submissionTimes: Histogram;
  readonly feeds: UpDownCounter;
  readonly lagOffsets: ObservableGauge;
  readonly lagTime: ObservableGauge;
}

/** Limits of buckets in seconds: an answer takes milliseconds, a poll waits for as long as nothing comes. */
const requestSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 7.5, 10, 20, 30];

/** A submission takes seconds; where its outcome has to be found out, a minute. */
const submissionSeconds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** The instruments of a meter; each name is made once, however many ledgers there are. */
export function instrumentsOf(meter: Meter): Instruments {
  const counter = (name: string, unit: string, description: string): Counter =>
    meter.createCounter(`canton_rx.${name}`, { unit: `{${unit}}`, description });
  const seconds = (name: string, buckets: number[], description: string): Histogram =>
    meter.createHistogram(`canton_rx.${name}`, {
      unit: 's',
      description,
      advice: { explicitBucketBoundaries: buckets },
    });
  return {
    meter,
    requests: seconds('request.duration', requestSeconds, 'How long requests to the participant take'),
    polls: counter('polls', 'request', 'Requests for updates'),
    updates: counter('updates', 'update', 'Updates that were emitted, or handled by a processor'),
    retries: counter(
      'retries',
      'retry',
      'Transient failures after which a feed, a submission or a store is asked again',
    ),
    gaps: counter('gaps', 'gap', 'Feeds that cannot be read on without a gap'),
    feedFailures: counter('feed.failures', 'feed', 'Feeds that ended with an error'),
    pageLimit: meter.createGauge('canton_rx.page_limit', {
      unit: '{update}',
      description: 'The most updates that are asked for, as the participant has taught',
    }),
    undecodable: counter('decode.failures', 'failure', 'Answers and updates that do not decode'),
    handlerFailures: counter('handler.failures', 'failure', 'Failures of a handler that is tried again'),
    skipped: counter('updates.skipped', 'update', 'Updates that a processor went on without'),
    parked: counter('updates.parked', 'update', 'Updates that a processor put aside'),
    submissions: counter('submissions', 'submission', 'Submissions by what became of them'),
    submissionTimes: seconds('submission.duration', submissionSeconds, 'How long submissions take to their outcome'),
    feeds: meter.createUpDownCounter('canton_rx.feeds.active', {
      unit: '{feed}',
      description: 'Feeds without an end that somebody is subscribed to',
    }),
    lagOffsets: meter.createObservableGauge('canton_rx.lag.offsets', {
      unit: '{offset}',
      description: 'How far the slowest feed is behind the ledger end that was read last',
    }),
    lagTime: meter.createObservableGauge('canton_rx.lag.record_time', {
      unit: 's',
      description: 'How old the newest record time is that the slowest feed has seen of a synchronizer',
    }),
  };
}
