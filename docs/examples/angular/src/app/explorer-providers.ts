import { type EnvironmentProviders, inject, type Provider } from '@angular/core';
import { provideLedger } from 'canton-rx/angular';
import { CommandFilters } from './commands/command-filters';
import { CONNECTION, type Connection } from './connection/connection';
import { Undecodable } from './contracts/undecodable';
import { ContractFilters } from './contracts/contract-filters';
import { OpenContracts } from './contracts/open-contracts';
import { Earlier } from './feed/earlier';
import { Feed } from './feed/feed';
import { Panels } from './shell/panels';
import { Health } from './status/health';
import { Samples } from './status/samples';
import { Troubles } from './status/troubles';
import { Identities } from './submit/identities';
import { Submissions } from './submit/submissions';
import { Facets } from './updates/facets';
import { Filters } from './updates/filters';
import { TableView } from './updates/table-view';
import { UpdateList } from './updates/update-list';

/** The providers of one ledger. */
export const explorerProviders = (connection: Connection): (Provider | EnvironmentProviders)[] => [
  { provide: CONNECTION, useValue: connection },
  Undecodable,
  provideLedger(() => ({
    baseUrl: connection.baseUrl,
    token: connection.token,
    fetch: inject(Undecodable).fetch,
    // the user is watching: retries soon, and never gives up
    retry: { maxDelayMs: 3_000, giveUpAfterMs: 24 * 3_600_000 },
  })),
  [CommandFilters, ContractFilters, OpenContracts],
  [Facets, Filters, UpdateList, TableView, Feed, Earlier, Troubles, Health, Samples, Panels, Identities, Submissions],
];
