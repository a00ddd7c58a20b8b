import { timerMs } from '../http/timerMs.js';
import type { Ledger } from '../ledger/Ledger.js';

/** Waits for a change of the ledger, and tells what came first: it, the end of the time, or the signal. */
export function changeWithin(ms: number, ledger: Ledger, signal: AbortSignal): Promise<'change' | 'time' | 'signal'> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, timerMs(ms), 'time');
    const unlisten = ledger.listen(() => {
      end('change');
    });
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();

    function onAbort() {
      end('signal');
    }

    function end(by: 'change' | 'time' | 'signal') {
      clearTimeout(timer);
      unlisten();
      signal.removeEventListener('abort', onAbort);
      resolve(by);
    }
  });
}
