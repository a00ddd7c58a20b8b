import { acsDelta } from '../../codecs/acsDelta.js';
import { ledgerEffects } from '../../codecs/ledgerEffects.js';
import { Party } from '../../codecs/Party.js';
import { TemplateId } from '../../codecs/TemplateId.js';
import type { Update } from '../../codecs/Update.js';
import { parsed } from '../arguments/parsed.js';
import { readMatching } from '../arguments/readMatching.js';
import { readOneOf } from '../arguments/readOneOf.js';
import { readWhole } from '../arguments/readWhole.js';
import { UsageError } from '../arguments/UsageError.js';
import type { World } from '../World.js';
import { readUrl } from './readUrl.js';
import type { TailOptions } from './TailOptions.js';
import { tokenFrom } from './tokenFrom.js';

const variants: readonly Update['_tag'][] = [
  'Transaction',
  'Reassignment',
  'TopologyTransaction',
  'OffsetCheckpoint',
  'UnknownUpdate',
];

/** What the arguments and the environment ask for; `'help'`, if that. Throws a {@link UsageError}. */
export function readTailOptions(args: readonly string[], env: World['env']): TailOptions | 'help' {
  const values = parsed(args, {
    ledger: { type: 'string' },
    from: { type: 'string' },
    to: { type: 'string' },
    party: { type: 'string', multiple: true },
    template: { type: 'string', multiple: true },
    effects: { type: 'boolean' },
    variant: { type: 'string', multiple: true },
    synchronizer: { type: 'string', multiple: true },
    'token-file': { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  });
  if (values.help === true) return 'help';
  const from = values.from === 'end' ? 'end' : readWhole('from', values.from, 0);
  const to = values.to === undefined ? undefined : readWhole('to', values.to, 0);
  if (to !== undefined && from !== 'end' && to < from) throw new UsageError(`--to ${to} lies before --from ${from}`);
  const parties = readMatching('party', values.party, Party, 'a party id, hint::fingerprint');
  const templates = readMatching('template', values.template, TemplateId, "a template, '#package-name:Module:Entity'");
  const chosen = (values.variant ?? []).map((text) => readOneOf('variant', text, variants));
  const format = values.effects === true ? ledgerEffects : acsDelta;
  return {
    ledger: readUrl(values.ledger ?? env['CANTON_RX_LEDGER_URL']),
    token: tokenFrom(values['token-file'], env['CANTON_RX_LEDGER_TOKEN']),
    from,
    to,
    format: format({ parties: parties.length > 0 ? parties : 'any', templates }),
    variants: chosen,
    synchronizers: values.synchronizer ?? [],
  };
}
