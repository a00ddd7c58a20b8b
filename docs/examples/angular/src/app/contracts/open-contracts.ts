import { Injectable, signal } from '@angular/core';
import type { ContractList } from './contract-list';

/** The contracts of the page, for the panels next to it; `undefined` while the page is not shown. */
@Injectable()
export class OpenContracts {
  readonly list = signal<ContractList | undefined>(undefined);
}
