import { defer, of, switchMap, type Observable } from 'rxjs';
import { help } from '../help.js';
import type { World } from '../World.js';
import { readTailOptions } from './readTailOptions.js';
import { socketPort } from './socketPort.js';
import { tail } from './tail.js';

/** `canton-rx tail`; emits the exit code, once. */
export function tailCommand(args: readonly string[], world: World): Observable<number> {
  const options = readTailOptions(args, world);
  if (options === 'help') {
    world.stdout.write(`${help.tail}\n`);
    return of(0);
  }
  if (!options.isPushed) return tail(options, world);
  return defer(() => socketPort()).pipe(switchMap((port) => tail(options, world, port)));
}
