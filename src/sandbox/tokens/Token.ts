import * as t from 'io-ts';
import type { PayloadOf } from '../../codecs/ContractType.js';
import { contractType } from '../../codecs/TemplateType.js';
import { optional } from '../../codecs/optional.js';
import { type Amount, compareDecimals, sumDecimals } from '../../tokens/decimals.js';
import { Holding } from '../../tokens/interfaces.js';
import { type InstrumentId, isSameInstrument } from '../../tokens/totals.js';
import { amount, type ExtraArgs, type HoldingLock, instrumentId, lock, metadata, party } from '../../tokens/values.js';
import { interfaceInstance, template } from '../templates/template.js';
import type { TemplateLedger } from '../templates/TemplateLedger.js';

/** An amount of an instrument that a party owns. Admin and owner sign it, and so do those who have locked it. */
export const Token = contractType(
  '#sandbox-tokens:Tokens:Token',
  t.type({ instrumentId, owner: party, amount, lock: optional(lock), meta: metadata }),
);
type Token = PayloadOf<typeof Token>;

export const token = template(Token, {
  signatories: ({ payload }) => [payload.instrumentId.admin, payload.owner, ...(payload.lock?.holders ?? [])],
  ensure: ({ payload }) => isNumeric(payload.amount) && compareDecimals(payload.amount, '0.0') > 0,
  interfaces: [
    interfaceInstance(Holding, {
      view: ({ payload: { owner, instrumentId: instrument, amount: size, lock: locked, meta } }) => ({
        owner,
        instrumentId: instrument,
        amount: size,
        lock: locked,
        meta,
      }),
    }),
  ],
});

/** Whether a decimal is one of the standard, a `Decimal` of Daml. A participant rounds none that has more digits, but refuses it. */
const isNumeric = (size: string): boolean => /^[+-]?\d{1,28}(?:\.\d{1,10})?$/.test(size);

/** No metadata. */
export const none = { values: {} };

/** Returns the payload of a holding, whose amount has ten digits after its point, as those of a participant. */
export function tokenOf(
  owner: string,
  instrument: InstrumentId,
  size: string,
  locked: HoldingLock | null = null,
): Token {
  const [whole = '', fraction = ''] = sumDecimals([size]).split('.');
  const padded = `${whole}.${fraction.padEnd(10, '0')}` as Amount;
  return { instrumentId: instrument, owner, amount: padded, lock: locked, meta: none };
}

/** What is paid, and out of what. */
interface Payment {
  readonly owner: string;
  readonly instrument: InstrumentId;
  readonly size: string;
  readonly inputs: readonly string[];
}

/** Archives the holdings that pay for something, and returns the ids of the holdings with the change: one or none. */
export function spend({ owner, instrument, size, inputs }: Payment, ledger: TemplateLedger): readonly string[] {
  if (!isNumeric(size)) fail('the amount must have at most 28 digits, and 10 after its point');
  if (compareDecimals(size, '0.0') <= 0) fail('the amount must be positive');
  if (inputs.length === 0) fail('there are no input holdings');
  const amounts = inputs.map((contractId) => {
    const { payload } = ledger.fetch(Token, contractId);
    if (payload.owner !== owner) fail('an input holding has another owner');
    if (!isSameInstrument(payload.instrumentId, instrument)) fail('an input holding is of another instrument');
    if (isLocked(payload.lock, ledger)) fail('an input holding is locked');
    ledger.archive(contractId);
    return String(payload.amount);
  });
  const change = sumDecimals([...amounts, `-${size}`]);
  if (compareDecimals(change, '0.0') < 0) fail('the input holdings are not enough');
  return compareDecimals(change, '0.0') === 0 ? [] : [ledger.create(Token, tokenOf(owner, instrument, change))];
}

/** A lock without an end, or that has not ended yet. */
const isLocked = (locked: HoldingLock | null, ledger: TemplateLedger): boolean =>
  locked !== null && (locked.expiresAt === null || !isPast(locked.expiresAt, ledger));

/** Whether a time is now or before. */
export const isPast = (time: string, ledger: TemplateLedger): boolean => Date.parse(time) <= Date.parse(ledger.time);

/** The key of the contract of the rules in the context of a choice. */
export const rulesKey = 'sandbox-tokens/rules';

/** The key of a preapproval in the context of a choice. */
export const preapprovalKey = 'sandbox-tokens/transfer-preapproval';

/** Returns the id of a contract in the context of a choice. */
export function contractIn({ context }: ExtraArgs, key: string): string | undefined {
  const value = context.values[key];
  if (typeof value !== 'object' || value === null) return undefined;
  const { tag, value: id } = value as { readonly tag?: unknown; readonly value?: unknown };
  return tag === 'AV_ContractId' && typeof id === 'string' ? id : undefined;
}

/** The factories of an admin. Only the admin sees them, so that others need them disclosed. */
export const Rules = contractType('#sandbox-tokens:Tokens:Rules', t.type({ admin: party }));

/** Rejects the submission if the context is not that of the registry: it names the rules, which must be disclosed. */
export function checkContext(extraArgs: ExtraArgs, admin: string, ledger: TemplateLedger): void {
  const rules = contractIn(extraArgs, rulesKey);
  if (rules === undefined) fail(`the context has no contract ${rulesKey}: get it from the registry`);
  if (ledger.fetch(Rules, rules).payload.admin !== admin) fail('the context is of another admin');
}

/** Rejects the submission. */
export function fail(message: string): never {
  throw new Error(message);
}
