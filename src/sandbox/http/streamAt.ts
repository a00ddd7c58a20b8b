import type { Settings } from '../participant/Settings.js';
import { routes } from './routes.js';
import type { Stream } from './Stream.js';

/** What a WebSocket gets at a path, `undefined` if there is none. */
export function streamAt(path: string, { interfaceOnly }: Settings): Stream | undefined {
  return interfaceOnly ? undefined : routes.get(path)?.stream;
}
