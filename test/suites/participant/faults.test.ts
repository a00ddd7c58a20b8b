import { describe } from '@jest/globals';
import { testFaults } from './faultTests.js';
import { isWriting } from './writing.js';

(isWriting ? describe : describe.skip)('a participant', () => {
  testFaults([
    ['502 and a page of nginx', { status: 502, body: '<html><center>nginx/1.25</center></html>' }],
    ['503 and a Retry-After', { status: 503, body: 'no healthy upstream', headers: { 'retry-after': '1' } }],
    ['504', { status: 504, body: 'upstream request timeout' }],
    ['answers that are cut', 'cut'],
    ['connections that are reset', 'reset'],
  ]);
});
