/** Does work of one name after the other, as it was asked for: what hangs is waited for, and never comes out later on top. */
export function serially(): <A>(name: string, work: () => Promise<A>) => Promise<A> {
  const last = new Map<string, Promise<unknown>>();
  return (name, work) => {
    const done = (last.get(name) ?? Promise.resolve()).then(work);
    last.set(
      name,
      done.catch(() => undefined),
    );
    return done;
  };
}
