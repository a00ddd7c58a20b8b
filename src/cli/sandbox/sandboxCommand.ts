import { catchError, defer, finalize, ignoreElements, map, merge, NEVER, of, switchMap, take } from 'rxjs';
import type { Observable } from 'rxjs';
import { startSandbox, type Sandbox } from '../../sandbox/index.js';
import { hasCode } from '../hasCode.js';
import { help } from '../help.js';
import { interruptions } from '../interruptions.js';
import { messageOf } from '../messageOf.js';
import type { World } from '../World.js';
import { greeting } from './greeting.js';
import { readSandboxOptions } from './readSandboxOptions.js';
import type { SandboxCommandOptions } from './SandboxCommandOptions.js';
import { traffic } from './traffic.js';

/** `canton-rx sandbox`; emits the exit code, once. */
export function sandboxCommand(args: readonly string[], { stdout, stderr, signals }: World): Observable<number> {
  const options = readSandboxOptions(args);
  if (options === 'help') {
    stdout.write(`${help.sandbox}\n`);
    return of(0);
  }
  const serve = (sandbox: Sandbox): Observable<unknown> => {
    sandbox.generate(options.updates, options);
    stdout.write(greeting(sandbox, options, stdout));
    return merge(NEVER, traffic(sandbox, options)).pipe(finalize(() => void sandbox.close()));
  };
  const served$ = defer(() => startSandbox(options)).pipe(switchMap(serve), ignoreElements());
  return merge(interruptions(signals), served$).pipe(
    take(1),
    map(() => 0),
    catchError((error: unknown) => {
      stderr.write(`${failure(error, options)}\n`);
      return of(1);
    }),
  );
}

const failure = (error: unknown, { port }: SandboxCommandOptions): string =>
  hasCode(error, 'EADDRINUSE') ? `port ${port} is taken: choose another with --port` : messageOf(error);
