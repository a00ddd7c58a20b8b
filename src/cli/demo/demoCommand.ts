import { catchError, defer, type Observable, of, switchMap } from 'rxjs';
import { hasCode } from '../../file/durable.js';
import { parseOptions } from '../arguments.js';
import { errorLine, type World } from '../World.js';

const packages = '@canton-network/core-ledger-proto @canton-network/core-tx-visualizer';

/** `canton-rx demo`; emits the exit code, once. */
export function demoCommand(args: readonly string[], { stdout, stderr }: World): Observable<number> {
  parseOptions(args, {});
  // loaded on demand: it imports optional packages that the other commands do not need
  return defer(() => import('./demo.js')).pipe(
    switchMap(({ demo }) => demo(stdout)),
    catchError((error: unknown) => {
      if (!hasCode(error, 'ERR_MODULE_NOT_FOUND')) throw error;
      stderr.write(
        errorLine(`the demo requires two optional packages to verify what it signs: npm install ${packages}`),
      );
      return of(1);
    }),
  );
}
