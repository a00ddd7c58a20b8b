/** Mistakes of other clients of this ledger: defaults of HTTP clients, and features that only a newer Node has. */
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { take } from 'rxjs';
import { createLedger } from '../../../src/ledger/createLedger.js';
import type { Ledger } from '../../../src/ledger/Ledger.js';
import { kyPort } from '../../../src/http/kyPort.js';
import { sample } from '../../codecs/support.js';
import { observe, offsets } from '../../helpers/observe.js';
import { scriptedService } from '../../helpers/scripted.js';
import { fill, updateFormat, upTo, world } from '../../helpers/world.js';
import { transaction } from '../../helpers/wire.js';
import { marbles } from '../../helpers/time.js';

type Fetch = typeof globalThis.fetch;

/** A `fetch` that answers after some time, and aborts like the platform's. */
const answering =
  (answer: (url: URL, count: number) => { readonly afterMs: number; readonly body: unknown }, log: Request[]): Fetch =>
  (input, init) =>
    new Promise((resolve, reject) => {
      const request = new Request(input, init);
      log.push(request);
      const { afterMs, body } = answer(new URL(request.url), log.length);
      request.signal.addEventListener('abort', () => {
        reject(new DOMException('aborted', 'AbortError'));
      });
      setTimeout(() => {
        if (body instanceof Error) reject(body);
        else resolve(new Response(JSON.stringify(body)));
      }, afterMs);
    });

const lost = new TypeError('fetch failed');

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

describe('a request that is lost', () => {
  it('is sent once by the HTTP port, whatever its method', async () => {
    for (const method of ['POST', 'GET'] as const) {
      const sent: Request[] = [];
      const fetch = answering(() => ({ afterMs: 1, body: lost }), sent);
      const seen = observe(kyPort({ fetch })({ method, url: 'http://ledger.example/x', headers: {} }));
      await jest.advanceTimersByTimeAsync(600_000);
      expect(seen.error).toBeDefined();
      expect(sent).toHaveLength(1);
    }
  });

  it('is repeated by a feed, though it is a POST', async () => {
    const sent: Request[] = [];
    const fetch = answering(
      ({ pathname }, n) =>
        pathname.endsWith('ledger-end')
          ? { afterMs: 1, body: { offset: 1 } }
          : { afterMs: 1, body: n === 2 ? lost : [transaction(1)] },
      sent,
    );
    const seen = observe(
      createLedger({ baseUrl: 'http://ledger.example', fetch }).updates({
        beginExclusive: 0,
        endInclusive: 1,
        updateFormat,
      }),
    );
    await jest.advanceTimersByTimeAsync(10_000);
    expect(sent.map(({ method }) => method)).toEqual(['GET', 'POST', 'POST']);
    expect(seen).toMatchObject({ completed: true, values: [{ offset: 1 }] });
  });

  it.each([undefined, false] as const)('is never sent twice by the same submission; recover: %p', (recover) => {
    marbles(({ flush }) => {
      const service = scriptedService(() => [new Error('socket hang up')]);
      const ledger = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
      const seen = observe(ledger.executeAndWaitForTransaction(executeRequest, { recover }));
      flush();
      const ids = service.requests.flatMap(({ method, body }) => (method === 'POST' ? [body['submissionId']] : []));
      expect(seen).toMatchObject({ values: [], completed: false });
      expect(seen.error).toBeDefined();
      if (recover === false) expect(ids).toHaveLength(1);
      expect(ids.length).toBeGreaterThan(0);
      expect(new Set(ids).size).toBe(ids.length);
    });
  });
});

const executeRequest: Parameters<Ledger['executeAndWaitForTransaction']>[0] = {
  preparedTransaction: 'CgA=',
  hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V2',
  partySignatures: {
    signatures: [
      {
        party: 'alice::1220ab',
        signatures: [
          {
            format: 'SIGNATURE_FORMAT_CONCAT',
            signature: 'AAAA',
            signedBy: '1220f0',
            signingAlgorithmSpec: 'SIGNING_ALGORITHM_SPEC_ED25519',
          },
        ],
      },
    ],
  },
};

describe('a body', () => {
  it('is sent only with POST, since GET requests have none', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world();
      fill(ledger, ...upTo(3));
      observe(feed({ endInclusive: 3 }));
      flush();
      const methods = service.requests.map(({ method, body }) => [method, Object.keys(body).length > 0]);
      expect(methods).toEqual([
        ['GET', false],
        ['POST', true],
      ]);
    });
  });
});

describe('the oldest Node', () => {
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
      const fetch = answering(
        ({ pathname }) => ({
          afterMs: 1,
          body: pathname.endsWith('ledger-end') ? { offset: 36 } : sample('updates-3.5', 'wire'),
        }),
        [],
      );
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
