import type { Call } from '../http/Call.js';
import { changeWithin } from './changeWithin.js';
import { checkpoint } from './checkpoint.js';
import type { UpdatesRequest } from './UpdatesRequest.js';
import { visibleIn } from './visibleIn.js';

/** An open-ended stream. It holds no more than the element that it hands out, and ends with the client alone. */
export async function* follow({ participant, signal }: Call, request: UpdatesRequest): AsyncGenerator<object> {
  const { ledger, settings } = participant;
  const { profile, earlyCheckpointMs, idleCheckpointMs } = settings;
  const idleMs = idleCheckpointMs === false ? Infinity : idleCheckpointMs;
  let readTo = request.beginExclusive;
  let checkpointAt = -1;
  let earlyAt = earlyCheckpointMs === false ? Infinity : performance.now() + earlyCheckpointMs;
  let idleAt = performance.now() + idleMs;
  for (;;) {
    while (readTo < ledger.end) {
      const { end } = ledger;
      for (const element of visibleIn({ ...request, beginExclusive: readTo }, end, { ledger, profile })) {
        yield element;
        idleAt = performance.now() + idleMs;
      }
      readTo = end;
    }
    const dueAt = Math.min(earlyAt, idleAt);
    const came = await changeWithin(dueAt - performance.now(), ledger, signal);
    if (came === 'signal') return;
    if (came === 'change') continue;
    if (dueAt === earlyAt) earlyAt = Infinity;
    else idleAt = performance.now() + idleMs;
    // participants do not repeat one either
    if (readTo <= checkpointAt) continue;
    checkpointAt = readTo;
    yield checkpoint(readTo, ledger);
    idleAt = performance.now() + idleMs;
  }
}
