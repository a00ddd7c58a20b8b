import process from 'node:process';
import { version } from '../version.js';
import type { Finding, TroubleKind } from './Finding.js';
import { isThisMachine } from './isThisMachine.js';
import type { Report } from './Report.js';

/** From what keeps all else from being found out, to what does not. */
const codes: readonly (readonly [TroubleKind, number])[] = [
  ['unreachable', 3],
  ['foreign', 4],
  ['token', 5],
  ['other', 1],
];

/** The findings with what whoever reads them elsewhere has to know. */
export function reportOf(ledger: string, findings: readonly Finding[]): Report {
  const { protocol, hostname, port, pathname } = new URL(ledger);
  const [, exitCode = 0] = codes.find(([kind]) => findings.some(({ trouble }) => trouble === kind)) ?? [];
  const scheme = protocol.replace(':', '');
  const usual = scheme === 'https' ? 443 : 80;
  return {
    about: {
      'canton-rx': version(),
      node: process.versions.node,
      platform: `${process.platform} ${process.arch}`,
      at: new Date().toISOString(),
    },
    ledger: {
      scheme,
      port: port === '' ? usual : Number(port),
      isThisMachine: isThisMachine(hostname),
      hasPathPrefix: pathname !== '/',
    },
    exitCode,
    findings,
  };
}
