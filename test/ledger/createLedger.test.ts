import { describe, expect, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import { NEVER, type Observable } from 'rxjs';
import { createLedger, type InvalidUpdate, type Update, type UpdatesOptions } from '../../src/index.js';
import { updateFormat } from '../helpers/world.js';

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
  ])('refuses invalid options: %j', (options) => {
    expect(() => createLedger({ baseUrl: 'http://h', port, ...options })).toThrow(TypeError);
  });

  it('does not quote a header that cannot be sent', () => {
    const headers = { authorization: 'SECRET\nx' };
    expect(() => createLedger({ baseUrl: 'http://h', port, headers })).toThrow(TypeError);
    expect(() => createLedger({ baseUrl: 'http://h', port, headers })).not.toThrow(/SECRET/);
  });

  it('types updates by the option for those that do not decode', () => {
    const ledger = createLedger({ baseUrl: 'http://h', port });
    const request = { beginExclusive: 0, updateFormat };
    const some: UpdatesOptions = {};
    const undecided: 'fail' | 'emit' | undefined = undefined;
    expectTypeOf(ledger.updates(request)).toEqualTypeOf<Observable<Update>>();
    expectTypeOf(ledger.updates(request, { maxPageSize: 5 })).toEqualTypeOf<Observable<Update>>();
    expectTypeOf(ledger.updates(request, { maxPageSize: undefined })).toEqualTypeOf<Observable<Update>>();
    expectTypeOf(ledger.updates(request, { onInvalid: 'fail' })).toEqualTypeOf<Observable<Update>>();
    expectTypeOf(ledger.updates(request, { onInvalid: 'emit' })).toEqualTypeOf<Observable<Update | InvalidUpdate>>();
    expectTypeOf(ledger.updates(request, some)).toEqualTypeOf<Observable<Update | InvalidUpdate>>();
    expect(() => ledger.updates(request, { onInvalid: undecided })).not.toThrow();
  });
});
