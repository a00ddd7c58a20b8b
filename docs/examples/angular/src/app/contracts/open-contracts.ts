import { Injectable, signal } from '@angular/core';
import type { ContractList } from './contract-list';
import type { ContractRow } from './contract-row';

/** The contracts of the page, for the panels next to it; `undefined` while the page is not shown. */
@Injectable()
export class OpenContracts {
  readonly list = signal<ContractList | undefined>(undefined);
  /** The contracts that were opened, as they were last: some are archived since. */
  readonly seen = new Map<string, ContractRow>();
}
