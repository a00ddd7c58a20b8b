import { describe, expect, it } from '@jest/globals';
import { of } from 'rxjs';
import { createLedger, type HttpPort, type HttpResponse } from '../../src/index.js';
import { observe, type Observed } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';
import { errorBody } from '../helpers/wire.js';
import { signedRequest } from './support.js';

const commands = [{ CreateCommand: { templateId: '#p:M:E', createArguments: {} } }];
const request = { commandId: 'c', userId: 'u', actAs: ['alice::1220ab'], commands } as const;
const kinds = ['hosted', 'signed'] as const;

/** Submits over a port, in virtual time. */
const submit = (
  port: HttpPort,
  kind: (typeof kinds)[number] = 'hosted',
  recover: false | { withinMs: number } = false,
): Observed<unknown> =>
  marbles(({ flush }) => {
    const ledger = createLedger({ baseUrl: 'http://ledger.example', port });
    const seen = observe(
      kind === 'hosted'
        ? ledger.submitAndWaitForTransaction(request, { recover })
        : ledger.executeAndWaitForTransaction(signedRequest, { recover }),
    );
    flush();
    return seen;
  });

const answer = (status: number, text: string): HttpResponse => ({
  status,
  headers: { server: 'nginx', location: 'https://ledger.example/x?code=hush' },
  text,
});
const end = answer(200, '{"offset":3,"participantId":"p"}');
const isSubmission = (url: string): boolean => /submit|execute/.test(url);

const statuses = [302, 308, 400, 403, 404, 405, 413, 501].map((status) => answer(status, '<html>nginx</html>'));
const texts = ['<html>nginx</html>', '{"status":"ok"}', '{}', 'null', '[]', 'OK'].map((text) => answer(200, text));
const cases = [...statuses, ...texts].flatMap((foreign) =>
  kinds.map((kind) => ({ kind, foreign, status: foreign.status, text: foreign.text })),
);

describe('an answer of the network to a submission', () => {
  it.each(cases)(
    'says that the address is wrong if nothing has answered, and another request gets the same: $kind, $status $text',
    ({ kind, foreign }) => {
      const { error, endedAt } = submit(() => of(foreign), kind, { withinMs: 60_000 });
      expect(error).toMatchObject({ _tag: 'NotSentError', message: expect.stringContaining('nginx') });
      expect(String(error)).not.toContain('hush');
      expect(endedAt).toBeLessThan(1_000);
    },
  );

  it.each(
    [
      [answer(301, ''), answer(308, '')],
      [answer(302, ''), answer(307, '')],
      [answer(404, '<html>nginx</html>'), answer(405, '<html>nginx</html>')],
      [answer(200, '<html>nginx</html>'), answer(405, '<html>nginx</html>')],
      [answer(404, '<html>nginx</html>'), answer(501, '<html>nginx</html>')],
    ].flatMap(([toGet, toPost]) =>
      kinds.map((kind) => ({ kind, toGet, toPost, get: toGet?.status, post: toPost?.status })),
    ),
  )(
    'says that the address is wrong if a server answers every GET, and every POST, the same: $kind, $get and $post',
    ({ kind, toGet = end, toPost = end }) => {
      const port: HttpPort = ({ method }) => of(method === 'GET' ? toGet : toPost);
      expect(submit(port, kind, { withinMs: 60_000 }).error).toMatchObject({ _tag: 'NotSentError' });
      // a participant answers what reads
      const missing = answer(404, JSON.stringify(errorBody('UPDATE_NOT_FOUND', 11)));
      const gateway: HttpPort = ({ method, url }) => {
        const read = method === 'GET' ? toGet : missing;
        return of(isSubmission(url) ? toPost : read);
      };
      expect(submit(gateway, kind).error).toMatchObject({ _tag: 'OutcomeUnknownError' });
    },
  );

  it.each(
    [
      // a gateway that lets no GET pass, and a user who may not read
      [404, answer(405, '<html>nginx</html>')],
      [404, answer(403, JSON.stringify(errorBody('PERMISSION_DENIED', 7)))],
      [403, answer(403, JSON.stringify(errorBody('PERMISSION_DENIED', 7)))],
    ].flatMap(([status, toGet]) =>
      kinds.map((kind) => ({ kind, status: Number(status), toGet: toGet as HttpResponse })),
    ),
  )(
    'decides nothing if the ledger answers another request with the same status: $kind, $status',
    ({ kind, status, toGet }) => {
      const read = answer(404, JSON.stringify(errorBody('UPDATE_NOT_FOUND', 11)));
      const gateway: HttpPort = ({ method, url }) => {
        const toRead = method === 'GET' ? toGet : read;
        return of(isSubmission(url) ? answer(status, '<html>nginx</html>') : toRead);
      };
      expect(submit(gateway, kind).error).toMatchObject({ _tag: 'OutcomeUnknownError' });
    },
  );

  it.each(kinds)('waits for nothing if other servers answer each request otherwise: %s', (kind) => {
    const port: HttpPort = ({ method, url }) => {
      const toRead = answer(method === 'GET' ? 405 : 403, '<html>nginx</html>');
      return of(isSubmission(url) ? answer(404, '<html>nginx</html>') : toRead);
    };
    const { error, endedAt } = submit(port, kind);
    expect(error).toMatchObject({ _tag: 'OutcomeUnknownError' });
    expect(endedAt).toBeLessThan(1_000);
  });

  it.each(cases)('decides nothing if the ledger answers another request: $kind, $status $text', ({ kind, foreign }) => {
    const { error } = submit(({ url }) => of(isSubmission(url) ? foreign : end), kind);
    expect(error).toMatchObject({ _tag: 'OutcomeUnknownError' });
  });

  it.each(cases)(
    'decides nothing if the ledger has answered before, whatever answers then: $kind, $status $text',
    ({ kind, foreign }) => {
      for (const recover of [false, { withinMs: 30_000 }] as const) {
        let isCommitted = false;
        const port: HttpPort = ({ url }) => {
          isCommitted ||= isSubmission(url);
          return of(isCommitted ? foreign : end);
        };
        expect(submit(port, kind, recover).error).toMatchObject({ _tag: 'OutcomeUnknownError' });
        expect(isCommitted).toBe(true);
      }
    },
  );

  it.each(cases)(
    'decides nothing if another answer follows, although none was of the ledger before: $kind, $status $text',
    ({ kind, foreign }) => {
      for (const later of [end, answer(451, '<html>')]) {
        let isSent = false;
        const port: HttpPort = ({ url }) => {
          const isAttempt = isSubmission(url);
          isSent ||= isAttempt;
          // the start cannot be read
          return of(isSent && !isAttempt ? later : foreign);
        };
        expect(submit(port, kind).error).toMatchObject({ _tag: 'OutcomeUnknownError' });
      }
    },
  );

  it.each([
    [503, 'The server was not able to produce a timely response to your request'],
    [404, '{"errors":[],"status":404,"ledgerApiError":null}'],
    [503, JSON.stringify(errorBody('SERVER_IS_NOT_SERVING', 1))],
    [200, '{"offset":"three"}'],
  ])('decides nothing if the participant has answered before with an error: %d %s', (status, text) => {
    let isSent = false;
    const port: HttpPort = ({ url }) => {
      isSent ||= isSubmission(url);
      return of(isSent ? answer(404, '<html>') : answer(status, text));
    };
    expect(submit(port, 'signed').error).toMatchObject({ _tag: 'OutcomeUnknownError' });
  });

  it('says that the address is wrong if any server may have answered before', () => {
    let count = 0;
    const first = answer(405, 'Method Not Allowed');
    const { error } = submit(() => of((count += 1) === 1 ? first : answer(404, '<html>')), 'signed');
    expect(error).toMatchObject({ _tag: 'NotSentError' });
  });

  it.each([
    [400, 'Invalid value for: body (expected string)'],
    [413, 'EntityStreamSizeException: incoming entity size'],
    [403, JSON.stringify(errorBody('NA', -1))],
    [403, JSON.stringify(errorBody('USER_NOT_FOUND', -1))],
    [404, JSON.stringify(errorBody('NEW_ERROR', -1))],
  ])('is unlike an answer of the participant, which is a rejection: %d %s', (status, text) => {
    for (const kind of kinds) {
      const { error, endedAt } = submit(({ url }) => of(isSubmission(url) ? answer(status, text) : end), kind, {
        withinMs: 240_000,
      });
      expect(error).toMatchObject({ _tag: 'SubmissionRejectedError', status });
      expect(endedAt).toBe(0);
    }
  });
});
