import { describe, expect, it } from '@jest/globals';
import { type Observable, of, take } from 'rxjs';
import { activeContracts } from '../../src/contracts/index.js';
import {
  acsDelta,
  createLedger,
  type HttpResponse,
  isTransient,
  type Ledger,
  type LedgerError,
} from '../../src/index.js';
import { observe } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';
import { errorBody, errorReply, ok } from '../helpers/wire.js';

const prepareRequest = {
  userId: 'u',
  commandId: 'c',
  actAs: ['alice::1220ab'],
  synchronizerId: '',
  commands: [{ CreateCommand: { templateId: '#p:M:E', createArguments: {} } }],
} as const;

/** The requests, the end of their path, and an answer of the ledger's own form that cannot be decoded. */
const requests: readonly (readonly [string, (ledger: Ledger) => Observable<unknown>, string, unknown])[] = [
  ['the ledger end', (ledger) => ledger.ledgerEnd(), 'ledger-end', { offset: 'seven' }],
  ['parties', (ledger) => ledger.parties(), 'parties', { partyDetails: 'none' }],
  ['a preparation', (ledger) => ledger.prepare(prepareRequest), 'prepare', { preparedTransaction: 7 }],
  [
    'updates',
    (ledger) => ledger.updates({ beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) }),
    'flats',
    [{ update: { Transaction: { value: {} } } }],
  ],
  [
    'completions',
    (ledger) => ledger.completions({ parties: ['alice::1220ab'], userId: 'u', beginExclusive: 0 }),
    'completions',
    [{ completionResponse: { Completion: { value: {} } } }],
  ],
  [
    'pages of active contracts',
    (ledger) => activeContracts(ledger, { parties: 'any' }),
    'active-contracts-page',
    { activeContracts: 'none', activeAtOffset: 9 },
  ],
  [
    'lists of active contracts',
    (ledger) => activeContracts(ledger, { parties: 'any' }),
    'active-contracts',
    [{ contractEntry: { JsActiveContract: {} } }],
  ],
];

const bodies = [
  '{"status":"ok"}',
  '{}',
  'null',
  '"ok"',
  '[{"id":1},null]',
  '{"login":"https://sso.example"}',
  'OK',
  '<p>',
];
const cases = requests.flatMap(([name, read, end, own]) => bodies.map((text) => ({ name, read, end, own, text })));

/** Runs a request against a participant that gives one answer at the end of a path, from the first or from the second request on. */
const play = (
  read: (ledger: Ledger) => Observable<unknown>,
  end: string,
  answer: HttpResponse,
  { from = 1, until = Infinity, first }: { from?: number; until?: number; first?: HttpResponse } = {},
) =>
  marbles(({ flush }) => {
    let count = 0;
    let all = 0;
    const ledger = createLedger({
      baseUrl: 'http://ledger.example/api',
      port: ({ url }) => {
        const { pathname } = new URL(url);
        all += 1;
        if (first !== undefined && all === 1) return of(first);
        if (pathname.endsWith(`/${end}`)) {
          count += 1;
          if (count >= from && count < until) return of(answer);
        }
        if (pathname.endsWith('/ledger-end')) return of(ok({ offset: 9 }));
        return of(
          pathname.endsWith('-page') ? errorReply(404, { errors: [], status: 404, ledgerApiError: null }) : ok([]),
        );
      },
    });
    if (first !== undefined) observe(ledger.ledgerEnd());
    const seen = observe(read(ledger).pipe(take(1)));
    flush();
    return { ...seen, error: seen.error as LedgerError, count: () => count };
  });

describe('a success that another system answers', () => {
  it.each(cases)('to the first request is an error that names the URL: $name, $text', ({ read, end, text }) => {
    // nothing has answered as a ledger before
    const { error } = play((ledger) => read(ledger), end, { status: 200, headers: { server: 'nginx/1.25' }, text });
    expect(error).toMatchObject({ _tag: 'ConnectionError' });
    expect(error.message).toContain(`http://ledger.example/api/v2/`);
    expect(error.message).toContain('(nginx)');
    expect(error.message).not.toContain('sso');
  });

  it.each(cases)('after an answer of the ledger is an outage: $name, $text', ({ read, end, text }) => {
    const seen = play(read, end, { status: 200, headers: {}, text }, { first: ok({ offset: 9 }) });
    expect(isTransient(seen.error)).toBe(true);
  });

  it.each(requests)('is unlike an element of the ledger that cannot be decoded: %s', (_, read, end, own) => {
    const seen = play(read, end, ok(own));
    expect(seen.error).toMatchObject({ _tag: 'DecodeError' });
    expect(seen.endedAt).toBe(0);
    expect(seen.count()).toBe(1);
  });

  it.each(bodies)('for three requests loses nothing: %s', (text) => {
    const contracts = (ledger: Ledger) => activeContracts(ledger, { parties: 'any' });
    const seen = play(contracts, 'active-contracts', { status: 200, headers: {}, text }, { from: 1, until: 4 });
    expect(seen.error).toBeUndefined();
    expect(seen.count()).toBe(4);
  });

  it.each(['<p>maintenance', '{"status":"ok"}', 'OK', '[1,'])('delays the next request by Retry-After: %s', (text) => {
    const seen = play(
      (ledger) => activeContracts(ledger, { parties: 'any' }),
      'active-contracts',
      { status: 200, headers: { 'retry-after': '40' }, text },
      { until: 2 },
    );
    expect(seen.error).toBeUndefined();
    expect(seen.endedAt).toBe(40_000);
  });

  it('without Retry-After is repeated soon', () => {
    const contracts = (ledger: Ledger) => activeContracts(ledger, { parties: 'any' });
    const seen = play(contracts, 'active-contracts', { status: 200, headers: {}, text: '<p>' }, { until: 2 });
    expect(seen.endedAt).toBeLessThan(500);
  });
});

describe('an error of the ledger in place of an element', () => {
  it('is not of another system', () => {
    const seen = play(
      (ledger) => ledger.updates({ beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) }),
      'flats',
      ok([errorBody('INVALID_ARGUMENT', 8)]),
    );
    expect(seen.error).toMatchObject({ _tag: 'DecodeError' });
  });
});
