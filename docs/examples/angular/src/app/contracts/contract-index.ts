import type { AnyContract } from 'canton-rx/contracts';
import { type ContractRow, contractRow } from './contract-row';
import { TemplateFields } from './template-fields';

/** A template, and how many contracts it has. */
export interface TemplateCount {
  readonly template: string;
  readonly entity: string;
  readonly packageName: string;
  readonly count: number;
}

/** The contracts, in the order in which they became known. */
export interface IndexedContracts {
  readonly rows: readonly ContractRow[];
  readonly templates: readonly TemplateCount[];
  readonly inFlight: number;
}

/** Makes the rows of contracts, each once, and learns from them what there is to choose from. */
export class ContractIndex {
  readonly fields = new TemplateFields();
  #rows = new WeakMap<AnyContract, ContractRow>();
  readonly #templates = new Map<string, TemplateCount>();
  readonly #parties = new Set<string>();
  readonly #synchronizers = new Set<string>();

  /** The parties and the synchronizers of all contracts so far. */
  get parties(): ReadonlySet<string> {
    return this.#parties;
  }

  get synchronizers(): ReadonlySet<string> {
    return this.#synchronizers;
  }

  read(contracts: readonly AnyContract[]): IndexedContracts {
    const counts = new Map<string, number>();
    let inFlight = 0;
    const rows = contracts.map((contract) => {
      const row = this.#rows.get(contract) ?? this.#add(contract);
      counts.set(row.template, (counts.get(row.template) ?? 0) + 1);
      if (row.isInFlight) inFlight += 1;
      return row;
    });
    // a template that has no contracts any more stays, with a count of 0
    const templates = [...this.#templates.values()].map((known) => ({
      ...known,
      count: counts.get(known.template) ?? 0,
    }));
    return { rows, templates, inFlight };
  }

  #add(contract: AnyContract): ContractRow {
    const row = contractRow(contract);
    this.#rows.set(contract, row);
    this.fields.add(row);
    const { template, entity, packageName } = row;
    if (!this.#templates.has(template)) this.#templates.set(template, { template, entity, packageName, count: 0 });
    for (const party of row.stakeholders) this.#parties.add(party);
    for (const synchronizer of row.synchronizers) this.#synchronizers.add(synchronizer);
    return row;
  }
}
