import { isObservable } from 'rxjs';
import type { ContractQuery } from '../contracts/ContractQuery.js';
import type { SharedContracts } from '../contracts/shareContracts.js';
import type { ContractsStore, Reading } from './ContractsStore.js';

/**
 * React renders the fallback on a server for an error, and the component in the browser. Next knows this one by its digest, as it does
 * the components that it leaves to the browser: it logs nothing, and the page reports nothing.
 */
export class LeftToBrowserError extends Error {
  override readonly name = 'LeftToBrowserError';
  readonly digest = 'BAILOUT_TO_CLIENT_SIDE_RENDERING';
  /** The subject of Next's message if there is no `Suspense`. */
  readonly reason: string;

  constructor(hook: string) {
    super(
      `${hook} with suspense: true is rendered in the browser alone; on a server, the fallback of its Suspense is.`,
    );
    this.reason = `${hook} with suspense: true`;
  }
}

/** Suspends the render while nothing is known, and throws the error of the view. */
export function suspend(store: ContractsStore, reading: Reading, key: string, unread: Set<string>, hook: string): void {
  unread.delete(key);
  if (reading.status === 'loading') {
    if (unread.size >= maxUnread) throw anotherQueryError(hook);
    const waiting = store.wait();
    void waiting.then(() => unread.add(key));
    throw waiting; // eslint-disable-line @typescript-eslint/only-throw-error -- React takes it
  }
  unread.clear();
  if (reading.status === 'error') throw reading.error;
}

/** The queries by shape that a component has waited for, and that none has rendered since. */
const unreadOf = new WeakMap<SharedContracts, Map<string, Set<string>>>();

/**
 * How many of them there may be. A component that waits loses its state: without this, a type that it creates in each render
 * would begin views without end. Queries that wait at the same time are rendered when they are known.
 */
const maxUnread = 5;

export function unreadLike(shared: SharedContracts, query: ContractQuery): Set<string> {
  const shapes = unreadOf.get(shared) ?? new Map<string, Set<string>>();
  unreadOf.set(shared, shapes);
  const shape = shapeOf(query);
  const unread = shapes.get(shape) ?? new Set();
  shapes.set(shape, unread);
  return unread;
}

/** The state that a component keeps between its renders. */
export interface Renders {
  key: string | undefined;
  /** The key of what is shown: it may be rendered again while another one is rendered in a transition. */
  shown: string | undefined;
  shape: string;
  /** The number of consecutive renders that had another query of the same shape. */
  changes: number;
}

/** A new type is another query. One that is created in each render would never be read. */
export function checkChange(
  renders: Renders,
  hook: string,
  key: string | undefined,
  query: ContractQuery | null | undefined,
): void {
  const { key: before, shown } = renders;
  renders.key = key;
  if (key === before || key === shown) {
    renders.changes = 0;
    return;
  }
  const shape = shapeOf(query);
  renders.changes = renders.shape === shape ? renders.changes + 1 : 0;
  renders.shape = shape;
  if (renders.changes >= 2) throw anotherQueryError(hook);
}

/** Returns a text that is the same for queries that differ only in what a component may create in each render. */
function shapeOf(query: ContractQuery | null | undefined): string {
  const types = Object.entries(query?.types ?? {}).map(([name, { templateId }]) => [name, templateId]);
  const parties = isObservable(query?.parties) ? 'observed' : query?.parties;
  return JSON.stringify([types, parties]);
}

const anotherQueryError = (hook: string): Error =>
  new Error(
    `${hook} gets another query in each render: a type, an Observable of parties, or a function of its options, is created there. Create it outside the component.`,
  );
