/** Writes the latest value, one at a time; what comes meanwhile is left out but for the last. A failure is not retried. */
export function latest<A>(write: (value: A) => Promise<unknown>): (value: A) => void {
  let next: { readonly value: A } | undefined;
  let isWriting = false;
  const run = (): void => {
    if (next === undefined || isWriting) return;
    const { value } = next;
    next = undefined;
    isWriting = true;
    const done = (): void => {
      isWriting = false;
      run();
    };
    write(value).then(done, done);
  };
  return (value) => {
    next = { value };
    run();
  };
}
