import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, NEVER } from 'rxjs';
import { snapshotsOf } from '../../src/contracts/snapshot/request.js';
import { Service } from '../../src/feed/Service.js';

const link = {
  port: () => NEVER,
  baseUrl: 'http://ledger.example',
  headers: {},
  token: undefined,
  requestTimeoutMs: 30_000,
};

/** The clock of the machine, in milliseconds. */
let now = 0;

beforeEach(() => {
  now = 1_000_000;
  jest.spyOn(asyncScheduler, 'now').mockImplementation(() => now);
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('the pages of the snapshots of a service', () => {
  it('are requested again a minute after they were missing, or if the clock was set back', () => {
    const snapshots = snapshotsOf(new Service(link));
    expect(snapshots.hasPages).toBe(true);
    snapshots.pagesMissing();
    now += 59_999;
    expect(snapshots.hasPages).toBe(false);
    now += 1;
    expect(snapshots.hasPages).toBe(true);
    snapshots.pagesMissing();
    now -= 3_600_000;
    expect(snapshots.hasPages).toBe(true);
  });

  it('are no larger because a larger one fails late', () => {
    const snapshots = snapshotsOf(new Service(link));
    snapshots.tooLarge(20);
    expect(snapshots.limit).toBe(10);
    snapshots.tooLarge(500);
    expect(snapshots.limit).toBe(10);
  });

  it('are the same over another link, and others for another service', () => {
    const service = new Service(link);
    snapshotsOf(service).pagesMissing();
    expect(snapshotsOf(service.withLink(link, () => undefined)).hasPages).toBe(false);
    expect(snapshotsOf(new Service(link)).hasPages).toBe(true);
  });
});
