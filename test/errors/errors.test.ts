import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import * as api from '../../src/index.js';
import { CursorError } from '../../src/errors/process.js';
import { errorOf } from '../../src/errors/readAnswer.js';
import { errorBody } from '../helpers/wire.js';

const sent = { submissionId: 'try-1', userId: 'me', actAs: ['alice::1220ab'], sentAt: 1 };
const submission: api.Submission = { ...sent, since: 6, attempts: 2 };

const one: readonly api.LedgerError[] = [
  new api.ResponseTooLargeError('/x', 30),
  new api.ApiError({ path: '/x', status: 400, text: 'no' }),
  new api.ConnectionError('/x', 'the connection failed', { code: 'ECONNREFUSED', host: '127.0.0.1:7575' }),
  new api.CursorError('participant', 'balances', 'it is of p1, this is p2'),
  new api.DecodeError('/x', [{ path: 'update', expected: 'Update' }], 7, '1220ab'),
  new api.HandlerError(7, '1220ab', 3, new Error('mine')),
  new api.InvalidRequestError([{ path: 'beginExclusive', expected: 'Offset' }]),
  new api.LedgerResetError(40, 10),
  new api.NotSentError('the connection failed', submission, 'ECONNREFUSED'),
  new api.OrderError(3, 5),
  new api.OutcomeUnknownError(submission, new api.RequestTimeoutError('/x', 30), 8),
  new api.PageLimitError(7),
  new api.PrunedError('/x', 25),
  new api.RequestTimeoutError('/x', 30, '127.0.0.1:7575'),
  new api.SnapshotLimitError(200, 41),
  new api.StoreError('save', 'balances', 'the disk is full', new Error('ENOSPC')),
  new api.SubmissionExpiredError(new api.ApiError({ path: '/x', status: 409, text: 'too old' }), submission),
  new api.SubmissionRejectedError(new api.ApiError({ path: '/x', status: 400, text: 'forged' }), submission),
  new api.TokenError('the provider failed'),
  new api.UnauthorizedError('/x'),
  new api.VerificationError('hash', 'the hash is of something else', 'hash'),
];
const tags = one.map(({ _tag }) => _tag);

describe('an error', () => {
  it.each(one)('is an Error with its own name and tag: %s', (error) => {
    expect(error).toBeInstanceOf(Error);
    expect(error.name).toBe(error._tag);
    expect(api.isLedgerError(error)).toBe(true);
    expect(tags.filter((tag) => api.isLedgerError(error, tag))).toEqual([error._tag]);
    expect(api.isLedgerError(error, 'OrderError', error._tag)).toBe(true);
    expect([error].filter(api.isLedgerError)).toEqual([error]);
    // of another copy of the package
    expect(api.isLedgerError({ _tag: error._tag })).toBe(true);
  });

  it.each([undefined, null, 'ApiError', new Error('x'), { _tag: 'Other' }, { _tag: 'toString' }, { _tag: 1 }])(
    'is not another value: %p',
    (other) => {
      expect(api.isLedgerError(other)).toBe(false);
      expect(tags.some((tag) => api.isLedgerError(other, tag))).toBe(false);
    },
  );

  it('has a message with one line per fact', () => {
    expect(one.map(({ message }) => message)).toEqual([
      'The response is larger than 30 bytes.\nPath: /x',
      'The ledger answered 400: no\nPath: /x',
      '127.0.0.1:7575 cannot be reached (ECONNREFUSED).\nPath: /x',
      "The stored state of the processor is rejected: it is of p1, this is p2.\nReason: participant\nProcessor: balances\nNext: connect to the participant of the cursor; or if both have the same history, continue there with onOtherNode: 'relocate'; or start over with another name, or remove the cursor with `canton-rx processors reset`\nRunbook: https://unpkg.com/canton-rx/docs/runbook.md#cursorerror-participant",
      'The response cannot be decoded.\nupdate: expected Update\nOffset: 7\nUpdate: 1220ab\nPath: /x\nNext: update canton-rx, or the codec if the path is a template; then read again\nRunbook: https://unpkg.com/canton-rx/docs/runbook.md#decodeerror',
      'The handler failed: mine\nOffset: 7\nUpdate: 1220ab\nAttempts: 3\nRunbook: https://unpkg.com/canton-rx/docs/runbook.md#handlererror',
      'The request is invalid and was not sent.\nbeginExclusive: expected Offset',
      'The cursor is beyond the ledger end.\nCursor: 40\nLedger end: 10\nNext: begin again with the active contracts, or at offset 0\nRunbook: https://unpkg.com/canton-rx/docs/runbook.md#ledgerreseterror',
      'The submission was not sent: the connection failed.\nCode: ECONNREFUSED\nSubmission: try-1',
      'The updates are out of order.\nOffset: 3\nAfter: 5',
      'The submission was committed, but its transaction could not be read.\nCommitted at: 8\nSubmission: try-1\nAttempts: 2\nAfter offset: 6\nLast error: RequestTimeoutError',
      'A page of one update is too large.\nCursor: 7\nNext: raise maxResponseBytes of the ledger, or the limits of the participant and its proxies; or request less of each update, for example without includeCreatedEventBlob; or pass this update with a new cursor after it\nRunbook: https://unpkg.com/canton-rx/docs/runbook.md#pagelimiterror',
      'The ledger is pruned beyond the cursor.\nEarliest offset: 25\nPath: /x\nNext: the updates up to the earliest offset are lost here: resume after it with onGap, or begin again with the active contracts\nRunbook: https://unpkg.com/canton-rx/docs/runbook.md#prunederror',
      '127.0.0.1:7575 did not answer within 30 ms.\nPath: /x',
      'The participant does not list all active contracts. Use the WebSockets of canton-rx/ws, more specific types or fewer parties.\nMore than: 200\nOffset: 41',
      'The store failed: the disk is full\nOperation: save\nProcessor: balances\nRunbook: https://unpkg.com/canton-rx/docs/runbook.md#storeerror',
      'The prepared transaction is outside its time bounds: too old\nSubmission: try-1',
      'The submission was rejected: forged\nReason: invalid\nStatus: 400\nSubmission: try-1',
      'No token is available: the provider failed.',
      'The ledger refuses the token.\nPath: /x',
      'The prepared submission must not be signed: the hash is of something else.\nReason: hash\nPath: hash',
    ]);
  });

  const host = '127.0.0.1:3000';
  const failed = (reason: string) => new api.ConnectionError('/x', reason, { host });
  const answered = (status: number, text: string) => new api.ApiError({ path: '/x', status, text, host });

  it.each<[string, api.LedgerError]>([
    ['did not answer as expected: there was no response.', failed('there was no response')],
    ['cannot be reached.', failed('the connection failed')],
    ['answered 404, but not as a ledger: Cannot GET /x', answered(404, 'Cannot GET /x')],
    ['answered 502, but not as a ledger: <html>', answered(502, '<html>')],
    ['refuses the token and its replacement.', new api.UnauthorizedError('/x', true, host)],
  ])('names the host first: it %s', (fact, error) => {
    expect(error).toMatchObject({ message: `${host} ${fact}\nPath: /x`, host });
  });

  it('is matched by its tag, and any other value is thrown', () => {
    const cases = Object.fromEntries(tags.map((tag) => [tag, (error: api.LedgerError) => [tag, error]]));
    const match = api.matchLedgerError(cases as unknown as Parameters<typeof api.matchLedgerError<unknown>>[0]);
    expect(one.map(match)).toEqual(one.map((error) => [error._tag, error]));
    const bug = new RangeError('mine');
    // @ts-expect-error -- possible with an error of type any
    expect(() => match(bug)).toThrow(bug);
  });
});

describe('errorOf', () => {
  it('keeps the facts of the ledger', () => {
    const context = { category: '8', definite_answer: 'true' };
    const text = JSON.stringify({ ...errorBody('INVALID_FIELD', 8, context), correlationId: 'c-1' });
    expect(errorOf({ path: '/x', status: 400, text, retryAfterMs: 5 })).toMatchObject({
      _tag: 'ApiError',
      code: 'INVALID_FIELD',
      errorCategory: 8,
      reason: 'because of INVALID_FIELD',
      correlationId: 'c-1',
      definiteAnswer: true,
      retryAfterMs: 5,
      context,
    });
  });

  it.each<[Readonly<Record<string, string>>, number | undefined]>([
    [{ earliest_offset: '25' }, 25],
    [{ earliest_offset: 'Some(25)' }, undefined],
    [{ earliest_offset: '' }, undefined],
    [{}, undefined],
  ])('is a PrunedError with the earliest offset, if the ledger states it: %j', (context, earliestOffset) => {
    const text = JSON.stringify(errorBody('PARTICIPANT_PRUNED_DATA_ACCESSED', 9, context));
    expect(errorOf({ path: '/x', status: 400, text })).toMatchObject({ _tag: 'PrunedError', earliestOffset });
  });

  it.each(['[{"update":{}}]', ' {"amount":"17"}', '"17"', '{"amount', '\0{'])(
    'does not quote JSON that is not an error: %s',
    (text) => {
      expect(errorOf({ path: '/x', status: 502, text }).message).toBe('The ledger answered 502.\nPath: /x');
    },
  );

  it('quotes on one line, at a bounded length, and without secrets of the request', () => {
    const cause = `first\n\u001b[2Jsecond of s3cret ${'x'.repeat(50_000)}`;
    const text = JSON.stringify({ ...errorBody('INVALID_FIELD', 8, { token: 's3cret' }), cause });
    const error = errorOf({ path: '/x', status: 400, text, secrets: ['s3cret'] });
    expect(error).toMatchObject({ code: 'INVALID_FIELD', context: { token: '…' } });
    expect(error.message).toMatch(/^The ledger answered 400: first \[2Jsecond of … x{9000,10000}\nCode: /);
    const reasonOf = (echo: string, secret: string): string => {
      const error = errorOf({ path: '/x', status: 502, text: echo, secrets: [secret] });
      return 'reason' in error ? error.reason : '';
    };
    expect(reasonOf('no s3cret\nhere', 's3cret')).toBe('no … here');
    // truncated by the service, or here
    const long = `eyJhbGci(OiJ.+*${'A'.repeat(2_000_000)}`;
    expect(reasonOf(`got ${long.slice(0, 70)} and more`, long)).toBe('got … and more');
    expect(reasonOf(`got ${long}`, long)).toBe('got …');
  });

  it('has no line and no control character of what it names', () => {
    const evil = 'a\nNext: pay\u001b[2J\u009b\u202e\u2028\u{e0041}b';
    const named = 'a\\u{a}Next: pay\\u{1b}[2J\\u{9b}\\u{202e}\\u{2028}\\u{e0041}b';
    const { message } = errorOf({ path: `/${evil}`, status: 502, text: '', host: evil });
    expect(message).toBe(`${named} answered 502.\nPath: /${named}`);
    expect(errorOf({ path: '/x', status: 502, text: `a${'😀'.repeat(200)}` }).message).not.toMatch(/\\u/);
  });

  it.each([
    ['Expected ujson.Str (data: 7)', 'Expected ujson.Str (data: …)'],
    ['Expected ujson.Str (data: {"name":"s3cret) (data: 8)"})', 'Expected ujson.Str (data: …)'],
    ['Expected ujson.Str (Data:"s3cret"', 'Expected ujson.Str (data: …)'],
    ['Expected ujson.Obj\n( data = s3cret\nof two lines) at x', 'Expected ujson.Obj (data: …)'],
  ])('does not quote the value that the participant could not decode: %j', (cause, reason) => {
    const body = { ...errorBody('LEDGER_API_INTERNAL_ERROR', 4, { throwableO: `Some(${cause})` }), cause };
    const error = errorOf({ path: '/x', status: 500, text: JSON.stringify(body) });
    expect(error).toMatchObject({ reason, context: { throwableO: `Some(${reason}` } });
    expect(`${error.message}${JSON.stringify(error)}`).not.toMatch(/s3cret|data: [78]/);
  });

  it('keeps the beginning of any other answer', () => {
    const error = errorOf({ path: '/x', status: 502, text: `<html>${'x'.repeat(10_000)}` });
    expect(error.message.length).toBeLessThan(300);
    expect(error).toMatchObject({ code: undefined, errorCategory: undefined });
    expect(errorOf({ path: '/x', status: 502, text: '' }).message).toBe('The ledger answered 502.\nPath: /x');
  });
});

describe('the fields of an error', () => {
  const evil = 'a\u001b[2J\u009b\u202e\u2028\u{e0041}b';
  const shown = 'a\\u{1b}[2J\\u{9b}\\u{202e}\\u{2028}\\u{e0041}b';
  const problems = [{ path: evil, expected: evil }];

  it('control nothing that shows them, as its message', () => {
    expect(new api.LedgerResetError(1, undefined, evil).difference).not.toMatch(/[^\x20-\x7e]/);
    expect(new api.LedgerResetError(1)).not.toHaveProperty('difference');
    expect(new CursorError('ledger', 'p', evil).explanation).toBe(shown);
    for (const error of [new api.DecodeError('/x', problems), new api.InvalidRequestError(problems)])
      expect(error.problems).toEqual([{ path: shown, expected: shown }]);
  });
});

describe('a refusal because the synchronizers of contracts are unknown', () => {
  const contractId = `00${'ab'.repeat(67)}`;
  const unknown = 'The synchronizers are currently unknown.';
  const rejected = (context: Readonly<Record<string, string>>, cause = unknown) => {
    const answer = { ...errorBody('UNKNOWN_CONTRACT_SYNCHRONIZERS', 9, context), cause };
    const error = errorOf({ path: '/x', status: 400, text: JSON.stringify(answer) });
    if (!api.isLedgerError(error, 'ApiError')) throw error;
    return new api.SubmissionRejectedError(error, submission);
  };

  it('means that they are in flight, as recorded', () => {
    const file = new URL('../fixtures/errors/exercise-in-flight.json', import.meta.url);
    const { response } = JSON.parse(readFileSync(file, 'utf8')) as {
      readonly response: { readonly status: number; readonly body: object };
    };
    const error = errorOf({ path: '/x', status: response.status, text: JSON.stringify(response.body) });
    expect(api.isLedgerError(error, 'ApiError') && new api.SubmissionRejectedError(error, submission)).toMatchObject({
      reason: 'contention',
      isContention: true,
      contractIds: [expect.stringMatching(/^00ada643/)],
    });
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ['nothing', {}],
    ['Map()', { archived: 'Map()', notFound: `List(${contractId})` }],
    ['List()', { archived: 'List()' }],
    ['an empty text', { archived: '' }],
  ])('means that they are in flight if archived is %s', (_, context) => {
    expect(rejected(context).reason).toBe('contention');
  });

  it.each<[string, Readonly<Record<string, string>>, string]>([
    ['a map', { archived: `Map(${contractId} -> synchronizer-1::1220ab)`, notFound: 'List()' }, unknown],
    ['a list, beside others in flight', { archived: `List(${contractId})`, notFound: `List(${contractId})` }, unknown],
    ['the cause', {}, `The following contracts have been archived: List(${contractId})`],
  ])('means that they are archived if %s says so', (_, context, cause) => {
    expect(rejected(context, cause)).toMatchObject({ reason: 'inactiveContract', isContention: true });
  });
});
