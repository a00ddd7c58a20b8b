import { setImmediate as turnOfTheLoop, setTimeout as sleep } from 'node:timers/promises';
import { listen } from './listen.js';
import type { Service } from './Service.js';
import { timerMs } from './timerMs.js';

interface Restartable {
  readonly url: string;
  readonly restart: (downMs: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Opens the service at a port that it keeps over restarts. */
export async function restartable(wanted: number, service: Service): Promise<Restartable> {
  let current = await listen(wanted, service);
  const { url, port } = current;
  const closing = new AbortController();
  let turn = Promise.resolve();
  return { url, restart, close };

  function restart(downMs: number): Promise<void> {
    turn = turn.catch(ignore).then(() => reopen(downMs));
    return turn;
  }

  async function reopen(downMs: number): Promise<void> {
    await current.close();
    await sleep(timerMs(downMs), undefined, { signal: closing.signal }).catch(ignore);
    // a client in this process hears of the end of its connections first, and does not use them again
    await turnOfTheLoop();
    if (!closing.signal.aborted) current = await listen(port, service);
  }

  async function close(): Promise<void> {
    closing.abort();
    await current.close();
    await turn.catch(ignore);
    // a restart may have been opening the port
    await current.close();
  }
}

function ignore(): void {
  // its caller is told
}
