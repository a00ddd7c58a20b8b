/** @jest-environment-options {"globalsCleanup":"off"} */
// zone.js patches globals that Jest would delete
import '@angular/compiler';
import 'zone.js';
import 'zone.js/plugins/proxy';
import 'zone.js/plugins/fake-async-test';
import { provideZoneChangeDetection, TransferState } from '@angular/core';
import { fakeAsync, TestBed, tick } from '@angular/core/testing';
import { expect, it } from '@jest/globals';
import { delay, of } from 'rxjs';
import { injectSubmit, LEDGER } from '../../src/angular/index.js';
import { provideContractsTesting } from '../../src/angular/testing/index.js';
import type { SubmitOutcome } from '../../src/angular/index.js';
import type { SubmittedTransaction } from '../../src/codecs/Transaction.js';
import { inject } from './support.js';

/** The zone in which `zone.js/testing` runs each test. */
const inTestZone = (test: () => void) => (): void => {
  const { ProxyZoneSpec } = Zone as unknown as { ProxyZoneSpec: new () => ZoneSpec };
  Zone.current.fork(new ProxyZoneSpec()).run(test);
};

it(
  'the promise of an outcome resolves in the time of fakeAsync',
  inTestZone(
    fakeAsync(() => {
      const transaction = { _tag: 'Transaction', updateId: 'u2', offset: 2 } as SubmittedTransaction;
      const transaction$ = of(transaction).pipe(delay(1_000));
      TestBed.configureTestingModule({
        providers: [
          provideZoneChangeDetection(),
          { provide: TransferState, useValue: new TransferState() },
          provideContractsTesting(),
          { provide: LEDGER, useValue: {} },
        ],
      });
      const form = inject(() => injectSubmit());
      const outcomes: (SubmitOutcome | undefined)[] = [];
      const add = (outcome: SubmitOutcome | undefined): unknown => outcomes.push(outcome);
      void form.submit(transaction$).then(add);
      void form.submit(transaction$).then(add);
      tick(999);
      expect(outcomes).toEqual([undefined]);
      tick(1);
      expect(outcomes).toEqual([undefined, { _tag: 'Committed', transaction }]);
    }),
  ),
);
