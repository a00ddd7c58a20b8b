import type { Metadata } from '@canton-network/core-ledger-proto';
import type { PrepareRequest } from '../codecs/PrepareRequest.js';
import { microsOf } from './microsOf.js';
import { refusal } from './refusal.js';

/**
 * Refuses a transaction that says it was prepared at another time, or that may be earlier than was asked for. One of the
 * future would be out of its bounds now, and valid when the ledger no longer looks for the same change.
 */
export function checkTimes(
  { preparationTime, minLedgerEffectiveTime }: Metadata,
  { minLedgerTime }: PrepareRequest,
  maxClockSkewMs: number,
): void {
  if (Math.abs(Number(preparationTime / 1000n) - Date.now()) > maxClockSkewMs)
    throw refusal('times', 'it was prepared at another time, or the clocks differ');
  const time = minLedgerTime?.time;
  if (time === undefined || 'Empty' in time) return;
  const least = 'MinLedgerTimeAbs' in time ? microsOf(time.MinLedgerTimeAbs.value) : 0n;
  if (least === undefined || minLedgerEffectiveTime === undefined || minLedgerEffectiveTime < least)
    throw refusal('times', 'it may be earlier than was asked for', 'minLedgerTime');
}
