import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { follow, streamRange } from '../../src/sandbox/endpoints/follow.js';
import { completeUpdates } from '../../src/sandbox/ledger/append.js';
import { Participant } from '../../src/sandbox/participant/Participant.js';
import { Settings } from '../../src/sandbox/participant/Settings.js';
import { creation } from './requests.js';

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

const anyParty = { byParty: new Map(), anyParty: [{ kind: 'wildcard', id: '', blob: false, view: false }] } as const;

const selection = { transactions: { events: anyParty, ledgerEffects: false } };

const stream = () =>
  follow(
    {
      participant,
      signal: client.signal,
      method: 'GET',
      path: '/v2/updates',
      headers: {},
      body: '',
      query: new URLSearchParams(),
      trace: { id: '', context: null },
      fault: undefined,
      timeoutAnswer: { status: 503, body: '' },
      isAuthorized: () => true,
    },
    {
      beginExclusive: 0,
      read: (beginExclusive, upTo) =>
        streamRange({ beginExclusive, endInclusive: undefined, descending: false, selection }, upTo, participant),
      envelope: (checkpoint) => ({ update: checkpoint }),
    },
  );

describe('an open-ended stream that waits', () => {
  it.each([
    [
      'a change of the ledger',
      { update: { Transaction: {} } },
      () => {
        participant.ledger.commit(completeUpdates([{ update: creation() }], participant));
      },
    ],
    [
      'the idle time',
      { update: { OffsetCheckpoint: {} } },
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
  ] as const)('resumes after %s, and releases its timer and listeners', async (_, element, happen) => {
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
