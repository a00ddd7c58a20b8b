import { isLedgerResetError } from '../errors/LedgerResetError.js';
import { isPrunedError } from '../errors/PrunedError.js';

/** What to say where the same command would fail again for ever. */
interface Words {
  readonly pruned: (earliest: number) => string;
  readonly reset: string;
}

/** What is left to do about a gap, which asking again does not fill; `undefined` for any other error. */
export function gapAdvice(error: unknown, { pruned, reset }: Words): string | undefined {
  if (isLedgerResetError(error)) return reset;
  if (!isPrunedError(error)) return undefined;
  const { earliestOffset } = error;
  return earliestOffset === undefined
    ? 'what was pruned is gone'
    : `what was pruned is gone: ${pruned(earliestOffset)}`;
}
