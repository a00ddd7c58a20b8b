import { describe, expect, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import { lastValueFrom, NEVER, type Observable } from 'rxjs';
import { acsDelta, createLedger, type UndecodedUpdate, type Update, type UpdatesOptions } from '../../src/index.js';
import { sandboxes } from '../helpers/localServers.js';
import { observe } from '../helpers/observe.js';
import { itInVirtualTime } from '../helpers/time.js';
import { updateFormat } from '../helpers/world.js';

const start = sandboxes();

const port = (): Observable<never> => NEVER;

describe('createLedger', () => {
  it.each([
    'localhost:7575',
    'ftp://h',
    'http://user:pw@h',
    'user:pw%40h:7575',
    'http://h/p?tenant=a',
    'http://h/#y',
    '/v2',
    'http://h:7575 ',
    'http://h:7575/json\n',
    'http://h/json api',
    '',
  ])('refuses a baseUrl to which no path can be appended: %j', (baseUrl) => {
    expect(() => createLedger({ baseUrl, port })).toThrow(TypeError);
    expect(() => createLedger({ baseUrl, port })).not.toThrow(/pw/);
  });

  it.each(['http://h', 'https://h:1/', 'http://[::1]:7575/prefix//'])(
    'accepts a baseUrl with a path prefix: %j',
    (baseUrl) => {
      expect(() => createLedger({ baseUrl, port })).not.toThrow();
    },
  );

  it.each([
    { requestTimeoutMs: 0 },
    { requestTimeoutMs: Number.NaN },
    { requestTimeoutMs: -1 },
    { retry: { baseDelayMs: 0 } },
    { retry: { giveUpAfterMs: Number.NaN } },
    { retry: { giveUpAfterMs: -1 } },
    { retry: { giveUpAfterMs: -0.5 } },
    { retry: { maxDelayMs: '1000' as unknown as number } },
    { requestTimeoutMs: '1000' as unknown as number },
    { serverTimeoutMs: Number.NaN },
    { serverTimeoutMs: 999 },
    { serverTimeoutMs: 60_001 },
    { serverTimeoutMs: 1_000.5 },
    { maxResponseBytes: Number.NaN },
  ])('refuses invalid options: %j', (options) => {
    expect(() => createLedger({ baseUrl: 'http://h', port, ...options })).toThrow(TypeError);
  });

  it('limits the time of requests at the participant, and retries a read after a 408', async () => {
    const sandbox = await start({ profile: '3.6' });
    sandbox.append({ Transaction: { value: { events: [{ CreatedEvent: {} }] } } });
    sandbox.fault({ kind: 'delay', ms: 5_000 }, { path: '/v2/state/ledger-end' });
    const ledger = createLedger({ baseUrl: sandbox.url, serverTimeoutMs: 1_000, retry: { baseDelayMs: 1 } });
    const request = { beginExclusive: 0, endInclusive: 1, updateFormat: acsDelta({ parties: 'any' }) };
    expect(await lastValueFrom(ledger.updates(request))).toMatchObject({ offset: 1 });
    const ends = sandbox.requests.filter(({ path }) => path === '/v2/state/ledger-end');
    expect(ends.map(({ status }) => status)).toEqual([408, 200]);
  });

  itInVirtualTime('waits longer than the participant by default', ({ flush }) => {
    const ended = [{ serverTimeoutMs: 60_000 }, { serverTimeoutMs: 5_000 }, {}].map((options) =>
      observe(createLedger({ baseUrl: 'http://h', port, ...options }).ledgerEnd()),
    );
    flush();
    expect(ended.map(({ endedAt }) => endedAt)).toEqual([70_000, 30_000, 30_000]);
  });

  it('does not quote a header that cannot be sent', () => {
    const headers = { authorization: 'SECRET\nx' };
    expect(() => createLedger({ baseUrl: 'http://h', port, headers })).toThrow(TypeError);
    expect(() => createLedger({ baseUrl: 'http://h', port, headers })).not.toThrow(/SECRET/);
  });

  it.each([undefined, null])('refuses a header whose value is %s, which would be sent as a text', (value) => {
    const headers = { 'x-request-source': 'app', 'x-tenant': value as never };
    expect(() => createLedger({ baseUrl: 'http://h', port, headers })).toThrow(
      new TypeError('headers: x-tenant has no value'),
    );
  });

  it('types updates by the option for those that do not decode', () => {
    const ledger = createLedger({ baseUrl: 'http://h', port });
    const request = { beginExclusive: 0, updateFormat };
    const some: UpdatesOptions = {};
    const undecided: 'fail' | 'emit' | undefined = undefined;
    expectTypeOf(ledger.updates(request)).toEqualTypeOf<Observable<Update>>();
    expectTypeOf(ledger.updates(request, { maxPageSize: 5 })).toEqualTypeOf<Observable<Update>>();
    expectTypeOf(ledger.updates(request, { maxPageSize: undefined })).toEqualTypeOf<Observable<Update>>();
    expectTypeOf(ledger.updates(request, { onUndecodable: 'fail' })).toEqualTypeOf<Observable<Update>>();
    expectTypeOf(ledger.updates(request, { onUndecodable: 'emit' })).toEqualTypeOf<
      Observable<Update | UndecodedUpdate>
    >();
    expectTypeOf(ledger.updates(request, some)).toEqualTypeOf<Observable<Update | UndecodedUpdate>>();
    expect(() => ledger.updates(request, { onUndecodable: undecided })).not.toThrow();
  });
});
