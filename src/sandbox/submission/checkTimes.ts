import { refused } from '../errors/refused.js';
import type { Settings } from '../participant/Settings.js';
import type { Prepared } from '../prepared/Prepared.js';
import { timestampOf } from '../wire/timestampOf.js';
import type { Execution } from './Execution.js';
import { ledgerTimeOf } from './ledgerTimeOf.js';

/** Rejects what comes out of its time. The clock decides: generated traffic may be ahead of it. */
export function checkTimes(prepared: Prepared, execution: Execution, settings: Settings): void {
  const now = Date.now() * 1000;
  const { preparationTime, maxRecordTime } = prepared;
  if (maxRecordTime !== undefined && now > maxRecordTime) {
    const cause = `The record time is beyond ${timestampOf(maxRecordTime)}`;
    throw refused('LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED', cause);
  }
  if (Math.abs(now - preparationTime) > settings.preparationTimeToleranceMs * 1000) {
    const cause = `The preparation time ${timestampOf(preparationTime)} is too far from the record time`;
    throw refused('LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND', cause);
  }
  const ledgerTime = ledgerTimeOf(prepared, execution, now);
  if (ledgerTime - now > settings.ledgerTimeToleranceMs * 1000) {
    const cause = `The ledger time ${timestampOf(ledgerTime)} is too far from the record time`;
    throw refused('LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND', cause);
  }
}
