import type { Outcome } from './play.js';

/** What a feed that was not forced to end has not come to, though all has been calm for long. */
export function flawsOfLoss({
  seen,
  audit,
  ledger,
  begin,
  bound,
  gaps,
  schedule,
  inflicted,
}: Outcome): readonly string[] {
  // what hides the ledger end hides it for a minute
  const isUntold =
    schedule.profile === 'interface' ||
    ['404 path', '405 path', '501 path', '400 disabled', '403 gateway'].some((name) => inflicted.has(name));
  const lagsBehind = bound === Infinity && !isUntold && audit.cursor < ledger.end;
  const isReached = bound <= Math.max(begin, ledger.end);
  if (seen.completed !== isReached && gaps.length === 0)
    return [`${seen.completed ? 'completes' : 'does not complete'} at ${ledger.end} of ${bound}`];
  if (schedule.isDownward && !isReached) return [];
  const missing = schedule.isDownward
    ? ledger.between(begin, audit.cursor - 1)
    : ledger.between(audit.cursor, Math.min(bound, ledger.end));
  if (missing.length > 0) return [`${missing.length} updates have not come, from ${missing[0]?.offset ?? 0} on`];
  if (lagsBehind) return [`stands at ${audit.cursor} of ${ledger.end}, where pruning may overtake it`];
  if (gaps.length > 0 || schedule.changes.some(({ kind }) => kind === 'restore')) return [];
  // without the model: all that the ledger has, and no more
  const all = ledger.between(begin, bound).length;
  const updates = seen.values.filter(({ _tag }) => _tag !== 'OffsetCheckpoint').length;
  return updates === all ? [] : [`${updates} of ${all} updates have come`];
}
