import { computed, inject, Injectable, signal } from '@angular/core';
import { columnsOf } from './column';
import { ContractFilters } from './contract-filters';
import { ContractIndex } from './contract-index';
import type { ContractRow } from './contract-row';
import { injectLiveContracts } from './live-contracts';
import { newestFirst, orderBy, type Sort, SortedRows } from './sort-order';

/** The active contracts, as rows, and those of them that pass the filters, in order. */
@Injectable()
export class ContractList {
  readonly #filters = inject(ContractFilters);
  readonly #index = new ContractIndex();
  readonly #sorted = new SortedRows();
  readonly live = injectLiveContracts();
  readonly sort = signal<Sort>(newestFirst);

  readonly #indexed = computed(() => this.#index.read(this.live.value()));
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
    this.sort.update((sort) => ({ column, isDescending: sort.column === column && !sort.isDescending }));
  }

  find(contractId: string): ContractRow | undefined {
    return this.#indexed().rows.find((row) => row.contractId === contractId);
  }
}

const sorted = (values: ReadonlySet<string>): readonly string[] => [...values].sort();

const isSame = (a: readonly string[], b: readonly string[]): boolean => a.length === b.length;
