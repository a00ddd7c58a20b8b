/** Calls a function of the caller, such as that of an interceptor, whose errors must not change what the library does. */
export function quietly<R>(call: () => R): R | undefined {
  try {
    const result = call();
    // it may be async although it returns nothing: a rejection without a handler would end the process
    if (isThenable(result)) result.then(undefined, () => undefined);
    return result;
  } catch {
    return undefined;
  }
}

const isThenable = (u: unknown): u is PromiseLike<unknown> =>
  typeof u === 'object' && u !== null && 'then' in u && typeof u.then === 'function';
