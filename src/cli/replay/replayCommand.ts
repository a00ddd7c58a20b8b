import { of, type Observable } from 'rxjs';
import { help } from '../help.js';
import type { World } from '../World.js';
import { readReplayOptions } from './readReplayOptions.js';
import { replay } from './replay.js';

/** `canton-rx replay`; emits the exit code, once. */
export function replayCommand(args: readonly string[], world: World): Observable<number> {
  const options = readReplayOptions(args, world.env);
  if (options !== 'help') return replay(options, world);
  world.stdout.write(`${help.replay}\n`);
  return of(0);
}
