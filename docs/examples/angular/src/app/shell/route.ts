import { computed, effect, Injectable, signal, type WritableSignal, untracked } from '@angular/core';
import { takeUntilDestroyed } from '@angular/core/rxjs-interop';
import { fromEvent, merge } from 'rxjs';
import type { PageName } from './pages';
import type { Panel } from './panels';

/** What an entry of the browser's history has beside its address. */
interface Entry {
  readonly panels: readonly Panel[];
  /** The number of entries since the panels were opened. */
  readonly depth: number;
}

/**
 * The address of the page: `#contracts?template=…&contract=…`. It has the page, its filters, the parties that are read,
 * and the update or the contract of the open panel. Each panel is an entry of the browser's history.
 */
@Injectable({ providedIn: 'root' })
export class Route {
  readonly #hash = signal(location.hash, { equal: () => false });
  readonly #entry = signal<Entry>(entryOf(location.hash));
  readonly #read = computed(() => paramsOf(this.#hash()));
  readonly page = computed(() => this.#read().page);
  readonly panels = computed(() => this.#entry().panels);
  /** The address before the browser went to another one. */
  #shown = paramsOf(location.hash);
  /** Whether the page itself goes back: its filters then stay as they are. */
  #isGoingBack = false;

  constructor() {
    merge(fromEvent(window, 'popstate'), fromEvent(window, 'hashchange'))
      .pipe(takeUntilDestroyed())
      .subscribe(() => {
        const { page, params } = this.#shown;
        this.#entry.set((history.state as Entry | null) ?? entryOf(location.hash));
        if (this.#isGoingBack) this.#write(page, withPanel(params, this.#entry().panels.at(-1)), 'replaceState');
        this.#isGoingBack = false;
        this.#shown = paramsOf(location.hash);
        this.#hash.set(location.hash);
      });
  }

  /** The parties to read, if the address names some. */
  parties(): readonly string[] | undefined {
    const named = untracked(this.#read).params.getAll('as');
    return named.length === 0 ? undefined : named;
  }

  /** Starts over for other parties or another ledger: filters and panels of this one do not apply there. */
  readAs(parties: readonly string[] | 'any'): void {
    const { page } = untracked(this.#read);
    const params = new URLSearchParams();
    if (parties !== 'any') for (const party of parties) params.append('as', party);
    this.#entry.set({ panels: [], depth: 0 });
    this.#write(page, params, 'replaceState');
    this.#hash.set(location.hash);
  }

  /** Opens panels in a new entry of the history. */
  open(panels: readonly Panel[]): void {
    this.#go(panels, untracked(this.#entry).depth + 1, 'pushState');
  }

  /** Shows panels in the place of the open ones. */
  show(panels: readonly Panel[]): void {
    this.#go(panels, untracked(this.#entry).depth, 'replaceState');
  }

  back(): void {
    this.#isGoingBack = true;
    history.back();
  }

  close(): void {
    const { depth } = untracked(this.#entry);
    this.#entry.set({ panels: [], depth: 0 });
    this.#isGoingBack = depth > 0;
    if (depth > 0) history.go(-depth);
    else this.#go([], 0, 'replaceState');
  }

  /** Keeps filters of a page in the address, and takes them from it. Must be called in an injection context. */
  keep(page: PageName, filters: Readonly<Record<string, WritableSignal<string>>>): void {
    const entries = Object.entries(filters);
    effect(() => {
      const read = this.#read();
      if (read.page !== page || !entries.some(([name]) => read.params.has(name))) return;
      for (const [name, filter] of entries) untracked(() => filter.set(read.params.get(name) ?? ''));
    });
    effect(() => {
      const values = entries.map(([name, filter]) => [name, filter()] as const);
      // also after a link to the page, which has no filters
      if (this.#read().page !== page) return;
      const { params } = paramsOf(location.hash);
      for (const [name, value] of values) setParam(params, name, value);
      this.#write(page, params, 'replaceState');
    });
  }

  #go(panels: readonly Panel[], depth: number, how: 'pushState' | 'replaceState'): void {
    const { page, params } = paramsOf(location.hash);
    this.#entry.set({ panels, depth });
    this.#write(page, withPanel(params, panels.at(-1)), how);
  }

  #write(page: PageName, params: URLSearchParams, how: 'pushState' | 'replaceState'): void {
    const query = params.toString();
    const hash = query === '' && location.hash === '' ? location.pathname : `#${page}${query && '?'}${query}`;
    // an entry has a copy of the panels, which are plain data
    history[how](untracked(this.#entry), '', hash);
    this.#shown = paramsOf(location.hash);
  }
}

/** A link to a contract of this ledger. */
export const contractLink = (contractId: string): string =>
  `${location.origin}${location.pathname}#contracts?${new URLSearchParams({ contract: contractId }).toString()}`;

function paramsOf(hash: string): { readonly page: PageName; readonly params: URLSearchParams } {
  const [, name = '', query = ''] = /^#?(\w*)\??(.*)$/.exec(hash) ?? [];
  const page = name === 'contracts' || name === 'commands' ? name : 'updates';
  return { page, params: new URLSearchParams(query) };
}

function entryOf(hash: string): Entry {
  const { params } = paramsOf(hash);
  const [update, contractId] = [Number(params.get('update') ?? 0), params.get('contract')];
  if (contractId !== null) return { panels: [{ kind: 'contract', contractId }], depth: 0 };
  return { panels: Number.isSafeInteger(update) && update > 0 ? [{ kind: 'update', offset: update }] : [], depth: 0 };
}

function withPanel(params: URLSearchParams, panel: Panel | undefined): URLSearchParams {
  setParam(params, 'update', panel?.kind === 'update' ? String(panel.offset) : '');
  setParam(params, 'contract', panel?.kind === 'contract' ? panel.contractId : '');
  return params;
}

function setParam(params: URLSearchParams, name: string, value: string): void {
  if (value === '') params.delete(name);
  else params.set(name, value);
}
