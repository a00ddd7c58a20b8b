import '@angular/compiler';
import { effect, provideZonelessChangeDetection, signal, TransferState } from '@angular/core';
import { TestBed } from '@angular/core/testing';
import { describe, expect, it } from '@jest/globals';
import { defer, noop, of, throwError } from 'rxjs';
import {
  injectClearContracts,
  injectContracts,
  injectLedger,
  injectSession,
  injectSubmit,
  provideLedger,
} from '../../src/angular/index.js';
import type { Interceptor } from '../../src/client/Interceptor.js';
import type { CommandsRequest } from '../../src/codecs/SubmissionRequest.js';
import { liveContracts } from '../../src/contracts/index.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import type { LedgerOptions } from '../../src/ledger/LedgerOptions.js';
import { ledgerSession } from '../../src/session/index.js';
import { marbles } from '../contracts/joinSupport.js';
import { observe } from '../helpers/observe.js';
import { errorBody, errorReply, ok } from '../helpers/wire.js';
import { all, inject } from './support.js';

const command = { CreateCommand: { templateId: '#finance:Main:Iou', createArguments: {} } };
const refusal = errorReply(403, errorBody('PERMISSION_DENIED', 7));
const request: CommandsRequest = { actAs: ['alice::1220ab'], commands: [command] };

/** Returns what an effect calls. */
type Prepared = (options: LedgerOptions & { readonly token: () => string }) => () => unknown;

const calls: Readonly<Record<string, Prepared>> = {
  'submit of injectSubmit': () => {
    const form = injectSubmit();
    return () => void form.submit(request);
  },
  'retry of injectSubmit': ({ token }) => {
    const form = injectSubmit();
    void form.submit(defer(() => throwError(() => new Error(token()))));
    return () => void form.retry();
  },
  'submit of injectSubmit, to a ledger that is not provided': (options) => {
    const form = injectSubmit({ ledger: createLedger(options) });
    return () => void form.submit(request);
  },
  'a submission': () => {
    const ledger = injectLedger();
    return () => observe(ledger.submitAndWaitForTransaction(request));
  },
  'a read': () => {
    const ledger = injectLedger();
    return () => observe(ledger.ledgerEnd());
  },
  'a feed': () => {
    const ledger = injectLedger();
    return () => observe(ledger.updates(all));
  },
  'a live view': () => {
    const ledger = injectLedger();
    return () => observe(liveContracts(ledger, marbles).view$);
  },
  'reload of injectContracts': () => {
    const resource = injectContracts(marbles);
    return () => resource.reload();
  },
  'the function of injectClearContracts': () => {
    injectContracts(marbles);
    return injectClearContracts();
  },
  'signIn of injectSession': ({ token }) => {
    const { signIn } = injectSession(ledgerSession({ token, name: 'effects' }));
    return () => signIn().catch(noop);
  },
};

/** An interceptor of a program, which reads a signal in each of its methods. */
function interceptorOf(token: () => string): Interceptor {
  const read = (): undefined => void token();
  return {
    forLedger: () => ({
      request: () => ({ headers: { 'x-first': token() } }),
      socket: read,
      handler: read,
      report: read,
      feed: read,
      submission: read,
      read,
    }),
  };
}

describe('an effect', () => {
  // a submission would otherwise be sent a second time when the token is renewed
  it.each(Object.entries(calls))('does not depend on the signals that the ledger reads: %s', (_, prepare) => {
    const token = signal('first');
    const options = {
      baseUrl: 'http://ledger.example',
      token: () => token(),
      interceptors: [interceptorOf(token)],
      port: () => defer(() => of(token() === '' ? ok({}) : refusal)),
    };
    TestBed.configureTestingModule({
      providers: [
        provideZonelessChangeDetection(),
        { provide: TransferState, useValue: new TransferState() },
        provideLedger(options),
      ],
    });
    const call = inject(() => prepare(options));
    let runs = 0;
    inject(() =>
      effect(() => {
        runs += 1;
        call();
      }),
    );
    TestBed.tick();
    token.set('second');
    TestBed.tick();
    expect(runs).toBe(1);
  });
});
