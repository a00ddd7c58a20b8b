/**
 * Tokens of the Splice token standard V1: its interfaces, exact sums of decimals, totals by instrument, and submissions with the
 * choice context of a registry. Needs no other package than `canton-rx`, and runs in browsers and in Node.js.
 *
 * @example
 * ```ts
 * import { sumDecimals } from 'canton-rx/tokens';
 *
 * console.log(sumDecimals(['0.1', '0.2']));
 * // => 0.3
 * ```
 *
 * @module canton-rx/tokens
 */

// Decimals and totals
export { type Amount, compareDecimals, type PlainDecimal, sumDecimals } from './decimals.js';
export { groupTotals, isSameInstrument, totalOf, toTotals } from './totals.js';
export type { HoldingTotals, InstrumentId, InstrumentTotal, TokenAmount } from './totals.js';

// The interfaces of the standard
export {
  Allocation,
  AllocationFactory,
  AllocationRequest,
  Holding,
  TransferFactory,
  TransferInstruction,
} from './interfaces.js';
export type {
  AllocateArgument,
  AllocationRequestView,
  AllocationResult,
  AllocationView,
  EndedResult,
  FactoryView,
  HoldingView,
  InstructionResult,
  RejectRequestArgument,
  TokenChoice,
  TransferArgument,
  TransferInstructionView,
  WithExtraArgs,
} from './interfaces.js';
export type {
  AllocationSpecification,
  ExtraArgs,
  HoldingLock,
  SettlementInfo,
  TokenMetadata,
  TokenTransfer,
  TransferLeg,
} from './values.js';

// Submissions with the context of a registry
export { tokenCommands } from './tokenCommands.js';
export type { TokenCommandOptions, TokenCommands, TokenSubmission, TransferRequest } from './tokenCommands.js';
export { holdingPicker } from './holdingPicker.js';
export type { HoldingPicker, HoldingPickerOptions, PickRequest } from './holdingPicker.js';
