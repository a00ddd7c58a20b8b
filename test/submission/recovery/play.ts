import { asyncScheduler, delay, of, type Observable } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import type { Transaction } from '../../../src/codecs/Transaction.js';
import { isLedgerError } from '../../../src/errors/LedgerError.js';
import type { Diagnostic } from '../../../src/diagnostics/Diagnostic.js';
import { createLedger } from '../../../src/ledger/createLedger.js';
import { randomFrom } from '../../suites/campaign/randomFrom.js';
import { observe, type Observed } from '../../helpers/observe.js';
import { scripted } from '../../helpers/scripted.js';
import { VirtualParticipant } from '../../helpers/virtualSubmission.js';
import type { Schedule } from './Schedule.js';
import { signedRequest } from '../signedRequest.js';

/** A subscription, and when it began. */
export interface Subscribed extends Observed<Transaction> {
  readonly startedAt: number;
}

/** What has come of a schedule. */
export interface Outcome {
  readonly schedule: Schedule;
  readonly participant: VirtualParticipant;
  readonly subscribed: readonly Subscribed[];
  readonly events: readonly Diagnostic[];
  /** What must not be left when all is over. */
  readonly wrong: readonly string[];
}

const hour = 3_600_000;

/** Runs a schedule in virtual time, and an hour on after its end. */
export function play(schedule: Schedule): Outcome {
  const scheduler = new TestScheduler(() => undefined);
  const random = Math.random;
  Math.random = randomFrom(schedule.jitter);
  try {
    return scheduler.run(({ flush }) => {
      const participant = new VirtualParticipant(schedule);
      const subscribed: Subscribed[] = [];
      const events: Diagnostic[] = [];
      const wrong: string[] = [];
      const service = scripted(participant.answer);
      const { requestTimeoutMs, withinMs, period, hasFreshTokens, tokenMs, unsubscribeAtMs } = schedule;
      let tokens = 0;
      const token = (): Observable<string> => {
        const tookMs = tokenMs[Math.min(tokens, tokenMs.length - 1)] ?? 0;
        tokens += 1;
        const text = `token-${hasFreshTokens === true ? tokens : 0}`;
        return tookMs === 0 ? of(text) : of(text).pipe(delay(tookMs));
      };
      const client = createLedger({
        baseUrl: 'http://ledger.example',
        port: service.port,
        requestTimeoutMs,
        ...(hasFreshTokens !== null && { token }),
      });
      client.diagnostics$.subscribe((event) => events.push(event));
      const transaction$ = client.executeAndWaitForTransaction(
        { ...signedRequest, deduplicationPeriod: period },
        { recover: withinMs === null ? false : { withinMs } },
      );
      // by no timer of the library's scheduler, which would itself be left
      const at = (ms: number, work: () => void): void => {
        scheduler.schedule(work, ms);
      };
      for (const ms of schedule.othersAtMs)
        at(ms, () => {
          participant.others(3);
        });
      for (const ms of [0, ...schedule.againAtMs])
        at(ms, () => {
          subscribed.push(Object.assign(observe(transaction$), { startedAt: asyncScheduler.now() }));
        });
      if (unsubscribeAtMs !== null)
        at(unsubscribeAtMs, () => {
          for (const { subscription } of subscribed) subscription.unsubscribe();
          if (service.open > 0) wrong.push('a request is left open');
        });
      at(Math.max(0, ...schedule.againAtMs) + hour, () => {
        if (service.open > 0) wrong.push('a request is left open for an hour');
        if (scheduler.actions.length > 0) wrong.push(`${scheduler.actions.length} timers are left`);
      });
      flush();
      return { schedule, participant, subscribed, events, wrong };
    });
  } finally {
    Math.random = random;
  }
}

/** In a word. */
export const endOf = ({ values, error }: Subscribed): string => {
  if (values.length > 0) return 'Transaction';
  return isLedgerError(error) ? error._tag : 'left';
};
