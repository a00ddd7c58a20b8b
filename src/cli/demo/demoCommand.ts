import { catchError, defer, type Observable, of, switchMap } from 'rxjs';
import { parsed } from '../arguments.js';
import { help } from '../help.js';
import { hasCode, type World } from '../World.js';

const packages = '@canton-network/core-ledger-proto @canton-network/core-tx-visualizer';

/** `canton-rx demo`; emits the exit code, once. */
export function demoCommand(args: readonly string[], { stdout, stderr }: World): Observable<number> {
  if (parsed(args, { help: { type: 'boolean', short: 'h' } }).help === true) {
    stdout.write(`${help.demo}\n`);
    return of(0);
  }
  // not with the other commands: it needs packages that they do not
  return defer(() => import('./demo.js')).pipe(
    switchMap(({ demo }) => demo(stdout)),
    catchError((error: unknown) => {
      if (!hasCode(error, 'ERR_MODULE_NOT_FOUND')) throw error;
      stderr.write(`the demo verifies what it signs, by two packages more: npm install ${packages}\n`);
      return of(1);
    }),
  );
}
