import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { follow } from '../../src/sandbox/endpoints/follow.js';
import type { Call } from '../../src/sandbox/http/Call.js';
import { Participant } from '../../src/sandbox/participant/Participant.js';
import { Settings } from '../../src/sandbox/participant/Settings.js';

let participant: Participant;
let client: AbortController;
let subscriptions: number;

beforeEach(() => {
  jest.useFakeTimers();
  participant = new Participant(new Settings({ earlyCheckpointMs: false, idleCheckpointMs: 1000 }));
  client = new AbortController();
  subscriptions = 0;
  const { ledger } = participant;
  const subscribe = ledger.subscribe.bind(ledger);
  jest.spyOn(ledger, 'subscribe').mockImplementation((listener) => {
    subscriptions += 1;
    const unsubscribe = subscribe(listener);
    return () => {
      subscriptions -= 1;
      unsubscribe();
    };
  });
});
afterEach(() => {
  jest.useRealTimers();
});

/** Ledger subscriptions, timers and abort listeners. */
const resources = () => [subscriptions, jest.getTimerCount(), getEventListeners(client.signal, 'abort').length];

/** A stream of the offsets of the ledger. */
const stream = () =>
  follow({ participant, signal: client.signal, method: 'GET', isAuthorized: () => true } as Call, {
    beginExclusive: 0,
    read: (_, upTo) => [{ upTo }],
    envelope: (checkpoint) => checkpoint,
  });

describe('an open-ended stream that waits', () => {
  it.each<[string, object | undefined, () => unknown]>([
    [
      'a change of the ledger',
      { upTo: 2 },
      () => {
        participant.ledger.advance(2);
      },
    ],
    [
      'the idle time',
      { OffsetCheckpoint: {} },
      () => {
        jest.advanceTimersByTime(1);
      },
    ],
    [
      'the end of the client',
      undefined,
      () => {
        client.abort();
      },
    ],
  ])('resumes after %s, and releases its timer and listeners', async (_, element, happen) => {
    const next = stream().next();
    expect(resources()).toEqual([1, 1, 1]);
    jest.advanceTimersByTime(999);
    happen();
    expect(await next).toMatchObject({ done: element === undefined, value: element });
    expect(resources()).toEqual([0, 0, 0]);
  });

  it('ends at once if the client has disconnected before', async () => {
    client.abort();
    participant.settings.change({ idleCheckpointMs: false });
    expect(await stream().next()).toEqual({ done: true, value: undefined });
    expect(resources()).toEqual([0, 0, 0]);
  });
});
