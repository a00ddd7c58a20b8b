import type { Counter, Gauge, Histogram, Meter, ObservableGauge, UpDownCounter } from '@opentelemetry/api';

/** The instruments of one meter. */
export interface Instruments {
  readonly meter: Meter;
  readonly requests: Histogram;
  readonly polls: Counter;
  readonly updates: Counter;
  readonly retries: Counter;
  readonly sockets: Counter;
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

/** Creates the instruments of a meter. The meter returns the same instrument for the same name to every ledger. */
export function createInstruments(meter: Meter): Instruments {
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
    requests: seconds('request.duration', requestBuckets, 'Duration of requests to the participant'),
    polls: counter('polls', 'request', 'Requests for updates'),
    updates: counter('updates', 'update', 'Updates emitted by feeds or handled by processors'),
    retries: counter('retries', 'retry', 'Retries of feeds, submissions and stores after transient failures'),
    sockets: counter('sockets.closed', 'socket', 'WebSockets that closed or did not open'),
    gaps: counter('gaps', 'gap', 'Feeds that cannot continue without a gap'),
    feedFailures: counter('feed.failures', 'feed', 'Feeds that ended with an error'),
    pageLimit: meter.createGauge('canton_rx.page_limit', {
      unit: '{update}',
      description: 'Largest page that feeds request after the participant rejected a larger one',
    }),
    undecodable: counter('decode.failures', 'failure', 'Responses and updates that cannot be decoded'),
    handlerFailures: counter('handler.failures', 'failure', 'Failures of a handler that are followed by a retry'),
    skipped: counter('updates.skipped', 'update', 'Updates that a processor skipped'),
    parked: counter('updates.parked', 'update', 'Updates that a processor parked'),
    submissions: counter('submissions', 'submission', 'Submissions by outcome'),
    submissionTimes: seconds('submission.duration', submissionBuckets, 'Duration of submissions until their outcome'),
    feeds: meter.createUpDownCounter('canton_rx.feeds.active', {
      unit: '{feed}',
      description: 'Subscribed feeds and processors that have no end',
    }),
    lagOffsets: meter.createObservableGauge('canton_rx.lag.offsets', {
      unit: '{offset}',
      description: 'Offsets between the slowest feed and the last known ledger end',
    }),
    lagTime: meter.createObservableGauge('canton_rx.lag.record_time', {
      unit: 's',
      description: 'Age of the newest record time of a synchronizer in the slowest feed',
    }),
  };
}

/** Bucket boundaries in seconds: most responses take milliseconds, a poll waits until its idle timeout. */
const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 7.5, 10, 20, 30];

/** Bucket boundaries in seconds: a submission takes seconds, or minutes if its outcome is recovered. */
const submissionBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
