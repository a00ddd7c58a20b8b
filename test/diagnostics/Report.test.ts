import { describe, expect, it, jest } from '@jest/globals';
import { Subject } from 'rxjs';
import { type DiagnosticBody, type Diagnostic, reportTo } from '../../src/diagnostics/Diagnostic.js';
import { observe } from '../helpers/observe.js';

describe('a report', () => {
  it('is not even made while nobody listens', () => {
    const make = jest.fn((): DiagnosticBody => ({ _tag: 'CaughtUp', cursor: 7 }));
    const events = new Subject<Diagnostic>();
    reportTo(events, 1)(make);
    expect(make).not.toHaveBeenCalled();
    const seen = observe(events);
    reportTo(events, 1)(make);
    seen.subscription.unsubscribe();
    reportTo(events, 1)(make);
    expect(make).toHaveBeenCalledTimes(1);
    expect(seen.values).toEqual([{ _tag: 'CaughtUp', cursor: 7, feed: 1, at: expect.any(Number) }]);
  });

  it('on behalf of no feed names none', () => {
    const events = new Subject<Diagnostic>();
    const seen = observe(events);
    reportTo(events)(() => ({ _tag: 'TokenRefreshed', path: '/x' }));
    expect(seen.values[0]).not.toHaveProperty('feed');
  });
});
