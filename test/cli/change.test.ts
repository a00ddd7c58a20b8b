import { expect, it } from '@jest/globals';
import { NEVER, throwError, timeout } from 'rxjs';
import { explainUnanswered } from '../../src/cli/change.js';
import { runVirtually } from '../helpers/virtualTime.js';

it('says that a change may be made later if the database does not answer in time', () => {
  const errors: unknown[] = [];
  runVirtually(() => {
    NEVER.pipe(timeout(30_000), explainUnanswered('canton-rx outbox list')).subscribe({
      error: (error: unknown) => errors.push(error),
    });
  });
  expect(errors).toMatchObject([
    {
      trouble: {
        text: 'the database does not answer in time, and the change may have been made, or may be made later',
        next: 'canton-rx outbox list shows whether it was, before you repeat it',
      },
    },
  ]);
});

it.each([
  { code: '23505', severity: 'ERROR', message: 'duplicate key' },
  { code: '40001', severity: 'ERROR', message: 'could not serialize access' },
])('passes a refusal of the database on: $code', ({ message, ...rest }) => {
  const refusal = Object.assign(new Error(message), rest);
  const errors: unknown[] = [];
  throwError(() => refusal)
    .pipe(explainUnanswered('canton-rx outbox list'))
    .subscribe({ error: (error: unknown) => errors.push(error) });
  expect(errors).toEqual([refusal]);
});
