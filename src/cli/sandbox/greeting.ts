import { styleText } from 'node:util';
import type { Sandbox } from '../../sandbox/index.js';
import type { Output } from '../World.js';
import type { SandboxCommandOptions } from './SandboxCommandOptions.js';

/** What the sandbox says when it runs: where it is, and what to try. */
export function greeting(sandbox: Sandbox, { profile, rate }: SandboxCommandOptions, stream: Output): string {
  const { url, ledgerEnd, parties } = sandbox;
  const strong = (text: string): string => styleText('bold', text, { stream });
  const faint = (text: string): string => styleText('dim', text, { stream });
  const growth = rate === 0 ? 'at rest' : `growing by ${rate} ${rate === 1 ? 'update' : 'updates'} a second`;
  return `${strong(url)}  ${faint(`a ledger as of Canton ${profile}, at offset ${ledgerEnd}, ${growth}`)}

  canton-rx tail --ledger ${url}
  canton-rx tail --ledger ${url} --from end --party ${parties[0] ?? ''}

${faint('Ctrl-C ends it; nothing is kept.')}
`;
}
