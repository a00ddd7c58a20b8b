import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, NEVER } from 'rxjs';
import { Service } from '../../src/feed/Service.js';
import type { Link } from '../../src/http/Link.js';
import { isSocketBackOff, socketEnded } from '../../src/ws/SocketBackOff.js';

const link: Omit<Link, 'report'> = {
  port: () => NEVER,
  baseUrl: 'http://ledger.example',
  headers: {},
  token: undefined,
  requestTimeoutMs: 30_000,
};

const newService = (): Service => new Service(link);

/** The clock of the machine, in milliseconds. */
let now = 0;

beforeEach(() => {
  now = 1_000_000;
  jest.spyOn(asyncScheduler, 'now').mockImplementation(() => now);
  // the longest delay of the back-off
  jest.spyOn(Math, 'random').mockReturnValue(1);
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('the back-off of sockets', () => {
  /** The delay after each of the sockets, which end one after another. */
  const delays = (service: Service, ...results: readonly Parameters<typeof socketEnded>[1][]): number[] =>
    results.map((result) => {
      const delayMs = socketEnded(service, result);
      now += delayMs;
      return delayMs;
    });

  it('ends with its delay', () => {
    const service = newService();
    expect(isSocketBackOff(service)).toBe(false);
    const delayMs = socketEnded(service, 'empty');
    expect(isSocketBackOff(service)).toBe(true);
    now += delayMs - 1;
    expect(isSocketBackOff(service)).toBe(true);
    now += 1;
    expect(isSocketBackOff(service)).toBe(false);
  });

  it('doubles while sockets bring nothing, up to five minutes', () => {
    const empty = Array.from({ length: 10 }, () => 'empty' as const);
    expect(delays(newService(), ...empty)).toEqual([
      2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000,
    ]);
  });

  it('is short again after a socket that has brought elements', () => {
    expect(delays(newService(), 'empty', 'empty', 'delivered', 'empty')).toEqual([2_000, 4_000, 1_000, 2_000]);
  });

  it('does not apply if another path is to be tried', () => {
    const service = newService();
    expect(delays(service, 'empty', 'pathSwitched')).toEqual([2_000, 0]);
    expect(isSocketBackOff(service)).toBe(false);
  });

  it('counts sockets that end within one delay as one failure', () => {
    const service = newService();
    expect([socketEnded(service, 'empty'), socketEnded(service, 'empty'), socketEnded(service, 'empty')]).toEqual([
      2_000, 2_000, 2_000,
    ]);
  });

  it('is not prolonged when the clock is set back', () => {
    const service = newService();
    socketEnded(service, 'empty');
    now -= 3_600_000;
    expect(isSocketBackOff(service)).toBe(false);
  });

  it('is the same for a service over any link, and another for another service', () => {
    const service = newService();
    socketEnded(
      service.withLink(link, () => undefined),
      'empty',
    );
    expect(isSocketBackOff(service)).toBe(true);
    expect(isSocketBackOff(newService())).toBe(false);
  });
});
