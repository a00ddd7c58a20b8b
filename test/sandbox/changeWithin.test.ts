import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Ledger } from '../../src/sandbox/ledger/Ledger.js';
import { changeWithin } from '../../src/sandbox/endpoints/tail.js';

let ledger: Ledger;
let client: AbortController;
let listeners: number;

beforeEach(() => {
  jest.useFakeTimers();
  ledger = new Ledger();
  client = new AbortController();
  listeners = 0;
  const listen = ledger.listen.bind(ledger);
  jest.spyOn(ledger, 'listen').mockImplementation((listener) => {
    listeners += 1;
    const unlisten = listen(listener);
    return () => {
      listeners -= 1;
      unlisten();
    };
  });
});
afterEach(() => {
  jest.useRealTimers();
});

describe('waiting for a change of the ledger', () => {
  it.each([
    [
      'change',
      () => {
        ledger.advance(1);
      },
    ],
    [
      'time',
      () => {
        jest.advanceTimersByTime(1000);
      },
    ],
    [
      'signal',
      () => {
        client.abort();
      },
    ],
  ] as const)('ends with a %s, and leaves nothing behind', async (by, happen) => {
    const came = changeWithin(1000, ledger, client.signal);
    expect([listeners, jest.getTimerCount(), getEventListeners(client.signal, 'abort').length]).toEqual([1, 1, 1]);
    jest.advanceTimersByTime(999);
    happen();
    expect(await came).toBe(by);
    expect([listeners, jest.getTimerCount(), getEventListeners(client.signal, 'abort').length]).toEqual([0, 0, 0]);
  });

  it('ends at once when the client has left before', async () => {
    client.abort();
    expect(await changeWithin(Infinity, ledger, client.signal)).toBe('signal');
    expect([listeners, jest.getTimerCount()]).toEqual([0, 0]);
  });
});
