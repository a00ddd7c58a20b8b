/** @jest-environment-options {"globalsCleanup":"off"} */
// zone.js patches globals that Jest would delete
import '@angular/compiler';
import 'zone.js';
import {
  ApplicationRef,
  Injector,
  NgZone,
  PLATFORM_ID,
  provideZoneChangeDetection,
  TransferState,
} from '@angular/core';
import type { Provider } from '@angular/core';
import { TestBed } from '@angular/core/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { defer, delay, filter, firstValueFrom, lastValueFrom, NEVER, of, take, tap, timer } from 'rxjs';
import { injectContracts, injectSession, injectSubmit, provideLedger } from '../../src/angular/index.js';
import type { SubmittedTransaction } from '../../src/codecs/Transaction.js';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import type { HttpPort } from '../../src/http/HttpPort.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import type { Ledger } from '../../src/ledger/Ledger.js';
import { processFeed, updatesFeed } from '../../src/process/index.js';
import { ledgerSession } from '../../src/session/index.js';
import { observe } from '../helpers/observe.js';
import { scriptedService, type ScriptedService } from '../helpers/scripted.js';
import { VirtualLedger } from '../helpers/virtualLedger.js';
import { fill, upTo } from '../helpers/world.js';
import { sandboxes } from '../helpers/localServers.js';
import { until } from '../helpers/time.js';
import { all, childInjector, ledgerOf } from './support.js';

const sandbox = sandboxes();
const timers: ReturnType<typeof setInterval>[] = [];
afterEach(() => {
  timers.splice(0).forEach(clearInterval);
});

/** A service that answers each request in a later task, like a remote one, and never answers a poll. */
function service(length = 3): ScriptedService {
  const ledger = new VirtualLedger();
  fill(ledger, ...upTo(length));
  return scriptedService((request) =>
    'stream_idle_timeout_ms' in request.query ? NEVER : ledger.reply(request).pipe(take(1), delay(1)),
  );
}

/** A ledger in an application with zone.js. */
function inZone(
  { port }: Pick<ScriptedService, 'port'>,
  ...providers: readonly Provider[]
): { ledger: Ledger; zone: NgZone; app: ApplicationRef } {
  const ledger = ledgerOf(
    provideZoneChangeDetection(),
    provideLedger({ baseUrl: 'http://ledger.example', port }),
    ...providers,
  );
  return { ledger, zone: TestBed.inject(NgZone), app: TestBed.inject(ApplicationRef) };
}

/** Counts the renderings of the application. */
const renderings = (zone: NgZone): { count: number } => {
  const seen = { count: 0 };
  zone.onMicrotaskEmpty.subscribe(() => (seen.count += 1));
  return seen;
};

const caughtUp = (ledger: Ledger): Promise<unknown> =>
  firstValueFrom(ledger.diagnostics$.pipe(filter(({ _tag }) => _tag === 'CaughtUp')));

describe('in an application with zone.js', () => {
  it('a feed does not keep the application unstable', async () => {
    const participant = service();
    const { ledger, zone, app } = inZone(participant);
    const seen = zone.run(() => observe(ledger.updates(all)));
    await caughtUp(ledger);
    await app.whenStable();
    expect(zone.hasPendingMacrotasks).toBe(false);
    expect(seen.values).toHaveLength(3);
    expect(participant.open).toBe(1);
    seen.subscription.unsubscribe();
    expect(participant.open).toBe(0);
  });

  it('a feed over the network does not keep it unstable, unless its ledger is not injected', async () => {
    const { url } = await sandbox();
    const ledger = ledgerOf(provideZoneChangeDetection(), provideLedger({ baseUrl: url }));
    const zone = TestBed.inject(NgZone);
    const isPoll = (event: Diagnostic): boolean => event._tag === 'PollSent' && event.idleTimeoutMs !== undefined;
    const run = async (of: Ledger): Promise<boolean> => {
      const sent = firstValueFrom(of.diagnostics$.pipe(filter(isPoll)));
      const { subscription } = zone.run(() => observe(of.updates(all)));
      await sent;
      const isBusy = zone.hasPendingMacrotasks;
      subscription.unsubscribe();
      return isBusy;
    };
    expect(await run(ledger)).toBe(false);
    expect(await run(createLedger({ baseUrl: url }))).toBe(true);
  });

  it('contracts that are kept for the next page do not keep it unstable', () => {
    const { zone } = inZone(service(), { provide: TransferState, useValue: new TransferState() });
    const page = childInjector();
    const query = { parties: 'any', types: {} } as const;
    const resource = zone.run(() => injectContracts(query, { injector: page.get(Injector) }));
    expect(resource.status()).toBe('loading');
    zone.run(() => {
      page.destroy();
    });
    expect(zone.hasPendingMacrotasks).toBe(false);
  });

  it('a feed that waits for a retry does not keep it unstable', async () => {
    const { ledger, zone } = inZone(scriptedService(() => of(new Error('down'))));
    const { subscription } = zone.run(() => observe(ledger.updates(all, { retry: { baseDelayMs: 60_000 } })));
    await firstValueFrom(timer(5));
    expect(zone.hasPendingMacrotasks).toBe(false);
    subscription.unsubscribe();
  });

  it('updates, errors, completion and diagnostics are emitted within the zone', async () => {
    const { ledger, zone } = inZone(service());
    const within: string[] = [];
    const note = (what: string) => () => {
      within.push(`${what} ${NgZone.isInAngularZone()}`);
    };
    await new Promise<void>((resolve) => {
      ledger.diagnostics$.pipe(take(1)).subscribe(note('event'));
      zone.runOutsideAngular(() =>
        ledger
          .updates({ ...all, endInclusive: 1 })
          .pipe(tap({ next: note('update'), complete: note('end') }))
          .subscribe({ complete: resolve }),
      );
    });
    TestBed.resetTestingModule();
    const { ledger: broken } = inZone(scriptedService(() => of({ status: 400, headers: {}, text: '' })));
    broken.updates(all).subscribe({ error: note('error') });
    expect(within).toEqual(['event true', 'update true', 'end true', 'error true']);
  });

  it('the state of a session and the outcome of a submission are rendered, although they change outside the zone', async () => {
    const { zone } = inZone(service());
    const seen = renderings(zone);
    const session = ledgerSession({ token: () => 'a', name: 'zone' });
    const [{ state }, form] = TestBed.runInInjectionContext(() =>
      zone.run(() => [injectSession(session), injectSubmit()] as const),
    );
    seen.count = 0;
    await zone.runOutsideAngular(() => session.signOut());
    await zone.runOutsideAngular(() => session.signIn());
    await until(() => state() === 'active');
    expect(seen.count).toBeGreaterThan(0);
    seen.count = 0;
    await zone.runOutsideAngular(() => form.submit(of({ offset: 1 } as SubmittedTransaction)));
    expect([form.outcome()?._tag, seen.count > 0]).toEqual(['Committed', true]);
  });

  it('a page of updates is rendered once, not once for each update', async () => {
    const { ledger, zone } = inZone(service(200));
    const seen = renderings(zone);
    const { values, subscription } = observe(ledger.updates(all));
    await caughtUp(ledger);
    expect(values).toHaveLength(200);
    expect(seen.count).toBeGreaterThan(0);
    // the page, and the diagnostic that the test waits for
    expect(seen.count).toBeLessThanOrEqual(3);
    subscription.unsubscribe();
  });

  it('handlers and the Observables that they return run within the zone, and their feed outside', async () => {
    const within: boolean[] = [];
    const { ledger, zone } = inZone(service(1));
    const note = (): unknown => within.push(NgZone.isInAngularZone());
    const handler = () => of(note()).pipe(tap(note));
    await lastValueFrom(processFeed(updatesFeed(ledger, { ...all, endInclusive: 1 }), handler));
    expect(within).toEqual([true, true]);
    expect(zone.hasPendingMacrotasks).toBe(false);
  });

  it('a single request keeps the application unstable until its answer', async () => {
    const { ledger, zone, app } = inZone(service());
    const { values } = zone.run(() => observe(ledger.ledgerEnd()));
    expect(zone.hasPendingMacrotasks).toBe(true);
    await app.whenStable();
    expect(values).toEqual([3]);
  });

  it('a single request does so on a server, but the timers of its client do not', async () => {
    // the fetch of Node.js has such a timer, which connections of feeds keep pending
    const { port } = service();
    const client: HttpPort = (request) =>
      defer(() => {
        timers.push(setInterval(() => undefined, 60_000));
        return port(request);
      });
    const server = { provide: PLATFORM_ID, useValue: 'server' };
    const { ledger, zone, app } = inZone({ port: client }, server);
    const within: boolean[] = [];
    const { values } = zone.run(() =>
      observe(ledger.ledgerEnd().pipe(tap(() => within.push(NgZone.isInAngularZone())))),
    );
    expect(zone.hasPendingMacrotasks).toBe(true);
    await app.whenStable();
    expect({ values, within }).toEqual({ values: [3], within: [true] });
    expect(timers).toHaveLength(1);
  });
});
