import {
  defer,
  EMPTY,
  filter,
  fromEvent,
  map,
  merge,
  type Observable,
  share,
  startWith,
  switchMap,
  timer,
  using,
} from 'rxjs';

/** What the sessions of the tabs of an origin say to each other. Never a token. */
export type TabMessage = 'signingIn' | 'signedIn' | 'failed' | 'signedOut';

/** The other tabs with a session of the same name. */
export class Tabs {
  #channel: BroadcastChannel | undefined;

  constructor(private readonly name: string) {}

  /** Emits what other tabs say, while it has subscribers. */
  readonly message$: Observable<TabMessage> = using(
    () => {
      const channel = this.#open();
      this.#channel = channel;
      return {
        unsubscribe: () => {
          channel?.close();
          this.#channel = undefined;
        },
      };
    },
    () => (this.#channel === undefined ? EMPTY : fromEvent<MessageEvent<unknown>>(this.#channel, 'message')),
  ).pipe(
    map(({ data }) => data),
    filter(isTabMessage),
    share(),
  );

  /** Says something to the other tabs. */
  post(message: TabMessage): void {
    const channel = this.#channel ?? this.#open();
    channel?.postMessage(message);
    if (channel !== this.#channel) channel?.close();
  }

  /** Returns `undefined` where tabs cannot speak to each other: some browsers throw while the user allows pages no storage. */
  #open(): BroadcastChannel | undefined {
    if (typeof BroadcastChannel !== 'function') return undefined;
    try {
      const channel = new BroadcastChannel(this.name);
      // in Node.js, it would keep the process running
      (channel as { unref?: () => void }).unref?.();
      return channel;
    } catch {
      return undefined;
    }
  }
}

function isTabMessage(u: unknown): u is TabMessage {
  return u === 'signingIn' || u === 'signedIn' || u === 'failed' || u === 'signedOut';
}

/** Returns whether the browser has a network. True where that is not known: some runtimes have a navigator without it. */
export const isOnline = (): boolean => (globalThis.navigator as Partial<Navigator> | undefined)?.onLine !== false;

/** Emits whether the browser has a network: at once, and whenever that changes. */
export const isOnline$: Observable<boolean> = defer(() =>
  merge(eventsOf(globalThis, 'online'), eventsOf(globalThis, 'offline')).pipe(startWith(undefined), map(isOnline)),
);

/** The longest time until a page that returns repeats its requests, in milliseconds, in addition to that of each request. */
const maxReturnMs = 1_000;

/**
 * Emits when a page returns: when the network is back, when the page is shown again, and when the browser takes it out of its
 * back/forward cache. Each time after a random part of a second, because all pages of an office return together.
 */
export const return$: Observable<unknown> = defer(() => {
  const document = (globalThis as { readonly document?: Document }).document;
  return merge(
    eventsOf(globalThis, 'online'),
    eventsOf(document, 'visibilitychange').pipe(filter(() => document?.visibilityState === 'visible')),
    restored$,
  ).pipe(switchMap(() => timer(Math.random() * maxReturnMs)));
});

/** Emits when the browser takes the page out of its back/forward cache, at once. A page in it hears nothing of other tabs. */
export const restored$: Observable<unknown> = defer(() =>
  eventsOf(globalThis, 'pageshow').pipe(filter((event) => 'persisted' in event && event.persisted === true)),
);

const eventsOf = (target: object | undefined, name: string): Observable<Event> =>
  target !== undefined && 'addEventListener' in target ? fromEvent<Event>(target as EventTarget, name) : EMPTY;
