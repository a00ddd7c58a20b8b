/** Appends a first update to each synchronizer, dated one hour back. Generated updates continue from that time. */
export function beginNow(sandbox) {
  const recordTime = new Date(Date.now() - 3_600_000).toISOString();
  for (const synchronizerId of sandbox.synchronizers) {
    const events = [{ CreatedEvent: { createArgument: { note: `the first on ${synchronizerId.split('::')[0]}` } } }];
    sandbox.append({ Transaction: { value: { synchronizerId, recordTime, effectiveAt: recordTime, events } } });
  }
}
