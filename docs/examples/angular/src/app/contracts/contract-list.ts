import { computed, inject, Injectable, signal } from '@angular/core';
import { toObservable, toSignal } from '@angular/core/rxjs-interop';
import { injectContracts } from 'canton-rx/angular';
import type { AnyContract } from 'canton-rx/contracts';
import { asyncScheduler, scan, throttleTime } from 'rxjs';
import { CONNECTION } from '../connection/connection';
import { columnsOf } from './column';
import { ContractFilters } from './contract-filters';
import { ContractIndex } from './contract-index';
import type { ContractRow } from './contract-row';
import { newestFirst, orderBy, type Sort, SortedRows } from './sort-order';

/** The active contracts, as rows, and those of them that pass the filters, in order. */
@Injectable()
export class ContractList {
  readonly #filters = inject(ContractFilters);
  readonly #index = new ContractIndex();
  readonly #sorted = new SortedRows();
  readonly live = injectContracts({ parties: inject(CONNECTION).parties });
  /** Why a request is repeated, while it is. */
  readonly trouble = computed(() => {
    const connection = this.live.connection();
    return connection?.status === 'retrying' ? connection.cause : undefined;
  });
  readonly sort = signal<Sort>(newestFirst);

  readonly #shown = toSignal(
    toObservable(
      computed((): Shown => ({
        isKnown: this.live.hasValue(),
        contracts: this.live.value(),
        offset: this.live.offset(),
      })),
      // nobody reads faster, and a table that changes with each frame leaves no time for anything else
    ).pipe(
      throttleTime(100, asyncScheduler, { leading: true, trailing: true }),
      // an error does not take away what is known
      scan((before, now) => (now.isKnown ? now : before)),
    ),
    { initialValue: { isKnown: false, contracts: [], offset: undefined } },
  );
  /** Whether the contracts are known: without that, no contracts say nothing. */
  readonly isKnown = computed(() => this.#shown().isKnown);
  readonly offset = computed(() => this.#shown().offset);
  readonly #contracts = computed(() => this.#shown().contracts);
  readonly #indexed = computed(() => this.#index.read(this.#contracts()));
  readonly count = computed(() => this.#indexed().rows.length);
  readonly inFlight = computed(() => this.#indexed().inFlight);
  /** The templates by name. */
  readonly templates = computed(() =>
    [...this.#indexed().templates].sort(
      (a, b) => a.entity.localeCompare(b.entity) || a.template.localeCompare(b.template),
    ),
  );
  readonly parties = computed(() => sorted(this.#indexed() && this.#index.parties), { equal: isSame });
  readonly synchronizers = computed(() => sorted(this.#indexed() && this.#index.synchronizers), { equal: isSame });

  readonly #fields = computed(() => (this.#indexed(), this.#index.fields.of(this.#filters.template())));
  readonly columns = computed(() => columnsOf(this.#filters.template(), this.#fields()));
  readonly sortedBy = computed(() => {
    const { column } = this.sort();
    return this.columns().find(({ id }) => id === column) ?? this.columns().at(-1);
  });
  /** A new function only if the order changes. */
  readonly #order = computed(
    () => {
      const column = this.sortedBy();
      const { isDescending } = column?.id === this.sort().column ? this.sort() : newestFirst;
      return { key: `${column?.id} ${column?.kind} ${isDescending}`, compare: column && orderBy(column, isDescending) };
    },
    { equal: (a, b) => a.key === b.key },
  );
  readonly rows = computed((): readonly ContractRow[] => {
    const { compare } = this.#order();
    const rows = this.#indexed().rows.filter(this.#filters.predicate());
    return compare === undefined ? rows : this.#sorted.sort(rows, compare);
  });

  /** Sorts by a column, or the other way round. */
  sortBy(column: string): void {
    this.sort.update((sort) => {
      if (sort.column === column) return { column, isDescending: !sort.isDescending };
      return column === newestFirst.column ? newestFirst : { column, isDescending: false };
    });
  }

  find(contractId: string): ContractRow | undefined {
    return this.#indexed().rows.find((row) => row.contractId === contractId);
  }
}

/** What is known at one time. */
interface Shown {
  readonly isKnown: boolean;
  readonly contracts: readonly AnyContract[];
  readonly offset: number | undefined;
}

const sorted = (values: ReadonlySet<string>): readonly string[] => [...values].sort();

const isSame = (a: readonly string[], b: readonly string[]): boolean => a.length === b.length;
