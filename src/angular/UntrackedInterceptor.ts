import { untracked } from '@angular/core';
import type { Interceptor, LedgerInfo } from '../client/Interceptor.js';

/**
 * An interceptor of the program, called where no signal is tracked. The ledger calls its methods when an effect subscribes: the
 * effect would otherwise subscribe again, and submit a second time, when a signal changes that one of them reads.
 *
 * @internal
 */
export class UntrackedInterceptor implements Interceptor {
  constructor(private readonly inner: Interceptor) {}

  /** As a session has it. */
  get hasUserLeft(): boolean {
    return 'hasUserLeft' in this.inner && this.inner.hasUserLeft === true;
  }

  forLedger(ledger: LedgerInfo): Interceptor {
    return new UntrackedInterceptor(this.inner.forLedger?.(ledger) ?? this.inner);
  }

  readonly feed: Required<Interceptor>['feed'] = (call) => untracked(() => this.inner.feed?.(call));

  readonly submission: Required<Interceptor>['submission'] = (call) => untracked(() => this.inner.submission?.(call));

  readonly read: Required<Interceptor>['read'] = (call) => untracked(() => this.inner.read?.(call));

  readonly request: Required<Interceptor>['request'] = (call) => untracked(() => this.inner.request?.(call));

  readonly socket: Required<Interceptor>['socket'] = (call) => untracked(() => this.inner.socket?.(call));

  readonly handler: Required<Interceptor>['handler'] = (call) => untracked(() => this.inner.handler?.(call));

  // one that is async returns a promise, whose rejection the ledger ignores
  readonly report: Required<Interceptor>['report'] = (diagnostic) => untracked(() => this.inner.report?.(diagnostic));
}
