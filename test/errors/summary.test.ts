import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import * as api from '../../src/index.js';
import { refusals } from '../../src/errors/rejectionReason.js';

/** In everything that an error of the table is made of. */
const secret = 's3cret';
const text = `${secret} of https://s3cret.example/v2/s3cret at 4711`;
const cause = new Error(text, { cause: text });
const problems = [{ path: text, expected: text }];
const submission: api.Submission = {
  submissionId: text,
  commandId: text,
  userId: text,
  actAs: [text],
  sentAt: 4711,
  since: 4711,
  attempts: 4711,
};
const canton = { code: secret, cause: text, errorCategory: 4711, context: { s3cret: text }, correlationId: text };
const answered = (status: number, facts: object = { canton }) =>
  new api.ApiError({ path: text, status, url: text, host: text, product: text, location: text, text, ...facts });
const refused = (code: string, status = 400) =>
  new api.SubmissionRejectedError(answered(status, { canton: { ...canton, code, errorCategory: 0 } }), submission);

/** Each error by its name in the guide. The compiler reports a class that is missing. */
const errors: Readonly<Record<api.LedgerError['_tag'], Readonly<Record<string, api.LedgerError>>>> = {
  ConnectionError: { '': new api.ConnectionError(text, text, { code: text, host: text, hint: text }) },
  RequestTimeoutError: { '': new api.RequestTimeoutError(text, 4711, text) },
  ResponseTooLargeError: { '': new api.ResponseTooLargeError(text, 4711) },
  TokenError: { '': new api.TokenError(text) },
  UnauthorizedError: { '': new api.UnauthorizedError(text, true, text) },
  InvalidRequestError: { '': new api.InvalidRequestError(problems) },
  ApiError: {
    'of the network': answered(502, { answeredBy: 'network' }),
    'of status 401': answered(401),
    'of status 403': answered(403, { canton, missingRight: text }),
    'of another status below 500': answered(404),
    'of status 500 or above': answered(503),
  },
  DecodeError: { '': new api.DecodeError(text, problems, 4711, '4711') },
  OrderError: { '': new api.OrderError(4711, 4711) },
  PageLimitError: { '': new api.PageLimitError(4711) },
  SnapshotLimitError: { '': new api.SnapshotLimitError(4711, 4711) },
  PrunedError: { '': new api.PrunedError(text, 4711) },
  LedgerResetError: { '': new api.LedgerResetError(4711, 4711, text) },
  NotSentError: { '': new api.NotSentError(text, submission, text) },
  SubmissionExpiredError: { '': new api.SubmissionExpiredError(answered(400), submission) },
  SubmissionRejectedError: {
    contention: refused('LOCKED_CONTRACTS'),
    inactiveContract: refused('CONTRACT_NOT_FOUND'),
    refusal: refused('DAML_FAILURE'),
    authorization: refused('', 403),
    packages: refused('PACKAGE_SELECTION_FAILED'),
    traffic: refused('SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT'),
    backPressure: refused('', 429),
    topology: refused('NO_SYNCHRONIZER_FOR_SUBMISSION'),
    timeout: refused('MEDIATOR_SAYS_TX_TIMED_OUT'),
    invalid: refused('', 400),
    other: refused('', 500),
  } satisfies Record<api.RejectionReason, api.LedgerError>,
  OutcomeUnknownError: {
    '': new api.OutcomeUnknownError(submission, answered(503)),
    'with `completionOffset`': new api.OutcomeUnknownError(submission, answered(503), 4711),
  },
  VerificationError: { '': new api.VerificationError('hash', text, text) },
  CursorError: { '': new api.CursorError('participant', text, text, text) },
  HandlerError: { '': new api.HandlerError(4711, text, 4711, cause, text) },
  StoreError: { '': new api.StoreError('save', text, text, cause, text) },
};
const rows = Object.entries(errors).flatMap(([tag, variants]) =>
  Object.entries(variants).map(([variant, error]) => ({ name: `${tag} ${variant}`.trim(), tag, variant, error })),
);

describe('the summary of an error', () => {
  it.each(rows)('is one sentence without anything of its data: $name', ({ tag, error }) => {
    expect(error._tag).toBe(tag);
    expect(error.message).toMatch(/s3cret|4711/);
    expect(error.summary).toMatch(/^[A-Z][a-z ,:]+\.$/i);
    expect(error.summary).not.toMatch(/s3cret|offset|token|null|undefined/i);
    // a log has the message already
    expect(Object.keys(error)).not.toContain('summary');
  });

  it('of a rejection is that of its reason', () => {
    expect(Object.keys(errors.SubmissionRejectedError)).toEqual(Object.keys(refusals));
    for (const [reason, error] of Object.entries(errors.SubmissionRejectedError))
      expect(error).toMatchObject({ reason, summary: refusals[reason as api.RejectionReason] });
  });

  it('is in the guide', () => {
    const guide = readFileSync(new URL('../../docs/handling-errors.md', import.meta.url), 'utf8');
    const inGuide = [...guide.matchAll(/^\| `(\w+Error)`([^|]*)\| _([^|]*)_ *\|$/gm)].map(
      ([, tag, variant = '', sentence]) => [`${tag} ${variant.trim()}`.trim(), sentence],
    );
    const variantOf = ({ tag, variant }: (typeof rows)[number]): string =>
      tag === 'SubmissionRejectedError' ? `\`${variant}\`` : variant;
    expect(inGuide).toEqual(rows.map((row) => [`${row.tag} ${variantOf(row)}`.trim(), row.error.summary]));
  });
});

describe('summarize', () => {
  const pruned = new api.PrunedError('/x', 25);

  it('has the words of the app, and otherwise those of the error', () => {
    expect(api.summarize(pruned, { PrunedError: 'Der Verlauf fehlt.' })).toBe('Der Verlauf fehlt.');
    expect(api.summarize(pruned, { PrunedError: ({ earliestOffset }) => `ab ${earliestOffset}` })).toBe('ab 25');
    expect(api.summarize(pruned, { PrunedError: '' })).toBe('');
    expect(api.summarize(pruned, { StoreError: 'x' })).toBe(pruned.summary);
    expect(api.summarize(pruned, {})).toBe(pruned.summary);
  });
});
