import { describe, expect, it } from '@jest/globals';
import { httpStatusOf } from '../../src/http/socket.js';

describe('the HTTP status of an error that a WebSocket brought', () => {
  it('is what the participant would have answered by HTTP', () => {
    const codes = Array.from({ length: 17 }, (_, code) => code);
    expect(codes.map(httpStatusOf)).toEqual([
      500, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401,
    ]);
    expect(httpStatusOf(undefined)).toBe(500);
  });
});
