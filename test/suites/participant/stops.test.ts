import { describe } from '@jest/globals';
import { testFaults } from './faultTests.js';
import { isWriting } from './writing.js';

/** The answer of a participant that is stopped to requests that wait. */
const stopped = {
  code: 'LEDGER_API_INTERNAL_ERROR',
  cause: 'GraphStage [...] terminated abruptly, caused by for example materializer or actor system termination.',
  correlationId: null,
  traceId: null,
  context: { category: '4' },
  resources: [],
  errorCategory: 4,
  grpcCodeValue: 13,
  retryInfo: null,
  definiteAnswer: null,
};

(isWriting ? describe : describe.skip)('a participant', () => {
  testFaults([
    ['404 and a page, as an ingress without a backend', { status: 404, body: '<html>default backend - 404</html>' }],
    ['520, as a CDN', { status: 520, body: '<html>520: Web server is returning an unknown error</html>' }],
    ['530, as a CDN', { status: 530, body: 'error code: 1033' }],
    [
      '500 LEDGER_API_INTERNAL_ERROR, as one that stops',
      { status: 500, body: JSON.stringify(stopped), headers: { 'content-type': 'application/json' } },
    ],
  ]);
});
