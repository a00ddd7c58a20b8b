import { describe, expect, it } from '@jest/globals';
import { lastValueFrom, of } from 'rxjs';
import { createLedger, type HttpPort, type HttpResponse } from '../../src/index.js';

const commands = [{ CreateCommand: { templateId: '#p:M:E', createArguments: {} } }];
const submit = (port: HttpPort): Promise<unknown> => {
  const ledger = createLedger({ baseUrl: 'http://ledger.example', port });
  const request = { commandId: 'c', userId: 'u', actAs: ['alice::1220ab'], commands } as const;
  return lastValueFrom(ledger.submitAndWaitForTransaction(request, { recover: false })).catch(
    (error: unknown) => error,
  );
};

const page = (status: number): HttpResponse => ({
  status,
  headers: { location: 'https://ledger.example/x?code=hush' },
  text: '<html>nginx</html>',
});
const statuses = [200, 302, 308, 400, 403, 404, 405, 413, 501];

describe('an answer of the network to a submission', () => {
  it.each(statuses)('says that the address is wrong if another request gets the same: %d', async (status) => {
    const error = await submit(() => of(page(status)));
    expect(error).toMatchObject({ _tag: 'NotSentError', message: expect.stringContaining('nginx') });
    expect(String(error)).not.toContain('hush');
  });

  it.each(statuses)('decides nothing if the ledger answers another request: %d', async (status) => {
    const error = await submit(({ url }) =>
      of(
        url.includes('submit') ? page(status) : { status: 200, headers: {}, text: '{"offset":3,"participantId":"p"}' },
      ),
    );
    expect(error).toMatchObject({ _tag: 'OutcomeUnknownError' });
  });

  it.each([
    [400, 'Invalid value for: body (expected string)'],
    [413, 'EntityStreamSizeException: incoming entity size'],
    [403, '{"code":"NA","cause":"","errorCategory":-1,"context":{}}'],
  ])('is unlike an answer of the participant, which is a rejection: %d', async (status, text) => {
    const error = await submit(({ url }) =>
      of(url.includes('submit') ? { status, headers: {}, text } : { status: 200, headers: {}, text: '{"offset":3}' }),
    );
    expect(error).toMatchObject({ _tag: 'SubmissionRejectedError', status });
  });
});
