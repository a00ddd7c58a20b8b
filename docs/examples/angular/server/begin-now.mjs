/** The ledger's first updates, an hour ago: what is generated after them goes on from there. */
export function beginNow(sandbox) {
  const recordTime = new Date(Date.now() - 3_600_000).toISOString();
  for (const synchronizerId of sandbox.synchronizers) {
    const events = [{ CreatedEvent: { createArgument: { note: `the first on ${synchronizerId.split('::')[0]}` } } }];
    sandbox.append({ Transaction: { value: { synchronizerId, recordTime, effectiveAt: recordTime, events } } });
  }
}
