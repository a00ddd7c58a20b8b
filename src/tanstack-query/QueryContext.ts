/**
 * What TanStack Query passes to a query function, as far as it is used.
 *
 * @category TanStack
 */
export interface QueryContext {
  /** The `QueryClient`. */
  readonly client: {
    /** Returns the cache. */
    getQueryCache(): QueryCacheLike;
    /** Writes the data of a query. */
    setQueryData(queryKey: readonly unknown[], data: unknown): unknown;
    /** Runs the query function of a query again. */
    refetchQueries(filters: { queryKey: readonly unknown[]; exact: boolean }): Promise<unknown>;
  };
  /** The key of the query. */
  readonly queryKey: readonly unknown[];
  /** Aborts when the query is cancelled before it has data. */
  readonly signal: AbortSignal;
}

/**
 * The cache of TanStack Query, as far as it is used.
 *
 * @category TanStack
 */
export interface QueryCacheLike {
  /** Returns the query with a key. */
  find(filters: { queryKey: readonly unknown[] }): QueryLike | undefined;
  /** Calls a listener for each change of a query or of its observers. */
  subscribe(listener: (event: { readonly type: string; readonly query: object }) => void): () => void;
}

/**
 * A query of TanStack Query, as far as it is used.
 *
 * @category TanStack
 */
export interface QueryLike {
  /** The state of the query. */
  readonly state: {
    /** Whether its function runs. */
    readonly fetchStatus: string;
  };
  /** Whether an enabled observer observes it. */
  isActive(): boolean;
  /** Changes the state of the query. */
  setState(state: { data: undefined; status: 'pending' }): void;
}
