import { ask } from '../bareRead.js';
import { origin } from '../ledgerText.js';
import type { Load, Outcome } from '../Load.js';
import { restingShare } from '../restingShare.js';

/** As many long polls by fetch, each asked again when nothing has come. */
export async function measure({ url, count }: Load): Promise<Outcome> {
  let isOver = false;
  const poll = async (): Promise<void> => {
    while (!isOver) await ask(url, 'limit=1&stream_idle_timeout_ms=5000', { beginExclusive: origin });
  };
  for (let i = 0; i < count; i += 1) void poll();
  const cost = await restingShare();
  isOver = true;
  return { cost };
}
