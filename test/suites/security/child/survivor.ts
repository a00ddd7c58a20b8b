import { catchError, lastValueFrom, of, map } from 'rxjs';
import { acsDelta, createLedger, isLedgerError } from '../../../../src/index.js';
import { undiciPort } from '../../../../src/undici/index.js';

/** Reads the updates of each given address by `fetch` or `undici`, and prints the result: a line of JSON each. */
const [client, ...urls] = process.argv.slice(2);
const port = client === 'undici' ? { port: undiciPort() } : {};
for (const baseUrl of urls) {
  const ledger = createLedger({ baseUrl, ...port, retry: { baseDelayMs: 1, giveUpAfterMs: 20 } });
  const begun = process.cpuUsage();
  const outcome = await lastValueFrom(
    ledger.updates({ beginExclusive: 0, endInclusive: 100, updateFormat: acsDelta({ parties: 'any' }) }).pipe(
      map(({ _tag }): string => _tag),
      catchError((error: unknown) => of(isLedgerError(error) ? error._tag : String(error))),
    ),
    { defaultValue: 'nothing' },
  );
  // an unhandled error of a stream arrives a little later
  await new Promise((resolve) => setTimeout(resolve, 20));
  const peakMb = Math.round(process.resourceUsage().maxRSS / 1024);
  const { user, system } = process.cpuUsage(begun);
  console.log(JSON.stringify({ url: baseUrl, outcome, workMs: (user + system) / 1_000, peakMb }));
}
process.exit(0);
