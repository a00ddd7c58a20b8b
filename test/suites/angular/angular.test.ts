import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { application, type Application } from './application.js';

const main = (imports: string, value: string, providers = ''): string => `
  import { Component, provideZonelessChangeDetection } from '@angular/core';
  import { bootstrapApplication } from '@angular/platform-browser';
  ${imports}
  @Component({ selector: 'app-root', template: '{{ value }}' })
  class App { readonly value: unknown = ${value}; }
  void bootstrapApplication(App, { providers: [provideZonelessChangeDetection(), ${providers}] });`;

let app: Application;
/** The size of an application without the library. */
let baseline = 0;
beforeAll(async () => {
  app = await application();
  baseline = (await app.build(main('', '1'))).gzip;
}, 400_000);
afterAll(() => app.remove(), 60_000);

const apps: readonly {
  name: string;
  imports: string;
  value: string;
  providers?: string;
  budget: number;
  codecs: readonly string[];
}[] = [
  {
    name: 'a ledger',
    imports: "import { createLedger } from 'canton-rx';",
    value: "createLedger({ baseUrl: 'http://127.0.0.1:1' })",
    budget: 41_200,
    codecs: ['PrepareRequest', 'CreatedEvent'],
  },
  {
    name: 'a ledger that only reads',
    imports: "import { createLedgerReader } from 'canton-rx';",
    value: "createLedgerReader({ baseUrl: 'http://127.0.0.1:1' })",
    budget: 30_200,
    codecs: ['CreatedEvent'],
  },
  {
    name: 'a ledger that is injected',
    imports: "import { injectLedger, provideLedger } from 'canton-rx/angular';",
    value: 'injectLedger()',
    providers: "provideLedger({ baseUrl: 'http://127.0.0.1:1' })",
    budget: 42_500,
    codecs: ['PrepareRequest', 'CreatedEvent'],
  },
  {
    name: 'a processor with a ledger that is injected',
    imports: `import { acsDelta } from 'canton-rx';
      import { injectLedger, provideLedger } from 'canton-rx/angular';
      import { processFeed, updatesFeed } from 'canton-rx/process';`,
    value: `processFeed(
      updatesFeed(injectLedger(), { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) }),
      () => undefined,
    )`,
    providers: "provideLedger({ baseUrl: 'http://127.0.0.1:1' })",
    budget: 53_000,
    codecs: ['PrepareRequest', 'CreatedEvent'],
  },
  {
    name: 'live contracts as signals',
    imports: "import { injectContracts, provideLedger } from 'canton-rx/angular';",
    value: "injectContracts({ parties: 'any' }).value()",
    providers: "provideLedger({ baseUrl: 'http://127.0.0.1:1' })",
    budget: 57_600,
    codecs: ['PrepareRequest', 'CreatedEvent'],
  },
  {
    name: 'a ledger over HttpClient',
    imports: `import { provideHttpClient, withFetch } from '@angular/common/http';
      import { injectLedger, provideLedger, withAngularHttp } from 'canton-rx/angular';`,
    value: 'injectLedger()',
    providers: "provideHttpClient(withFetch()), provideLedger({ baseUrl: 'http://127.0.0.1:1' }, withAngularHttp())",
    budget: 50_300,
    codecs: ['PrepareRequest', 'CreatedEvent'],
  },
  {
    name: 'an operator',
    imports: "import { ofVariant } from 'canton-rx';",
    value: "ofVariant('Transaction')",
    budget: 100,
    codecs: [],
  },
  {
    name: 'a codec',
    imports: "import { Update } from 'canton-rx';",
    value: 'Update.decode({})',
    budget: 5_750,
    codecs: ['CreatedEvent'],
  },
];

describe.each(apps)('an Angular application with $name', ({ name, imports, value, providers, budget, codecs }) => {
  it('is built without a warning, and contains only what it uses of the library', async () => {
    const { output, text, gzip } = await app.build(main(imports, value, providers));
    console.log(`${name}: ${gzip} bytes of gzip, ${gzip - baseline} more than without the library`);
    expect(output).toContain('bundle generation complete');
    expect(output).not.toMatch(/warning/i);
    expect(['PrepareRequest', 'CreatedEvent'].filter((codec) => text.includes(`"${codec}"`))).toEqual(codecs);
    expect(gzip - baseline).toBeLessThan(budget);
  });
});
