import { asyncScheduler } from 'rxjs';
import type { Service } from '../feed/Service.js';
import { jitter } from '../http/retry.js';

/**
 * The result of a WebSocket that has ended: it delivered elements, it delivered none, or another path must be tried.
 */
type SocketResult = 'delivered' | 'empty' | 'pathSwitched';

/** The delay after the end of a socket before a feed of its ledger opens another one. */
const backOff = { baseDelayMs: 1_000, maxDelayMs: 300_000 };

/** The sockets of a participant that have ended. */
interface SocketBackOff {
  /** When the last one ended, in milliseconds. */
  readonly endedAt: number;
  readonly delayMs: number;
  /** The number of consecutive sockets that delivered nothing. */
  readonly failures: number;
}

const noneEnded: SocketBackOff = { endedAt: 0, delayMs: 0, failures: 0 };

/** By participant: all feeds of a ledger share it, whichever transport opens their sockets. */
const backOffs = new WeakMap<object, SocketBackOff>();

/** Whether a socket ended so recently that no feed opens another. Setting the clock back does not prolong the delay. */
export function isSocketBackOff({ learned }: Service): boolean {
  const { endedAt, delayMs } = backOffs.get(learned) ?? noneEnded;
  return Math.abs(asyncScheduler.now() - endedAt) < delayMs;
}

/**
 * Records that a socket has ended. Returns for how long no feed opens another one, in milliseconds: the more
 * consecutive sockets deliver nothing, the longer. Several sockets that end within one delay count as one failure.
 */
export function socketEnded(service: Service, result: SocketResult): number {
  const { failures: before } = backOffs.get(service.learned) ?? noneEnded;
  const failures = result === 'empty' ? before + Number(!isSocketBackOff(service)) : 0;
  const delayMs = result === 'pathSwitched' ? 0 : jitter(failures, backOff);
  backOffs.set(service.learned, { endedAt: asyncScheduler.now(), delayMs, failures });
  return delayMs;
}
