import { defer, EMPTY, interval, tap, type Observable } from 'rxjs';
import type { Sandbox } from '../../sandbox/index.js';
import type { SandboxCommandOptions } from './SandboxCommandOptions.js';

const tickMs = 50;

/** Generates traffic at a rate for as long as it is subscribed. */
export const traffic = (sandbox: Sandbox, { rate, seed }: SandboxCommandOptions): Observable<unknown> =>
  rate === 0
    ? EMPTY
    : defer(() => {
        const begin = Date.now();
        let made = 0;
        return interval(Math.max(tickMs, 1_000 / rate)).pipe(
          tap(() => {
            // by the clock, so that a late tick does not lower the rate
            const due = Math.floor(((Date.now() - begin) * rate) / 1_000) - made;
            sandbox.generate(due, { seed });
            made += due;
          }),
        );
      });
