import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { take } from 'rxjs';
import { createLedger } from '../../src/ledger/createLedger.js';
import { sample } from '../codecs/support.js';
import { observe, offsets } from '../helpers/observe.js';
import { transaction } from '../helpers/wire.js';
import { updateFormat } from '../helpers/world.js';

/** A `fetch` that answers after some time, and aborts like the platform's. */
const answering =
  (answer: (url: URL) => { readonly afterMs: number; readonly body: unknown }, log: Request[] = []): typeof fetch =>
  (input, init) =>
    new Promise((resolve, reject) => {
      const request = new Request(input, init);
      log.push(request);
      const { afterMs, body } = answer(new URL(request.url));
      request.signal.addEventListener('abort', () => {
        reject(new DOMException('aborted', 'AbortError'));
      });
      setTimeout(() => {
        resolve(new Response(JSON.stringify(body)));
      }, afterMs);
    });

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
});
afterEach(() => {
  jest.useRealTimers();
});

describe('a poll', () => {
  it("of 13 seconds is not cut off by the HTTP client's default timeout of ten", async () => {
    const sent: Request[] = [];
    const fetch = answering(
      ({ pathname }) =>
        pathname.endsWith('ledger-end')
          ? { afterMs: 1, body: { offset: 0 } }
          : { afterMs: 13_000, body: [transaction(1)] },
      sent,
    );
    const seen = observe(
      createLedger({ baseUrl: 'http://ledger.example', fetch })
        .updates({ beginExclusive: 0, updateFormat }, { idleTimeoutMs: 12_900, retry: { giveUpAfterMs: 0 } })
        .pipe(take(1)),
    );
    await jest.advanceTimersByTimeAsync(12_990);
    expect(sent.map(({ signal }) => signal.aborted)).toEqual([false, false]);
    await jest.advanceTimersByTimeAsync(100);
    expect(seen).toMatchObject({ error: undefined, completed: true, values: [{ offset: 1 }] });
  });
});

describe('the oldest supported Node', () => {
  /** Functions that only newer versions have, and that a browser of 2024 lacks, too. */
  const newer: readonly (readonly [object, string])[] = [
    [globalThis, 'WebSocket'],
    [globalThis, 'EventSource'],
    [globalThis, 'Iterator'],
    [Set.prototype, 'union'],
    [Set.prototype, 'isSubsetOf'],
    [Promise, 'withResolvers'],
    [Promise, 'try'],
    [Array, 'fromAsync'],
    [Object, 'groupBy'],
    [Map, 'groupBy'],
    [JSON, 'rawJSON'],
    [Uint8Array, 'fromBase64'],
  ];

  it('has everything that a feed needs', async () => {
    const hidden = newer.map(([on, name]) => [on, name, Object.getOwnPropertyDescriptor(on, name)] as const);
    for (const [on, name] of newer) Reflect.deleteProperty(on, name);
    try {
      const fetch = answering(({ pathname }) => ({
        afterMs: 1,
        body: pathname.endsWith('ledger-end') ? { offset: 36 } : sample('updates-3.5', 'wire'),
      }));
      const ledger = createLedger({ baseUrl: 'http://ledger.example', fetch });
      const seen = observe(ledger.updates({ beginExclusive: 30, endInclusive: 36, updateFormat }));
      await jest.advanceTimersByTimeAsync(1_000);
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.values)).toEqual([31, 32, 33, 34, 35, 36]);
    } finally {
      for (const [on, name, descriptor] of hidden) if (descriptor) Object.defineProperty(on, name, descriptor);
    }
  });
});
