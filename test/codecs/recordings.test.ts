import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { ActiveContractsPage, ContractElement } from '../../src/codecs/ContractEntry.js';
import { CompletionElement } from '../../src/codecs/Completion.js';
import { JsCantonError } from '../../src/codecs/JsCantonError.js';
import { LedgerEnd } from '../../src/codecs/OffsetCheckpoint.js';
import { Reassignment } from '../../src/codecs/Reassignment.js';
import { PreparedSubmission } from '../../src/codecs/SubmissionRequest.js';
import { Transaction } from '../../src/codecs/Transaction.js';
import { UpdateElement } from '../../src/codecs/Update.js';
import { errorOf } from '../../src/errors/readAnswer.js';
import { rejectionReason } from '../../src/errors/rejectionReason.js';
import type { ApiError } from '../../src/errors/ApiError.js';
import { PrunedError } from '../../src/errors/feed.js';
import { SubmissionRejectedError } from '../../src/errors/submission.js';
import { at, listAt } from '../sandbox/client.js';
import { anyCodec, type AnyCodec, decode } from './support.js';

// What real participants of 3.5.10 answered: test/fixtures/recorded35 has the exchanges.

interface Recording {
  readonly request: { readonly path: string };
  readonly response: { readonly status: number; readonly body: unknown };
}

const folder = 'test/fixtures/recorded35';

const recordings = readdirSync(folder).flatMap((file) => {
  const content = JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as Partial<Recording>;
  return content.request && content.response ? [{ file, path: content.request.path, ...content.response }] : [];
});

/** The codecs of the elements that a path answers, and where they are in the body. */
const answers: readonly (readonly [RegExp, AnyCodec, ((body: never) => unknown)?])[] = [
  [/^.v2.updates(.flats)?$/, anyCodec(UpdateElement)],
  [/^.v2.updates.update-by-/, anyCodec(UpdateElement)],
  [/^.v2.updates.get-updates-page$/, anyCodec(UpdateElement), ({ updates }: { updates: unknown }) => updates],
  [/^.v2.state.active-contracts$/, anyCodec(ContractElement)],
  [/^.v2.state.active-contracts-page$/, anyCodec(ActiveContractsPage)],
  [/^.v2.state.ledger-end$/, anyCodec(LedgerEnd)],
  [/^.v2.commands.(command-)?completions$/, anyCodec(CompletionElement)],
  [
    /AndWaitForTransaction$|-for-transaction$/,
    anyCodec(Transaction),
    ({ transaction }: { transaction: unknown }) => transaction,
  ],
  [/-for-reassignment$/, anyCodec(Reassignment), ({ reassignment }: { reassignment: unknown }) => reassignment],
  [/^.v2.interactive-submission.prepare$/, anyCodec(PreparedSubmission)],
];

describe('a recorded answer', () => {
  const successes = recordings.flatMap(({ file, path, status, body }) => {
    const [, codec, contentOf = (all: unknown) => all] =
      answers.find(([pattern]) => status === 200 && pattern.test(path.replace(/\?.*/, ''))) ?? [];
    return codec === undefined ? [] : [[file, codec, [contentOf(body as never)].flat()] as const];
  });

  it.each(successes)('%s decodes, and encodes back', (_, codec, elements) => {
    for (const element of elements) {
      const encoded = JSON.parse(JSON.stringify(codec.encode(decode(codec, element)))) as unknown;
      expect(normalize(encoded)).toEqual(normalize(element));
    }
  });

  it('is there for each kind', () => {
    const names = answers.map(([, { name }]) => name);
    expect(new Set(successes.map(([, { name }]) => name))).toEqual(new Set(names));
  });
});

/** Empty values that are the same as an absent field. */
const empty: Readonly<Record<string, string>> = {
  updateId: '""',
  deduplicationPeriod: '{"Empty":{}}',
  synchronizerTimes: '[]',
};

/** Leaves out what has no meaning: absent and null fields are the same, and so are some empty ones. */
function normalize(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normalize);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, field]) =>
      field === null || JSON.stringify(field) === empty[key] ? [] : [[key, normalize(field)]],
    ),
  );
}

describe('a recorded error', () => {
  const failures = recordings.flatMap(({ file, path, status, body }) =>
    status === 200 || typeof body === 'string' || at(body, 'code') === undefined
      ? []
      : [[file.replace('.json', ''), { path, status, body }] as const],
  );
  const read = (path: string, status: number, body: unknown) => errorOf({ path, status, text: JSON.stringify(body) });

  it.each(failures)('%s has the code, the category and the context of its body', (_, { path, status, body }) => {
    const { code, errorCategory, definiteAnswer, context } = decode<JsCantonError>(JsCantonError, body);
    expect(code).toBe(at(body, 'code'));
    const error = read(path, status, body);
    if (error instanceof PrunedError) {
      expect([code, error.earliestOffset]).toEqual(['PARTICIPANT_PRUNED_DATA_ACCESSED', 27]);
      return;
    }
    const flag = context['definite_answer'];
    const isDefinite = definiteAnswer ?? (flag === undefined ? undefined : flag === 'true');
    // a value of the request that the participant quotes is a secret
    const shown: Record<string, string> = {};
    for (const [key, value] of Object.entries(context)) shown[key] = value.replace(/\(data: .*/s, '(data: …)');
    expect(error).toMatchObject({ path, status, code, errorCategory, context: shown });
    expect(error.definiteAnswer).toBe(isDefinite);
  });

  /** As listed in the observations: the code, the category, whether it is definite, and the reason of a rejection. */
  it.each([
    ['duplicate-create', 409, 'DUPLICATE_COMMAND', 10, true, undefined],
    ['duplicate-consumed-disclosed', 409, 'DUPLICATE_COMMAND', 10, true, undefined],
    ['execute-again-same-bytes', 409, 'DUPLICATE_COMMAND', 10, true, undefined],
    ['duplicate-same-command-consumed', 404, 'CONTRACT_NOT_FOUND', 11, false, 'inactiveContract'],
    ['other-command-consumed-disclosed', 404, 'LOCAL_VERDICT_INACTIVE_CONTRACTS', 11, false, 'inactiveContract'],
    ['execute-archive-other-command', 404, 'LOCAL_VERDICT_INACTIVE_CONTRACTS', 11, false, 'inactiveContract'],
    ['execute-contention-1', 409, 'LOCAL_VERDICT_LOCKED_CONTRACTS', 2, false, 'contention'],
    ['execute-bad-signature', 400, 'FAILED_TO_EXECUTE_TRANSACTION', 8, false, undefined],
    ['dedup-negative', 400, 'INVALID_FIELD', 8, false, 'invalid'],
    ['error-int-as-number', 500, 'LEDGER_API_INTERNAL_ERROR', 4, false, undefined],
    ['error-int-too-large', 400, 'INVALID_ARGUMENT', 8, false, 'invalid'],
    ['error-extra-field', 400, 'INVALID_ARGUMENT', 8, false, 'invalid'],
    ['error-missing-field', 400, 'COMMAND_PREPROCESSING_FAILED', 8, false, 'invalid'],
    ['error-contract-id-malformed', 400, 'INVALID_FIELD', 8, false, 'invalid'],
    ['error-contract-not-found', 500, 'NA', -1, undefined, undefined],
    ['error-unknown-template', 404, 'TEMPLATES_OR_INTERFACES_NOT_FOUND', 11, false, 'packages'],
    ['error-unknown-package-name', 404, 'PACKAGE_NAMES_NOT_FOUND', 11, false, 'packages'],
    ['error-template-without-hash', 404, 'TEMPLATES_OR_INTERFACES_NOT_FOUND', 11, false, 'packages'],
    ['error-unknown-choice', 400, 'INVALID_ARGUMENT', 8, false, 'invalid'],
    ['error-party-unknown-actas', 404, 'UNKNOWN_INFORMEES', 11, false, undefined],
    ['error-authorization', 400, 'DAML_AUTHORIZATION_ERROR', 8, false, 'authorization'],
    ['error-no-user', 400, 'INVALID_TOKEN', 8, false, undefined],
    ['error-no-actas', 400, 'MISSING_FIELD', 8, false, undefined],
    ['error-no-commands', 400, 'MISSING_FIELD', 8, false, undefined],
    ['exercise-in-flight', 400, 'UNKNOWN_CONTRACT_SYNCHRONIZERS', 9, false, 'contention'],
    ['reassignment-assign-again', 400, 'INVALID_ARGUMENT', 8, false, 'invalid'],
    ['update-by-id-unknown', 404, 'UPDATE_NOT_FOUND', 11, false, undefined],
    ['pruned-dedup-offset-0', 400, 'INVALID_DEDUPLICATION_PERIOD', 9, true, undefined],
    ['token-expires-in-long-poll', 409, 'ACCESS_TOKEN_EXPIRED', 2, false, undefined],
    ['auth-none', 401, 'NA', -1, undefined, undefined],
    ['auth-insufficient-right', 403, 'NA', -1, undefined, undefined],
  ] as const)('%s is %d %s', (name, status, code, errorCategory, definiteAnswer, reason) => {
    const [, failure] = failures.find(([file]) => file === name) ?? [];
    const error = read(failure?.path ?? '', failure?.status ?? 0, failure?.body);
    expect(error).toMatchObject({ status, code, errorCategory });
    if (error instanceof PrunedError) throw new Error('not pruned');
    expect(error.definiteAnswer).toBe(definiteAnswer);
    if (reason !== undefined) expect(rejectionReason(error)).toBe(reason);
    const named = listAt(failure?.body, 'resources').filter(
      (resource) => at(resource, 0) === 'ErrorResource(CONTRACT_ID)',
    );
    expect(error.contractIds).toEqual(expect.arrayContaining(named.map((resource) => at(resource, 1))));
  });

  it('says what helps where neither the request nor a token names the user', () => {
    const [, failure] = failures.find(([file]) => file === 'error-no-user') ?? [];
    const error = read(failure?.path ?? '', failure?.status ?? 0, failure?.body);
    expect(error.message).toContain('Next: pass userId');
    const submission = { submissionId: 's', commandId: 'c', userId: '', actAs: [], sentAt: 0, attempts: 1 };
    const rejected = new SubmissionRejectedError(error as ApiError, submission);
    expect(rejected.message).toContain('Next: pass userId');
    // the person at the screen lacks no right
    expect(rejected.summary).toBe('The request is not valid, and nothing has changed.');
  });
});
